"""Our own sparse encoder: words, identifiers whole and split, CJK in uni- and bigrams; no model, no language."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from dataclasses import dataclass

#: BM25's usual constants; the length is that of a usual memory in tokens, fixed so that vectors never go stale.
K1, B, USUAL_LENGTH = 1.2, 0.75, 30

#: An identifier keeps its inner punctuation: node-7, ERR_123, /var/log/app.log, 10.0.0.1, a@b.c, v1.2.3
_TOKEN = re.compile(r"[^\W_](?:[\w./:@#+\-]*[^\W_])?|_\w+")
_PIECE = re.compile(r"[^\W\d_]+|\d+")
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")

#: Words that name nothing: in a young memory, where every word is rare, they would count as much as a host name.
_STOP = frozenset(
    "a an and any are as at be been but by can could did do does for from had has have how i if in into is it its "  # noqa: SIM905 a page of quotes reads worse
    "me my no not of on or our please should so some than that the their them then there these they this to too "
    "us was we were what when where which who whose why will with would you your find cause show tell help "
    "because fix fixed verified".split()
)
_STOP_CJK = frozenset("的了是在我有和就不也吗呢吧请这那の")


@dataclass(frozen=True)
class Sparse:
    """A sparse vector; indices are unique and sorted."""

    indices: list[int]
    values: list[float]

    def __bool__(self) -> bool:
        """Return whether any word is left."""
        return bool(self.indices)


def document(text: str) -> Sparse:
    """Return the vector of a stored text: BM25's term frequencies (the engine adds idf)."""
    counts = Counter(tokens(text, query=False))
    length = sum(counts.values())
    norm = K1 * (1 - B + B * length / USUAL_LENGTH)
    return _vector({token: n * (K1 + 1) / (n + norm) for token, n in counts.items()})


def query(text: str) -> Sparse:
    """Return the vector of a question: each word once."""
    return _vector(dict.fromkeys(tokens(text, query=True), 1.0))


def share_script(one: str, other: str) -> bool:
    """Return whether two texts have letters of one script, so that words of one could be in the other."""
    first, second = _scripts(one), _scripts(other)
    return bool(first & second) or not first or not second


def _scripts(text: str) -> set[str]:
    return {
        "CJK" if _CJK.match(c) else unicodedata.name(c, "").split(" ")[0] for c in set(text) if c.isalpha()
    }


def tokens(text: str, *, query: bool) -> list[str]:
    """Return the tokens of a text; of CJK a question has bigrams only, unless the run is one character long."""
    found: list[str] = []
    for raw in _TOKEN.findall(unicodedata.normalize("NFKC", text)):
        position = 0
        for run in _CJK.finditer(raw):
            found += _identifier(raw[position : run.start()])
            found += _cjk(run[0], query=query)
            position = run.end()
        found += _identifier(raw[position:])
    return found


def _identifier(raw: str) -> list[str]:
    word = raw.strip("./:@#+-_").casefold()
    if not word or word in _STOP:
        return []
    spread = _CAMEL.sub(" ", raw)
    pieces = [piece.casefold() for piece in _PIECE.findall(spread)]
    parts = [p for p in pieces if p != word and p not in _STOP and (len(p) > 1 or p.isdigit())]
    return [_stem(word), *(_stem(part) for part in parts)]


def _cjk(run: str, *, query: bool) -> list[str]:
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    pairs = [pair for pair in pairs if not all(c in _STOP_CJK for c in pair)]
    if query and len(run) > 1:
        return pairs
    return [c for c in run if c not in _STOP_CJK] + pairs


def _stem(word: str) -> str:
    """Return an English word without its plural or verb ending; identifiers stay as they are."""
    if not word.isascii() or not word.isalpha():
        return word
    for ending, rest in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_LEFT and not word.endswith("ss"):
            return (word[: -len(ending)] + rest).rstrip("e")
    return word.rstrip("e") if len(word) > _STEM_LEFT else word


#: A stem keeps at least this many letters.
_STEM_LEFT = 3


def _vector(weights: dict[str, float]) -> Sparse:
    hashed: dict[int, float] = {}
    for token, weight in weights.items():
        index = zlib.crc32(token.encode("utf-8", "replace"))
        hashed[index] = max(weight, hashed.get(index, 0.0))
    order = sorted(hashed)
    return Sparse(indices=order, values=[hashed[index] for index in order])

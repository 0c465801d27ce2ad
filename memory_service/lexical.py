"""Our own sparse encoder: words, identifiers whole and split, CJK in uni- and bigrams; no model, no language."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

import snowballstemmer

from memory_service.learning import moments

#: Which words a text has: indexes and archive written by another version are written anew (spaces.renew_words,
#: archive.renew). Raise it with whatever changes the indices or values of a vector: a token, a stem, a stop word, a
#: date (`moments`), a constant below, and what is indexed of a memory (relay.point_of). 1 was told nowhere.
VERSION = 3

#: BM25's usual constants; the length is that of a usual memory in tokens, fixed so that vectors never go stale.
K1, B, USUAL_LENGTH = 1.2, 0.75, 30
#: What a word of the context counts beside one of the text. Measured on LoCoMo (docs/memory-recall.md): 0.35, 0.5,
#: 0.7 and 1 bring 0.841, 0.847, 0.853 and 0.844 of the evidence; left one conversation out, each fold chose 0.7.
CONTEXT_WEIGHT = 0.7

#: Vowel signs of Indic scripts are letters, though regular expressions take them for marks.
_INDIC = r"\u0900-\u0963\u0966-\u0dff"
#: An identifier keeps its inner punctuation: node-7, ERR_123, /var/log/app.log, 10.0.0.1, a@b.c, v1.2.3
_TOKEN = re.compile(rf"(?:[^\W_]|[{_INDIC}])(?:[\w./:@#+\-{_INDIC}]*(?:[^\W_]|[{_INDIC}]))?|_\w+")
_PIECE = re.compile(rf"(?:[^\W\d_]|[{_INDIC}])+|\d+")
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ISO_DATE = re.compile(r"\d{4}-[01]\d(?:-[0-3]\d)?")
#: `Caroline's`, `we'll`, `isn't`: what follows the apostrophe names nothing.
_CONTRACTION = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m))\b", re.IGNORECASE)
#: Accents of Latin, Greek and Cyrillic; points of Hebrew; harakat and kashida of Arabic. Not the marks of kana or of
#: Indic scripts, which are letters.
_POINTS = re.compile(r"[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]")
_ARABIC_FORMS = str.maketrans("ىةٱ", "يها")
_ARABIC_ARTICLE = re.compile(r"^(?:[وفبك]?ال|لل)(?=[\u0621-\u064a]{2})")
_NUMBERS = {
    name: str(number)
    for number, name in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)  # noqa: SIM905 as below
}
#: A stem keeps at least this many letters; so many words are stemmed once only.
_STEM_LEFT, _STEMS = 3, 50_000
_ENGLISH = snowballstemmer.stemmer("english")
_stemming = Lock()  # the stemmer works on a word of its own

#: Words that name nothing: in a young memory, where every word is rare, they would count as much as a host name.
_STOP = frozenset(
    "a an and any are as at be been but by can could did do does for from had has have how i if in into is it its "  # noqa: SIM905 a page of quotes reads worse
    "me my no not of on or our please should so some than that the their them then there these they this to too "
    "us was we were what when where which who whose why will with would you your find cause show tell help "
    "because fix fixed verified he him his she her hers".split()
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


def document(text: str, context: str = "") -> Sparse:
    """Return the vector of a stored text: BM25's term frequencies (the engine adds idf).

    Words of the context (neighbouring turns, resolved dates) are found too, at a lower weight.
    """
    counts: dict[str, float] = dict(Counter(tokens(text, query=False)))
    for token in tokens(context, query=False) if context else ():
        counts[token] = counts.get(token, 0.0) + CONTEXT_WEIGHT
    length = sum(counts.values())
    norm = K1 * (1 - B + B * length / USUAL_LENGTH)
    return _vector({token: n * (K1 + 1) / (n + norm) for token, n in counts.items()})


def indices(text: str) -> set[int]:
    """Return the indices alone of the vector of a stored text, at half of its cost."""
    return {_index(token) for token in tokens(text, query=False)}


def query(text: str) -> Sparse:
    """Return the vector of a question: each word once."""
    return _vector(dict.fromkeys(tokens(text, query=True), 1.0))


def share_script(one: str, other: str) -> bool:
    """Return whether two texts have letters of one script, so that words of one could be in the other."""
    first, second = _scripts(one), _scripts(other)
    return bool(first & second) or not first or not second


def _scripts(text: str) -> set[str]:
    if text.isascii():  # nearly every text: a hundredth of the time
        return {"LATIN"} if any(map(str.isalpha, text)) else set()
    return {
        "CJK" if _CJK.match(c) else unicodedata.name(c, "").split(" ")[0] for c in set(text) if c.isalpha()
    }


def tokens(text: str, *, query: bool) -> list[str]:
    """Return the tokens of a text; of CJK a question has bigrams only, unless the run is one character long.

    A date stands among them in one form whatever form it was told in (`moments.words`).
    """
    found: list[str] = []
    folded = fold(text)
    latin = folded.isascii()
    for raw in _TOKEN.findall(_CONTRACTION.sub("", folded)):
        if latin:
            found += _identifier(raw)
            continue
        position = 0
        for run in _CJK.finditer(raw):
            found += _identifier(raw[position : run.start()])
            found += _cjk(run[0], query=query)
            position = run.end()
        found += _identifier(raw[position:])
    return found + moments.words(folded)


def fold(text: str) -> str:
    """Return a text without what writers of its script leave out or vary: width, accents, vowel points, kashida."""
    wide = unicodedata.normalize("NFKC", text)
    if wide.isascii():
        return wide
    bare = _POINTS.sub("", unicodedata.normalize("NFD", wide))
    return unicodedata.normalize("NFC", bare).translate(_ARABIC_FORMS)


def _identifier(raw: str) -> list[str]:
    if raw.isascii() and raw.isalpha() and raw.islower():  # a plain word, as most are: nothing to take apart
        return [] if raw in _STOP else [_stem(raw)]
    word = raw.strip("./:@#+-_").casefold()
    if not word or word in _STOP:
        return []
    if _ISO_DATE.fullmatch(word):
        return [word[:4]]  # `moments.words` tells the rest; 05 and 08 alone say nothing
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


@lru_cache(maxsize=_STEMS)
def _stem(word: str) -> str:
    """Return a word without its ending, small numbers as digits; identifiers stay as they are."""
    if word in _NUMBERS:
        return _NUMBERS[word]
    if word.isascii():
        if not word.isalpha():
            return word
        with _stemming:
            return str(_ENGLISH.stemWord(word))
    bare = _ARABIC_ARTICLE.sub("", word)
    return bare if len(bare) >= _STEM_LEFT else word


def _index(token: str) -> int:
    return zlib.crc32(token.encode("utf-8", "replace"))


def _vector(weights: dict[str, float]) -> Sparse:
    hashed: dict[int, float] = {}
    for token, weight in weights.items():
        index = _index(token)
        hashed[index] = max(weight, hashed.get(index, 0.0))
    order = sorted(hashed)
    return Sparse(indices=order, values=[hashed[index] for index in order])

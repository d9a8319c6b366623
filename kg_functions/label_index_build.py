"""Writes the label index of a graph folder.

Records are spooled first, because the place of an entity in the order of equal matches is known
only when all of them have been seen; ``close`` then writes the documents.
"""

from __future__ import annotations

import shutil
import tempfile
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import orjson
import tantivy

from kg_functions.errors import GraphSetupError
from kg_functions.identifiers import check_entity, is_item, number
from kg_functions.label_index_layout import (
    KINDS,
    LAYOUT,
    META_FILE,
    NAME_LANGUAGES,
    file_sizes,
    languages_of,
    schema,
    scope,
)
from kg_functions.text_matching import name_tokens, normalise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

_HEAP_MIN: Final = 16 << 20
_HEAP_MAX: Final = 2 << 30
_PROGRESS_EVERY: Final = 1000


@dataclass(frozen=True)
class NameRecord:
    """The names of one entity, as the index takes them.

    Attributes:
        id: item or property id.
        labels: text by language code; languages that the graph does not store are left out.
        aliases: texts by language code.
        sitelinks: number of sitelinks, the first tie-breaker.
        in_degree: number of incoming truthy links, the second.
        datatype: of a property; None for an item.
    """

    id: str
    labels: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, list[str]] = field(default_factory=dict)
    sitelinks: int = 0
    in_degree: int = 0
    datatype: str | None = None


class LabelIndexWriter:
    """Collects the names of a graph and writes its label index.

    Args:
        path: the index folder; it must not exist, and appears whole when ``close`` returns.
        memory_bytes: what the index may use while it is written, besides about 100 an entity.
        progress: called with (entities written, entities in all) while ``close`` works.

    Used as a context manager it closes at the end, or leaves nothing behind after an error.

    Raises:
        GraphSetupError: the folder is there already.
    """

    def __init__(
        self,
        path: Path,
        memory_bytes: int = 256 << 20,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        if path.exists():
            raise GraphSetupError(f"{path} is there already; remove it or choose another folder.")
        self._path = path
        self._heap = min(max(memory_bytes, _HEAP_MIN), _HEAP_MAX)
        self._progress = progress or (lambda done, total: None)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._work = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
        self._spools = {kind: _Spool(self._work / f"{kind}.spool") for kind in KINDS}
        self._open = True

    def add(self, record: NameRecord) -> None:
        """Take one entity. Of two records with one id the first counts.

        Raises:
            InvalidIdentifier: the record's id is not one.
        """
        check_entity(record.id)
        self._spools["item" if is_item(record.id) else "property"].add(record)

    def close(self) -> None:
        """Write the index under its final name; a second call does nothing."""
        if not self._open:
            return
        self._open = False
        try:
            self._write()
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise GraphSetupError(
                f"The label index {self._path} was not written: {reason}"
            ) from error
        finally:
            shutil.rmtree(self._work, ignore_errors=True)

    def abort(self) -> None:
        """Remove everything written so far."""
        self._open = False
        for spool in self._spools.values():
            spool.file.close()
        shutil.rmtree(self._work, ignore_errors=True)

    def _write(self) -> None:
        total = sum(len(spool) for spool in self._spools.values())
        result = self._work / "index"
        done = 0
        for kind, spool in self._spools.items():
            folder = result / kind
            folder.mkdir(parents=True)
            for _ in _write_side(folder, spool, self._heap):
                done += 1
                if done % _PROGRESS_EVERY == 0 or done == total:
                    self._progress(done, total)
            spool.file.close()
        meta = {"layout": LAYOUT, "files": file_sizes(result)}
        (result / META_FILE).write_bytes(orjson.dumps(meta, option=orjson.OPT_INDENT_2))
        for file in result.glob("*/*"):
            if file.suffix == ".lock":
                file.unlink()
            else:  # tantivy lets nobody but the owner read some of them
                shutil.copymode(result / META_FILE, file)
        result.rename(self._path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()


class _Spool:
    """The records of one kind on disk, with what their order depends on in memory."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("w+b", buffering=1 << 20)
        self._ids = array("Q")
        self._sitelinks = array("I")
        self._in_degrees = array("Q")

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, record: NameRecord) -> None:
        stored = {
            "id": record.id,
            "datatype": record.datatype,
            "label": _names((code, [text]) for code, text in record.labels.items()),
            "alias": _names(record.aliases.items()),
        }
        self.file.write(orjson.dumps(stored) + b"\n")
        self._ids.append(number(record.id))
        self._sitelinks.append(record.sitelinks)
        self._in_degrees.append(record.in_degree)

    def places(self) -> NDArray[np.int64]:
        """The place of each record in the order of equal matches; -1 where its id came before."""
        ids = np.frombuffer(self._ids, np.uint64)
        first = np.zeros(len(ids), bool)
        first[np.unique(ids, return_index=True)[1]] = True
        in_degrees = np.frombuffer(self._in_degrees, np.uint64).astype(np.int64)
        sitelinks = np.frombuffer(self._sitelinks, np.uint32).astype(np.int64)
        order = np.lexsort((ids, -in_degrees, -sitelinks))
        places = np.full(len(ids), -1)
        places[order[first[order]]] = np.arange(np.count_nonzero(first))
        return places


def _names(names: Iterable[tuple[str, Sequence[str]]]) -> list[tuple[str, str, str]]:
    """The names that can be found: in order of language, then text, with their normal forms."""
    found = {
        (NAME_LANGUAGES.index(code), text): (code, text, normalise(text))
        for code, texts in names
        if code in NAME_LANGUAGES
        for text in texts
    }
    return [found[place] for place in sorted(found) if found[place][2]]


def _write_side(folder: Path, spool: _Spool, heap: int) -> Iterator[None]:
    """Write the documents of one kind; yields after each record."""
    fields = schema()
    # Several threads would leave several segments, and each is searched on its own.
    writer = tantivy.Index(fields, path=str(folder)).writer(heap_size=heap, num_threads=1)
    spool.file.seek(0)
    for place, line in zip(spool.places(), spool.file, strict=True):
        if place >= 0:
            for document in _documents(orjson.loads(line), line, int(place)):
                writer.add_document(tantivy.Document.from_dict(document, fields))
        yield
    writer.commit()
    writer.wait_merging_threads()


def _documents(record: dict[str, Any], line: bytes, place: int) -> Iterator[dict[str, Any]]:
    """The documents of one entity: one for each name of several words, then its own."""
    fields: dict[str, Any] = {"order": place, "record": line}
    for matched in ("label", "alias"):
        keys: list[str] = []
        words_of_all: set[str] = set()
        for key, scopes in _scopes_by_key(record[matched]).items():
            tokens = name_tokens(key)
            words = [before + token for before in scopes for token in tokens]
            words_of_all.update(words)
            keys += [before + key for before in scopes]
            if len(tokens) > 1:
                name = {"name_order": place, f"one_{matched}_words": words}
                yield name
        fields[matched] = keys
        fields[f"{matched}_words"] = list(words_of_all)
    yield fields


def _scopes_by_key(names: list[list[str]]) -> dict[str, set[str]]:
    """For each normal form the scopes it is found in: all languages, and each of its own."""
    scopes: dict[str, set[str]] = {}
    for code, _, key in names:
        found = scopes.setdefault(key, {scope(None)})
        found.update(map(scope, languages_of(code)))
    return scopes

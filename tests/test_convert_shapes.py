"""Whatever a document holds, it is converted to well-formed triples or refused as a whole."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_functions.build.chunks import Chunk, Format
from kg_functions.build.staging import Stage
from tests.support.data import shared_data

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.sampled_from(
        ["Q5", "P31", "value", "somevalue", "time", "+1986-00-00T00:00:00Z", "1", "\n"]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2)
    ),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """A real item with 13 statements or so: few enough that most of it is hit."""
    path = shared_data("wikidata", "pairs", "Q182397.json.gz")
    item = json.loads(gzip.decompress(path.read_bytes()))["entities"]["Q182397"]
    kept = ("P31", "P569", "P18", "P1559", "P1971", "P443", "P345", "P551")
    claims = {name: item["claims"][name][:2] for name in kept if name in item["claims"]}
    short = {key: dict(list(item[key].items())[:2]) for key in ("labels", "aliases", "sitelinks")}
    return item | short | {"claims": claims, "descriptions": {}}


def paths(value: Any) -> list[tuple[Any, ...]]:
    """The place of every value inside a JSON value."""
    found: list[tuple[Any, ...]] = []
    inner: Any = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        inner = enumerate(value)
    for key, part in inner:
        found.append((key,))
        found += ((key, *path) for path in paths(part))
    return found


def replaced(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    result = copy.deepcopy(document)
    parent: Any = result
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    return result


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_part_may_be_anything(data: st.DataObject, document: dict[str, Any]) -> None:
    changed = document
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(paths(changed)))
        changed = replaced(changed, path, data.draw(VALUES))
    lines = orjson.dumps(changed) + b"\n" + orjson.dumps(document)
    with TemporaryDirectory() as folder:
        stage = Stage(Path(folder), "0", {})
        result = stage.convert(Chunk("a.json", 0, 1, lines, Format.JSON))
        stage.close()
    # The second document is there in any case, and the first one or a word about it.
    assert b"<http://www.wikidata.org/entity/Q182397> <" in result.triples
    assert result.entities + len(result.problems) >= 2
    parsed = list(ox.parse(result.triples, ox.RdfFormat.N_TRIPLES, lenient=True))
    assert len(parsed) == result.triples.count(b"\n")

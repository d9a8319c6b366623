"""The label index finds what a plain search over all names finds, in the same order."""

from __future__ import annotations

import gzip
import json
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_functions.errors import GraphSetupError, InvalidArgument
from kg_functions.label_index import LabelIndex, NameHit
from kg_functions.label_index_build import NameRecord
from kg_functions.label_index_layout import META_FILE
from kg_functions.text_matching import normalise
from tests.support import plain_names
from tests.support.data import shared_data
from tests.support.name_samples import CODES, GAPS, WORDS, build, disagreements

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.name_samples import Query

_texts = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), min_size=1, max_size=4)
texts = _texts.map(lambda parts: "".join(word + gap for word, gap in parts))
records = st.builds(
    NameRecord,
    id=st.builds("{}{}".format, st.sampled_from("QQP"), st.integers(1, 40)),
    labels=st.dictionaries(st.sampled_from(CODES), texts, max_size=4),
    aliases=st.dictionaries(st.sampled_from(CODES), st.lists(texts, max_size=3), max_size=3),
    sitelinks=st.integers(0, 2),
    in_degree=st.sampled_from([0, 1, 5_000_000_000]),
)
queries = st.tuples(
    st.one_of(
        texts, st.sampled_from(WORDS), texts.map(lambda text: text[: max(1, len(text) // 2)])
    ),
    st.sampled_from(["item", "property"]),
    st.sampled_from([None, None, None, "en", "de", "zh", "zh-tw", "ar", "ru", "mul"]),
)


@settings(max_examples=35, deadline=None)
@given(
    st.lists(records, max_size=14, unique_by=lambda record: record.id),
    st.lists(queries, min_size=1, max_size=12),
    st.integers(1, 4),
)
def test_total_order_and_pages_are_those_of_a_plain_search(
    names: list[NameRecord], asked: list[Query], size: int
) -> None:
    with TemporaryDirectory() as folder:
        assert disagreements(Path(folder), names, asked, size) == []


def test_names_of_real_items(tmp_path: Path) -> None:
    """200 complete items with all their names; queries are parts of those names."""
    names = []
    with gzip.open(shared_data("wikidata", "rich.jsonl.gz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            item = json.loads(line)
            names.append(
                NameRecord(
                    id=item["id"],
                    labels={code: label["value"] for code, label in item["labels"].items()},
                    aliases={
                        code: [alias["value"] for alias in aliases]
                        for code, aliases in (item["aliases"] or {}).items()
                    },
                    sitelinks=len(item["sitelinks"]),
                )
            )
    rng = random.Random(5)
    asked: list[Query] = []
    for record in rng.sample(names, 25):
        for code in rng.sample(plain_names.ORDER, 4):
            text = record.labels.get(code)
            if text:
                words = text.split()
                start = " ".join(words[:2])
                asked += [
                    (text, "item", None),
                    (" ".join(reversed(words)), "item", code),
                    (start[: max(1, len(start) - 2)], "item", None),
                    (text[:1], "item", "zh"),
                ]
    assert len(asked) > 100
    assert disagreements(tmp_path, names, asked[:40], size=100) == []


def test_large_results_are_whole(tmp_path: Path) -> None:
    """More matches, and more words with one prefix, than are listed at a time."""
    names = [
        NameRecord(
            id=f"Q{number}",
            labels={"en": f"wordy{number} common"},
            aliases={"de": [f"common wordy{number % 300}"]},
            sitelinks=number % 7,
        )
        for number in range(1, 700)
    ]
    asked: list[Query] = [
        (text, "item", language)
        for text in ("wordy", "wordy1", "wor", "w", "common wo", "wordy12 c", "common")
        for language in (None, "de")
    ]
    assert disagreements(tmp_path, names, asked, size=150) == []


@pytest.fixture
def index(tmp_path: Path) -> LabelIndex:
    return build(
        tmp_path,
        [
            NameRecord("Q64", {"en": "Berlin", "zh-tw": "柏林"}, {"fr": ["Berlin-Ouest"]}, 300),
            NameRecord("Q1", {"de": "Berlin"}, {}, 1),
            NameRecord("P31", {"en": "instance of"}, {"en": ["is a"]}, datatype="wikibase-item"),
        ],
    )


def test_a_hit_says_how_it_was_found(index: LabelIndex) -> None:
    page = index.search("BERLIN", kind="item", limit=1, offset=0)
    assert page.total == 2
    assert page.hits == [NameHit("Q64", "label", "Berlin", "en")]
    assert index.search("ouest", kind="item", limit=5, offset=0).hits == [
        NameHit("Q64", "alias", "Berlin-Ouest", "fr")
    ]
    assert index.search("柏林", kind="item", limit=5, offset=0, language="zh").hits == [
        NameHit("Q64", "label", "柏林", "zh-tw")
    ]
    assert index.search("is a", kind="property", limit=5, offset=0).hits == [
        NameHit("P31", "alias", "is a", "en", "wikibase-item")
    ]


@pytest.mark.parametrize("text", ["", "   ", "...", "-–—'\"", "\u0301", "nowhere", "berlin x"])
def test_nothing_found_is_no_error(index: LabelIndex, text: str) -> None:
    page = index.search(text, kind="item", limit=20, offset=0)
    assert (page.total, page.hits) == (0, [])


def test_a_search_text_may_hold_anything(index: LabelIndex) -> None:
    for text in (
        "berlin\ud800",
        "\x00berlin\x1f",
        "ber\x1flin" * 2000,
        "x" * 100_000,
        "b" + "\u0301" * 99,
    ):
        page = index.search(text, kind="item", limit=20, offset=0)
        assert (
            page.total
            == len(page.hits)
            == (2 if normalise("berlin").startswith(normalise(text)) else 0)
        )


def test_threads_share_an_index(index: LabelIndex) -> None:
    texts = ["berlin", "b", "berlin ouest", "柏", "nowhere"] * 40
    with ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(lambda text: index.search(text, kind="item", limit=5, offset=0), texts)
        )
    assert found[:5] * 40 == found
    assert [page.total for page in found[:5]] == [2, 2, 1, 1, 0]


def test_the_total_needs_no_page(index: LabelIndex) -> None:
    for text in ("berlin", "berlin ou"):
        total = index.search(text, kind="item", limit=20, offset=0).total
        assert index.search(text, kind="item", limit=0, offset=0).total == total > 0
        beyond = index.search(text, kind="item", limit=20, offset=99)
        assert (beyond.total, beyond.hits) == (total, [])


def test_bad_arguments_are_refused(index: LabelIndex) -> None:
    with pytest.raises(InvalidArgument, match="'it' is not a language"):
        index.search("x", kind="item", limit=1, offset=0, language="it")
    with pytest.raises(InvalidArgument, match="0 or more"):
        index.search("x", kind="item", limit=-1, offset=0)


def test_opening_and_searching_writes_nothing(index: LabelIndex, tmp_path: Path) -> None:
    folder = tmp_path / "labels"
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert not [path for path in before if path.suffix == ".lock"]
    again = LabelIndex.open(folder)
    assert again.search("berlin", kind="item", limit=1, offset=0).total == 2
    again.close()
    again.close()
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def _remove_meta(folder: Path) -> None:
    (folder / META_FILE).unlink()


def _other_layout(folder: Path) -> None:
    meta = json.loads((folder / META_FILE).read_text())
    (folder / META_FILE).write_text(json.dumps({**meta, "layout": 999}))


def _cut_meta(folder: Path) -> None:
    (folder / META_FILE).write_text('{"layout"')


def _cut_data(folder: Path) -> None:
    file = next((folder / "item").glob("*.store"))
    file.write_bytes(file.read_bytes()[:-10])


def _remove_data(folder: Path) -> None:
    next((folder / "item").glob("*.term")).unlink()


def _remove_kind(folder: Path) -> None:
    for file in (folder / "property").iterdir():
        file.unlink()
    (folder / "property").rmdir()


def _not_an_index(folder: Path) -> None:
    file = folder / "item" / "meta.json"
    file.write_bytes(b"x" * file.stat().st_size)


@pytest.mark.parametrize(
    "damage",
    [_remove_meta, _other_layout, _cut_meta, _cut_data, _remove_data, _remove_kind, _not_an_index],
)
def test_a_damaged_folder_is_one_clear_line(
    index: LabelIndex, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    index.close()
    damage(tmp_path / "labels")
    with pytest.raises(GraphSetupError) as caught:
        LabelIndex.open(tmp_path / "labels")
    message = str(caught.value)
    assert "\n" not in message
    assert str(tmp_path / "labels") in message
    assert "build the graph again" in message

"""A label index appears whole or not at all."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

from kg_functions.errors import GraphSetupError, InvalidIdentifier
from kg_functions.label_index import LabelIndex, NameHit
from kg_functions.label_index_build import LabelIndexWriter, NameRecord
from kg_functions.label_index_layout import META_FILE, file_sizes
from tests.support.name_samples import build

if TYPE_CHECKING:
    from pathlib import Path

BERLIN = NameRecord("Q64", {"en": "Berlin"})


def find(index: LabelIndex, text: str) -> list[NameHit]:
    return index.search(text, kind="item", limit=20, offset=0).hits


def test_nothing_appears_before_close(tmp_path: Path) -> None:
    writer = LabelIndexWriter(tmp_path / "labels")
    writer.add(BERLIN)
    assert not (tmp_path / "labels").exists()
    writer.close()
    writer.close()
    assert [left.name for left in tmp_path.iterdir()] == ["labels"]
    assert find(LabelIndex.open(tmp_path / "labels"), "berlin")


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), LabelIndexWriter(tmp_path / "labels") as writer:
        writer.add(BERLIN)
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_writing_leaves_nothing(tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    writer = LabelIndexWriter(tmp_path / "labels", progress=interrupt)
    writer.add(BERLIN)
    with pytest.raises(KeyboardInterrupt):
        writer.close()
    assert list(tmp_path.iterdir()) == []


def test_what_the_index_cannot_write_is_one_line(tmp_path: Path) -> None:
    writer = LabelIndexWriter(tmp_path / "labels")
    writer.add(BERLIN)
    (tmp_path / "labels").write_text("in the way")
    with pytest.raises(GraphSetupError, match="was not written") as caught:
        writer.close()
    assert "\n" not in str(caught.value)
    assert [left.name for left in tmp_path.iterdir()] == ["labels"]


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    with pytest.raises(GraphSetupError, match="there already"):
        LabelIndexWriter(tmp_path / "labels")
    assert list((tmp_path / "labels").iterdir()) == []


def test_progress_ends_with_everything(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    with LabelIndexWriter(tmp_path / "labels", progress=lambda *call: calls.append(call)) as writer:
        for number in range(1, 1500):
            writer.add(NameRecord(f"{'QP'[number % 2]}{number}", {"en": "x"}))
    assert calls == [(1000, 1499), (1499, 1499)]


def test_the_first_record_of_an_id_counts(tmp_path: Path) -> None:
    records = [
        BERLIN,
        NameRecord("Q64", {"en": "Bonn"}, sitelinks=9),
        NameRecord("Q1", {"en": "B"}),
    ]
    index = build(tmp_path, records)
    assert find(index, "bonn") == []
    assert [hit.id for hit in find(index, "b")] == ["Q1", "Q64"]


def test_other_languages_are_left_out(tmp_path: Path) -> None:
    index = build(tmp_path, [NameRecord("Q64", {"it": "Berlino", "en": "Berlin"}, {"it": ["B"]})])
    assert find(index, "berlino") == []
    assert find(index, "ber") == [NameHit("Q64", "label", "Berlin", "en")]


def test_items_and_properties_are_apart(tmp_path: Path) -> None:
    index = build(tmp_path, [NameRecord("P1", {"en": "berlin"}), BERLIN])
    assert [hit.id for hit in find(index, "berlin")] == ["Q64"]
    page = index.search("berlin", kind="property", limit=5, offset=0)
    assert [hit.id for hit in page.hits] == ["P1"]


def test_an_empty_index_finds_nothing(tmp_path: Path) -> None:
    assert find(build(tmp_path, []), "berlin") == []


def test_a_record_that_is_no_entity_is_refused(tmp_path: Path) -> None:
    with LabelIndexWriter(tmp_path / "labels") as writer:
        with pytest.raises(InvalidIdentifier):
            writer.add(NameRecord("L7", {"en": "x"}))
        writer.add(BERLIN)
    assert find(LabelIndex.open(tmp_path / "labels"), "berlin")


def test_everyone_may_read_what_the_folder_holds(tmp_path: Path) -> None:
    build(tmp_path, [BERLIN])
    meta = tmp_path / "labels" / META_FILE
    modes = {stat.S_IMODE(file.stat().st_mode) for file in meta.parent.glob("*/*")}
    assert modes == {stat.S_IMODE(meta.stat().st_mode)}
    assert json.loads(meta.read_text())["files"] == file_sizes(meta.parent)

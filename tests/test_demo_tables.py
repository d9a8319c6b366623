"""The tables of the demo graph: they parse, hold together, and tell where a row is wrong."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_functions.demo.rows import Names, Row, TableError
from kg_functions.demo.tables import (
    FIRST_OWN_NUMBER,
    ITEM_COLUMNS,
    PROPERTY_COLUMNS,
    REDIRECT_COLUMNS,
    STATEMENT_COLUMNS,
    Entity,
    json_lines,
    read_tables,
)
from kg_functions.demo.values import snak
from kg_functions.identifiers import number
from kg_functions.languages import LANGUAGES
from tests.support.data import ROOT
from tests.support.demo_tables import mentioned, snaks, statements

HANG_SECONDS = 120


@pytest.fixture(scope="module")
def entities() -> dict[str, Entity]:
    return {entity["id"]: entity for entity in read_tables()}


def test_counts(entities: dict[str, Entity]) -> None:
    items = [entity for entity in entities.values() if entity["type"] == "item"]
    assert len(items) >= 300
    assert sum(len(statements(item)) for item in items) >= 3000


def test_every_id_that_is_used_is_defined(entities: dict[str, Entity]) -> None:
    used = {
        identifier
        for entity in entities.values()
        for statement in statements(entity)
        for snak in snaks(statement)
        for identifier in mentioned(snak)
    }
    assert used <= set(entities)
    assert {identifier for identifier in entities if identifier.startswith("P")} <= used


def test_nearly_every_item_has_its_name_in_six_languages(entities: dict[str, Entity]) -> None:
    items = [entity for entity in entities.values() if entity["type"] == "item"]
    for language in LANGUAGES:
        named = sum(language in item["labels"] for item in items)
        assert named > 0.9 * len(items), language
    for item in items:
        assert item["descriptions"].get("en") or not item["labels"], item["id"]


def test_statement_ids_are_ours_and_unique(entities: dict[str, Entity]) -> None:
    ids = Counter(
        statement["id"] for entity in entities.values() for statement in statements(entity)
    )
    assert max(ids.values()) == 1
    for entity in entities.values():
        for statement in statements(entity):
            assert re.fullmatch(rf"{entity['id']}\$demo-[0-9]{{4}}", statement["id"])


def test_no_statement_stands_twice(entities: dict[str, Entity]) -> None:
    for entity in entities.values():
        seen = Counter(
            repr({key: part for key, part in statement.items() if key != "id"})
            for statement in statements(entity)
        )
        assert not [text for text, count in seen.items() if count > 1], entity["id"]


def test_only_redirected_ids_are_made_up(entities: dict[str, Entity]) -> None:
    assert max(number(identifier) for identifier in entities) < FIRST_OWN_NUMBER
    sources = [entity["redirects"]["from"] for entity in entities.values() if "redirects" in entity]
    assert sources
    assert all(number(source) >= FIRST_OWN_NUMBER for source in sources)


def test_the_json_has_the_same_bytes_in_every_process() -> None:
    program = (
        "import hashlib; from kg_functions.demo.tables import *;"
        "print(hashlib.sha256(''.join(json_lines(read_tables())).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
            timeout=HANG_SECONDS,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    here = hashlib.sha256("".join(json_lines(read_tables())).encode()).hexdigest()
    assert digests == {here}


ITEM = "Q1\tOne\n"
PROPERTY = "P1\twikibase-item\tlink\nP2\ttime\tday\nP3\tquantity\tsize\nP4\tglobe-coordinate\tat\n"


def small_tables(
    folder: Path, *, items: str = ITEM, properties: str = PROPERTY, rows: str = "", merged: str = ""
) -> Path:
    for name, columns, text in (
        ("properties.tsv", PROPERTY_COLUMNS, properties),
        ("items/some.tsv", ITEM_COLUMNS, items),
        ("statements/some.tsv", STATEMENT_COLUMNS, rows),
        ("redirects.tsv", REDIRECT_COLUMNS, merged),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# a comment\n" + "\t".join(columns) + "\n" + text, encoding="utf-8")
    return folder


def test_the_small_tables_are_right(tmp_path: Path) -> None:
    row = "Q1 (One)\tP3 (size)\t12 ±0.5 Q1 (One)\t\tP1: Q1 | P2: 1870s\tP1: Q1 || P2: 1 BCE\n"
    one = read_tables(small_tables(tmp_path, rows=row, merged="Q2\tQ1"))[-1]
    assert one["redirects"] == {"from": "Q2", "to": "Q1"}
    statement = one["claims"]["P3"][0]
    assert statement["mainsnak"]["datavalue"]["value"] == {
        "amount": "+12",
        "unit": "http://www.wikidata.org/entity/Q1",
        "upperBound": "+12.5",
        "lowerBound": "+11.5",
    }
    assert statement["qualifiers-order"] == ["P1", "P2"]
    assert [reference["snaks-order"] for reference in statement["references"]] == [["P1"], ["P2"]]


@pytest.mark.parametrize(
    ("table", "text", "message"),
    [
        ("rows", "Q1\tP1\tQ7", "some.tsv:3: Q7 is not defined"),
        ("rows", "\nQ1 (Two)\tP1\tQ1", "some.tsv:4: Q1 is 'One', not 'Two'"),
        ("rows", "Q1\tP1\tP1", "some.tsv:3: P1 is no item"),
        ("rows", "Q1\tQ1\tQ1", "some.tsv:3: Q1 is no property"),
        ("rows", "Q1\tP1", "some.tsv:3: the value is blank"),
        ("rows", "Q1\tP1\tQ1\tbest", "some.tsv:3: 'best' is no rank"),
        ("rows", "Q1\tP1\tQ1\t\tP1 Q1", "some.tsv:3: 'P1 Q1' is not of the form"),
        ("rows", "Q1\tP1\tQ1\t\t\t\textra", "some.tsv:3: 7 cells, but only 6 columns"),
        ("rows", "Q1\tP2\t1870-13-01", "some.tsv:3: '1870-13-01' is no date"),
        ("rows", "Q1\tP2\tsoon", "some.tsv:3: 'soon' is not a date"),
        ("rows", "Q1\tP3\t12 kg", "some.tsv:3: '12 kg' is not a quantity"),
        ("rows", "Q1\tP3\t12 [13, 14]", "some.tsv:3: 12 does not lie between 13 and 14"),
        ("rows", "Q1\tP3\t1.2.3", "some.tsv:3: '1.2.3' is not a number"),
        ("rows", "Q1\tP4\t91.0, 0.0", "some.tsv:3: '91.0, 0.0' lies outside the globe"),
        ("items", "Q1\tOne\nQ1\tTwo", "some.tsv:4: Q1 is defined twice"),
        ("items", "P1\tOne", "some.tsv:3: 'P1' is not an item id"),
        ("items", "Q1\t=", "some.tsv:3: = repeats the English label"),
        ("items", "Q1\tOne" + "\t" * 7 + "alias xx: Uno", "some.tsv:3: 'alias xx: Uno' is not"),
        ("items", "Q1\tOne" + "\t" * 7 + "label en: Uno", "some.tsv:3: a second label in 'en'"),
        ("items", "Q1\tOne" + "\t" * 7 + "wikipedia de", "some.tsv:3: no label in 'de'"),
        ("properties", "P1\tnumber\tlink", "properties.tsv:3: 'number' is no datatype"),
        ("properties", "P1\ttime", "properties.tsv:3: P1 needs an English label"),
        ("merged", "Q1\tQ1", "redirects.tsv:3: 'Q1' is not the id of a merged item"),
        ("merged", "Q2\tQ1\nQ3\tQ1", "redirects.tsv:4: Q1 is already the target"),
    ],
)
def test_a_bad_row_is_named_by_its_line(
    tmp_path: Path, table: str, text: str, message: str
) -> None:
    folder = small_tables(tmp_path, **{table: text})
    with pytest.raises(TableError, match=re.escape(message)):
        read_tables(folder)


def test_a_wrong_header_is_named(tmp_path: Path) -> None:
    folder = small_tables(tmp_path)
    (folder / "redirects.tsv").write_text("old\tnew\n")
    with pytest.raises(TableError, match=r"redirects\.tsv:1: the header must be"):
        read_tables(folder)
    (folder / "redirects.tsv").write_bytes(b"\xff\n")
    with pytest.raises(TableError, match=r"redirects\.tsv: not UTF-8"):
        read_tables(folder)


@given(
    year=st.integers(1, 9999),
    month=st.integers(1, 12),
    day=st.integers(1, 28),
    parts=st.integers(1, 3),
    before_christ=st.booleans(),
    julian=st.booleans(),
)
def test_dates_are_read_as_written(
    year: int, month: int, day: int, parts: int, before_christ: bool, julian: bool
) -> None:
    text = "-".join((str(year), f"{month:02d}", f"{day:02d}")[:parts])
    text += " BCE" * before_christ + " julian" * julian
    value = snak("P1", "time", text, Names(), Row("here", {}))["datavalue"]["value"]
    shown = "-".join((f"{year:04d}", f"{month:02d}", f"{day:02d}")[:parts])
    sign = "-" if before_christ else "+"
    assert value["time"] == f"{sign}{shown}{'-00' * (3 - parts)}T00:00:00Z"
    assert value["precision"] == 8 + parts
    assert value["calendarmodel"].endswith("Q1985786" if julian else "Q1985727")

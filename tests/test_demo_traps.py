"""Every data trap (field notes B46 to B55) stands in the demo graph, so tests need no other one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from kg_functions.demo.tables import Entity, read_tables
from kg_functions.languages import MUL, ZH_VARIANTS
from tests.support.demo_tables import statements

JULIAN = "http://www.wikidata.org/entity/Q1985786"


@pytest.fixture(scope="module")
def entities() -> dict[str, Entity]:
    return {entity["id"]: entity for entity in read_tables()}


def values(
    entities: dict[str, Entity], item: str, property: str, rank: str = "normal"
) -> list[Any]:
    return [
        statement["mainsnak"].get("datavalue", {}).get("value", statement["mainsnak"]["snaktype"])
        for statement in statements(entities[item], property)
        if statement["rank"] == rank
    ]


def time_of(entities: dict[str, Entity], item: str, property: str) -> tuple[str, int, bool]:
    (value,) = values(entities, item, property)
    return (
        value["time"].removesuffix("T00:00:00Z"),
        value["precision"],
        value["calendarmodel"] == JULIAN,
    )


def test_unknown_and_no_value(entities: dict[str, Entity]) -> None:
    assert values(entities, "Q83428", "P25") == ["somevalue"]
    (employer,) = statements(entities["Q11753"], "P108")
    assert employer["qualifiers"]["P580"][0]["snaktype"] == "somevalue"
    assert values(entities, "Q9312", "P26") == ["novalue"]
    assert values(entities, "Q9312", "P40") == ["novalue"]
    assert values(entities, "Q6396", "P201") == ["novalue"]


def test_ranks(entities: dict[str, Entity]) -> None:
    def ranks(item: str, property: str) -> set[str]:
        return {statement["rank"] for statement in statements(entities[item], property)}

    assert ranks("Q1741", "P1082") == {"preferred", "normal"}
    assert ranks("Q584", "P2043") == {"preferred", "deprecated"}
    assert ranks("Q64", "P1082") == {"preferred", "normal", "deprecated"}
    assert ranks("Q1720", "P138") == {"deprecated"}
    for entity in entities.values():
        dated = {
            statement["rank"]: statement["qualifiers"]["P585"][0]["datavalue"]["value"]["time"]
            for statement in sorted(
                statements(entity, "P1082"),
                key=lambda one: one["qualifiers"]["P585"][0]["datavalue"]["value"]["time"],
            )
        }
        assert dated.get("preferred", "") >= dated.get("normal", ""), entity["id"]


@pytest.mark.parametrize(
    ("item", "property", "expected"),
    [
        ("Q3138", "P571", ("-0016-00-00", 9, False)),
        ("Q1048", "P570", ("-0044-03-15", 11, True)),
        ("Q8963", "P569", ("+1571-12-27", 11, True)),
        ("Q31519", "P571", ("+1348-04-07", 11, True)),
        ("Q937", "P569", ("+1879-03-14", 11, False)),
        ("Q309988", "P571", ("+2009-10-00", 10, False)),
        ("Q8413", "P569", ("+0270-00-00", 8, False)),
        ("Q193369", "P571", ("+0900-00-00", 7, False)),
        ("Q397", "P1249", ("-1000-00-00", 6, False)),
    ],
)
def test_dates(
    entities: dict[str, Entity], item: str, property: str, expected: tuple[str, int, bool]
) -> None:
    assert time_of(entities, item, property) == expected


def test_units_and_bounds(entities: dict[str, Entity]) -> None:
    assert values(entities, "Q1653", "P2043") == [
        {
            "amount": "+2850",
            "unit": "http://www.wikidata.org/entity/Q828224",
            "upperBound": "+2888",
            "lowerBound": "+2811",
        }
    ]
    (mass,) = values(entities, "Q716", "P2067")
    assert (mass["lowerBound"], mass["amount"], mass["upperBound"]) == (
        "+47.866",
        "+47.867",
        "+47.868",
    )
    assert values(entities, "Q716", "P1086") == [{"amount": "+22", "unit": "1"}]


def test_labels(entities: dict[str, Entity]) -> None:
    for item in ("Q61761", "Q61201", "Q11528"):
        assert set(entities[item]["labels"]) == {MUL}
    for item in ("Q9215", "Q9235", "Q34713"):
        labels = set(entities[item]["labels"])
        assert "zh" not in labels
        assert labels & set(ZH_VARIANTS)
    assert entities["Q83062"]["labels"] == {}
    names: dict[str, set[str]] = {}
    for entity in entities.values():
        if entity["type"] == "item" and "en" in entity["labels"]:
            texts = [entity["labels"]["en"], *entity["aliases"].get("en", [])]
            for text in texts:
                names.setdefault(text["value"], set()).add(entity["id"])
    assert names["Salzburg"] == {"Q34713", "Q43325"}
    assert names["Luxembourg"] == {"Q32", "Q1842"}
    assert names["Paracelsus"] == {"Q83428", "Q3363149"}
    assert names["Frankfurt"] == {"Q1794", "Q4024"}


def test_hubs(entities: dict[str, Entity]) -> None:
    incoming = Counter(
        statement["mainsnak"]["datavalue"]["value"]["id"]
        for entity in entities.values()
        for statement in statements(entity)
        if statement["mainsnak"]["datatype"] == "wikibase-item"
        and statement["mainsnak"]["snaktype"] == "value"
    )
    assert min(incoming[hub] for hub in ("Q188", "Q183", "Q5")) > 200


def test_datatypes_references_and_sitelinks(entities: dict[str, Entity]) -> None:
    assert values(entities, "Q3363149", "P625")[0]["globe"].endswith("/Q405")
    assert values(entities, "Q5", "P1963")[0]["entity-type"] == "property"
    assert {value["language"] for value in values(entities, "Q39", "P1448")} == {
        "de",
        "fr",
        "it",
        "la",
    }
    assert values(entities, "Q183", "P297") == ["DE"]
    assert values(entities, "Q152838", "P856") == ["https://www.uni-goettingen.de/"]
    assert values(entities, "Q58978", "P18") == ["Max Born.jpg"]
    assert values(entities, "Q39369", "P2534")
    (born,) = statements(entities["Q937"], "P569")
    assert len(born["references"]) == 2
    assert all(len(reference["snaks"]) >= 2 for reference in born["references"])
    assert len([v for v in values(entities, "Q84296", "P108") if v["id"] == "Q622683"]) == 2
    (doctorate,) = [
        one for one in statements(entities["Q40904"], "P69") if "P184" in one["qualifiers"]
    ]
    assert {"P582", "P512", "P184"} <= set(doctorate["qualifiers"])
    assert entities["Q8963"]["sitelinks"]["ruwiki"]["title"] == "Кеплер, Иоганн"
    assert entities["Q183"]["aliases"]["de"]

"""Reading the demo graph's entity JSON in tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg_functions.demo.tables import Entity


def statements(entity: Entity, property: str | None = None) -> list[dict[str, Any]]:
    claims = entity["claims"]
    groups = claims.values() if property is None else [claims.get(property, [])]
    return [statement for group in groups for statement in group]


def snaks(statement: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield statement["mainsnak"]
    for group in statement.get("qualifiers", {}).values():
        yield from group
    for reference in statement.get("references", []):
        for group in reference["snaks"].values():
            yield from group


def mentioned(snak: dict[str, Any]) -> Iterator[str]:
    """The ids that a snak mentions: its property, value, unit and globe."""
    yield snak["property"]
    value = snak.get("datavalue", {}).get("value")
    if isinstance(value, dict):
        yield from [value["id"]] if "id" in value else []
        for key in ("unit", "globe"):
            iri = value.get(key, "1")
            if iri not in ("1", "http://www.wikidata.org/entity/Q2"):
                yield iri.rpartition("/")[2]

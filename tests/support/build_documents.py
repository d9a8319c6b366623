"""Small made-up documents, and looks into the graph folders that are built from them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import pyoxigraph as ox

from kg_functions.label_index import LabelIndex
from kg_functions.rdf import PREFIXES

if TYPE_CHECKING:
    from pathlib import Path


def link(property: str, target: str, rank: str = "normal") -> dict[str, Any]:
    value = {"entity-type": "item", "numeric-id": int(target[1:]), "id": target}
    return {
        "id": f"Q0${property}-{target}-{rank}",
        "rank": rank,
        "type": "statement",
        "mainsnak": {
            "snaktype": "value",
            "property": property,
            "datatype": "wikibase-item",
            "datavalue": {"type": "wikibase-entityid", "value": value},
        },
    }


def text(property: str, value: str, datatype: str | None) -> dict[str, Any]:
    snak = {
        "snaktype": "value",
        "property": property,
        "datavalue": {"type": "string", "value": value},
    }
    if datatype is not None:
        snak["datatype"] = datatype
    return {"id": f"Q0${property}-{value}", "rank": "normal", "mainsnak": snak}


def entity(identifier: str, label: str, *statements: dict[str, Any], **more: Any) -> dict[str, Any]:
    claims: dict[str, list[Any]] = {}
    for statement in statements:
        statement = json.loads(json.dumps(statement).replace("Q0$", f"{identifier}$"))
        claims.setdefault(statement["mainsnak"]["property"], []).append(statement)
    labels = {"en": {"language": "en", "value": label}}
    kind = "item" if identifier.startswith("Q") else "property"
    return {"type": kind, "id": identifier, "labels": labels, "claims": claims} | more


DOCUMENTS = [
    entity("P31", "instance of", datatype="wikibase-item"),
    entity("P18", "image", datatype="commonsMedia"),
    entity("Q1", "One", link("P31", "Q5"), link("P31", "Q6", "deprecated"), modified="2025-02-03"),
    entity("Q2", "Two", link("P31", "Q5"), link("P31", "Q1", "preferred"), modified="2024-01-01"),
    entity("Q5", "Five", sitelinks={"enwiki": {"site": "enwiki", "title": "Five"}}),
    entity("Q7", "Old", text("P18", "A.jpg", None), text("P99", "plain", None)),
    entity("Q5", "Five again"),
]


def write(path: Path, documents: list[Any] = DOCUMENTS) -> Path:
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return path


def triples(folder: Path) -> set[ox.Triple]:
    return {quad.triple for quad in ox.Store.read_only(str(folder / "store"))}


def ask(folder: Path, pattern: str) -> bool:
    store = ox.Store.read_only(str(folder / "store"))
    return bool(store.query(f"{PREFIXES} ASK {{ {pattern} }}"))


def found(folder: Path, name: str, kind: Literal["item", "property"]) -> list[Any]:
    index = LabelIndex.open(folder / "labels")
    page = index.search(name, kind=kind, limit=9, offset=0)
    index.close()
    return [(hit.id, hit.datatype) for hit in page.hits]


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))

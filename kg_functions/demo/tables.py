"""Turns the demo tables into Wikidata entity JSON; their syntax is told in tables/README.md."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kg_functions.demo.rows import Names, Row, entries, read_rows
from kg_functions.demo.values import DATATYPES, snak
from kg_functions.identifiers import is_item, is_property, sort_key
from kg_functions.languages import LANGUAGES, STORED_LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLES: Final = Path(__file__).with_name("tables")

FIRST_OWN_NUMBER: Final = 9_000_000_001
"""Item numbers from here on are ours: Wikidata has no such items."""

_TERMS: Final = ("en", "fr", "de", "zh", "ar", "ru", "description", "more")
ITEM_COLUMNS: Final = ("id", *_TERMS)
PROPERTY_COLUMNS: Final = ("id", "datatype", *_TERMS)
STATEMENT_COLUMNS: Final = ("subject", "property", "value", "rank", "qualifiers", "references")
REDIRECT_COLUMNS: Final = ("from", "to")

_RANKS: Final = ("preferred", "normal", "deprecated")
_MORE: Final = re.compile(r"(label|alias|description|wikipedia) ([a-z-]+): (.+)")
_MORE_TITLES: Final = re.compile(r"wikipedia ([a-z]{2}(?: [a-z]{2})*)")

Entity = dict[str, Any]


def read_tables(folder: Path = TABLES) -> list[Entity]:
    """The entities that the tables describe, as entity JSON: properties first, then by number.

    Raises:
        TableError: for the first row that cannot be read, with its file and line.
    """
    names = Names()
    entities: dict[str, Entity] = {}
    for row in read_rows(folder / "properties.tsv", PROPERTY_COLUMNS):
        _add(entities, names, row, _property(row))
    for path in sorted((folder / "items").glob("*.tsv")):
        for row in read_rows(path, ITEM_COLUMNS):
            _add(entities, names, row, _item(row))
    for path in sorted((folder / "statements").glob("*.tsv")):
        for row in read_rows(path, STATEMENT_COLUMNS):
            _add_statement(entities, names, row)
    for row in read_rows(folder / "redirects.tsv", REDIRECT_COLUMNS):
        _add_redirect(entities, names, row)
    return [entities[identifier] for identifier in sorted(entities, key=sort_key)]


def json_lines(entities: list[Entity]) -> Iterator[str]:
    """Each entity as one line of JSON, with its newline; equal tables give equal bytes."""
    for entity in entities:
        yield json.dumps(entity, ensure_ascii=False, separators=(",", ":")) + "\n"


def _add(entities: dict[str, Entity], names: Names, row: Row, entity: Entity) -> None:
    label = entity["labels"].get("en") or entity["labels"].get("mul")
    names.define(entity["id"], label["value"] if label else None, row)
    entities[entity["id"]] = entity


def _property(row: Row) -> Entity:
    if not is_property(row["id"]):
        raise row.error(f"{row['id']!r} is not a property id such as P31")
    if row["datatype"] not in DATATYPES:
        raise row.error(f"{row['datatype']!r} is no datatype; use one of {', '.join(DATATYPES)}")
    if not row["en"]:
        raise row.error(f"{row['id']} needs an English label")
    entity = {"type": "property", "datatype": row["datatype"], "id": row["id"], **_terms(row)}
    if entity.pop("sitelinks"):
        raise row.error("a property has no Wikipedia article")
    return entity | {"claims": {}}


def _item(row: Row) -> Entity:
    if not is_item(row["id"]):
        raise row.error(f"{row['id']!r} is not an item id such as Q42")
    terms = _terms(row)
    sitelinks = terms.pop("sitelinks")
    return {"type": "item", "id": row["id"], **terms, "claims": {}, "sitelinks": sitelinks}


def _text(language: str, value: str) -> dict[str, str]:
    return {"language": language, "value": value}


def _terms(row: Row) -> Entity:
    """Labels, descriptions, aliases and sitelinks."""
    labels = {}
    for language in LANGUAGES:
        text = row["en"] if row[language] == "=" else row[language]
        if text == "=":
            raise row.error("= repeats the English label, so it cannot stand for it")
        if text:
            labels[language] = _text(language, text)
    descriptions = {"en": _text("en", row["description"])} if row["description"] else {}
    terms: Entity = {
        "labels": labels,
        "descriptions": descriptions,
        "aliases": {},
        "sitelinks": {},
    }
    for entry in entries(row["more"]):
        _add_term(terms, entry, row)
    return terms


def _add_term(terms: Entity, entry: str, row: Row) -> None:
    """Take one entry of the column ``more``."""
    titles = _MORE_TITLES.fullmatch(entry)
    if titles is not None:
        for language in titles[1].split():
            if language not in terms["labels"]:
                raise row.error(f"no label in {language!r} to take the Wikipedia title from")
            _add_sitelink(terms, language, terms["labels"][language]["value"])
        return
    found = _MORE.fullmatch(entry)
    if found is None or found[2] not in STORED_LANGUAGES:
        raise row.error(
            f"{entry!r} is not an entry such as 'alias en: FRG', 'label zh-hant: 德國', "
            "'description de: Staat', 'wikipedia en de' or 'wikipedia ru: Германия'"
        )
    kind, language, text = found.groups()
    if kind == "wikipedia":
        _add_sitelink(terms, language, text)
    elif kind == "alias":
        terms["aliases"].setdefault(language, []).append(_text(language, text))
    elif language in terms[f"{kind}s"]:
        raise row.error(f"a second {kind} in {language!r}")
    else:
        terms[f"{kind}s"][language] = _text(language, text)


def _add_sitelink(terms: Entity, language: str, title: str) -> None:
    wiki = f"{language}wiki"
    terms["sitelinks"][wiki] = {"site": wiki, "title": title, "badges": []}


def _add_statement(entities: dict[str, Entity], names: Names, row: Row) -> None:
    subject = entities[names.resolve(row["subject"], row)]
    rank = row["rank"] or "normal"
    if rank not in _RANKS:
        raise row.error(f"{rank!r} is no rank; use one of {', '.join(_RANKS)}, or leave it blank")
    main = _snak(row["property"], row["value"], entities, names, row)
    # Numbered within the subject; "demo" says that the id is not one of Wikidata's.
    number = sum(map(len, subject["claims"].values())) + 1
    statement: Entity = {
        "mainsnak": main,
        "type": "statement",
        "id": f"{subject['id']}$demo-{number:04d}",
        "rank": rank,
    }
    qualifiers = _snaks(row["qualifiers"], entities, names, row)
    if qualifiers:
        statement |= {"qualifiers": qualifiers, "qualifiers-order": list(qualifiers)}
    references = [_snaks(part, entities, names, row) for part in entries(row["references"], "||")]
    if references:
        statement["references"] = [
            {"snaks": snaks, "snaks-order": list(snaks)} for snaks in references
        ]
    subject["claims"].setdefault(main["property"], []).append(statement)


def _snaks(cell: str, entities: dict[str, Entity], names: Names, row: Row) -> Entity:
    """The snaks of ``P580 (start time): 1900 | P582 (end time): 1905``, by property."""
    snaks: Entity = {}
    for entry in entries(cell):
        property, colon, text = entry.partition(": ")
        if not colon:
            raise row.error(f"{entry!r} is not of the form 'P580 (start time): 1900'")
        made = _snak(property, text.strip(), entities, names, row)
        snaks.setdefault(made["property"], []).append(made)
    return snaks


def _snak(reference: str, text: str, entities: dict[str, Entity], names: Names, row: Row) -> Entity:
    identifier = names.resolve(reference, row)
    if not is_property(identifier):
        raise row.error(f"{identifier} is no property")
    return snak(identifier, entities[identifier]["datatype"], text, names, row)


def _add_redirect(entities: dict[str, Entity], names: Names, row: Row) -> None:
    source, target = row["from"], names.resolve(row["to"], row)
    if not is_item(source) or source in entities:
        raise row.error(f"{source!r} is not the id of a merged item, which has no row in items/")
    if "redirects" in entities[target]:
        raise row.error(f"{target} is already the target of another id")
    entities[target]["redirects"] = {"from": source, "to": target}

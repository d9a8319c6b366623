"""The 13 graph functions as a model sees them: signature and docstring, written once.

The bodies are empty on purpose. The registry reads these declarations and feeds the REPL stubs,
the agent's tools, the prompt text and the documentation; a ``Graph`` answers the calls.
"""

from __future__ import annotations

from typing import Any, Literal

Result = dict[str, Any]
Ids = str | list[str]


def search_entity(
    name: str, limit: int = 20, offset: int = 0, language: str | None = None
) -> Result:
    """Find entities by label or alias.

    Case, accents and punctuation do not matter; every word must match, the last one as a prefix.
    Exact labels come first, then exact aliases, prefixes, and names that hold all the words.

    Args:
        name: the words to look for.
        limit: how many matches to return.
        offset: how many to skip; use `next_offset` of the page before.
        language: look in one language only (en, fr, de, zh, ar, ru, mul).

    Returns:
        {"total", "matches": [{"id", "label", "description", "matched", "matched_text",
        "language"}], "next_offset"}; `matched` is "label" or "alias"; no match is `total` 0.
    """


def search_property(name: str, limit: int = 20, offset: int = 0) -> Result:
    """Find properties by label or alias.

    Args:
        name: the words to look for.
        limit: how many matches to return.
        offset: how many to skip; use `next_offset` of the page before.

    Returns:
        {"total", "matches": [{"id", "label", "description", "matched", "matched_text",
        "language", "datatype"}], "next_offset"}
    """


def claims(
    entity: Ids,
    property: str | None = None,
    rank: Literal["best", "nondeprecated", "deprecated"] = "best",
    limit: int = 200,
    offset: int = 0,
) -> Result:
    """Statements of an entity with typed values, ranks and qualifiers.

    Args:
        entity: an id, or a list of ids (the result is then a dict keyed by id).
        property: only statements of this property.
        rank: "best" gives per property the preferred statements where there are any, else the
            normal ones; "nondeprecated" preferred and normal; "deprecated" those alone.
        limit: how many statements to return.
        offset: how many to skip; use `next_offset` of the page before.

    Returns:
        {"id", "total", "statements": [{"id", "property", "property_label", "value", "rank",
        "qualifiers": [{"property", "property_label", "value"}]}], "next_offset"}.
        A value is a dict with a "type": entity {"id", "label"}, time {"time", "precision",
        "calendar", "year", "text"}, quantity {"amount", "unit", "unit_label", "lower", "upper"},
        coordinate, text {"text", "language"}, string, external-id, url, media {"text"}, unknown,
        none.
    """


def references(
    entity: Ids, property: str | None = None, limit: int = 100, offset: int = 0
) -> Result:
    """Statements of an entity with the sources recorded for them.

    Args:
        entity: an id, or a list of ids (the result is then a dict keyed by id).
        property: only statements of this property.
        limit: how many statements to return.
        offset: how many to skip; use `next_offset` of the page before.

    Returns:
        {"id", "total", "statements": [{"id", "property", "property_label", "value",
        "references": [[{"property", "property_label", "value"}]]}], "next_offset"}; one inner
        list a reference, [] where there is none.
    """


def describe(entity: Ids) -> Result:
    """Types, labels, descriptions, aliases and sitelinks of an entity.

    Args:
        entity: an id, or a list of ids (the result is then a dict keyed by id).

    Returns:
        {"id", "types": [{"id", "label"}], "labels", "descriptions", "aliases", "sitelinks"};
        the last four are dicts by language (aliases: lists; sitelinks: Wikipedia titles).
    """


def labels(entity: Ids) -> dict[str, str]:
    """Labels of an entity by language (en, fr, de, zh, ar, ru; `mul` for many languages).

    Args:
        entity: an id, or a list of ids (the result is then a dict keyed by id).

    Returns:
        {language: label}
    """


def label(entity: Ids, language: str = "en") -> str | None:
    """Label of an entity in one language, or None.

    Args:
        entity: an id, or a list of ids (the result is then a dict keyed by id).
        language: en, fr, de, zh, ar, ru or mul.

    Returns:
        The label (that for many languages, `mul`, where the language has none), or None.
    """


def descriptions(entity: Ids) -> dict[str, str]:
    """Short descriptions of an entity by language (en, fr, de, zh, ar, ru).

    Args:
        entity: an id, or a list of ids (the result is then a dict keyed by id).

    Returns:
        {language: description}
    """


def edges(
    entity: Ids,
    direction: Literal["both", "out", "in"] = "both",
    property: str | None = None,
    limit: int = 100,
    offset: int = 0,
) -> Result:
    """Links between an entity and other entities, outgoing and incoming.

    Args:
        entity: an id, or a list of ids (the result is then a dict keyed by id).
        direction: "out" for links from the entity, "in" for links to it, or "both".
        property: only links of this property.
        limit: how many links to return.
        offset: how many to skip; use `next_offset` of the page before.

    Returns:
        {"id", "total", "edges": [{"direction", "property", "property_label", "entity",
        "label"}], "next_offset"}: outgoing first, then by property and entity number.
    """


def count_edges(entity: Ids, property: str | None = None) -> Result:
    """Counts of an entity's links by property; cheap, also for entities with many links.

    Args:
        entity: an id, or a list of ids (the result is then a dict keyed by id).
        property: count only links of this property.

    Returns:
        {"id", "out", "in", "by_property": {property: {"label", "out", "in"}}}
    """


def degree(entity: Ids) -> Result:
    """How many links go out of and into an entity.

    Args:
        entity: an id, or a list of ids (the result is then a dict keyed by id).

    Returns:
        {"id", "out", "in"}
    """


def name(id: Ids) -> str | None:
    """English label of an entity or property, or None.

    Args:
        id: an id, or a list of ids (the result is then a dict keyed by id).

    Returns:
        The label (`mul` where there is no English one), or None.
    """


def has(id: Ids) -> bool:
    """Whether an entity or property is in the graph.

    Args:
        id: an id, or a list of ids (the result is then a dict keyed by id).

    Returns:
        True or False
    """

"""The contract checks can fail: each rule switched off breaks at least one of them.

The mutations tried, by rule: rank filter (none; no preference), order by property number, order of
ranks, order of links by number, redirects, `mul` fallback, Chinese variants, precision cut, years
before our era, Julian days, unknown values, no value, the unit "1", exact decimals, datatypes
(an URL that looks like an item), the property filter, the end of pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kg_functions import languages
from kg_functions.engines.embedded import EmbeddedEngine
from kg_functions.rdf import entity_id
from kg_functions.wikidata import (
    entities,
    graph,
    snaks,
    sparql_links,
    statements,
    texts,
    times,
    values,
)
from kg_functions.wikidata.graph import WikidataGraph
from tests.support import graph_checks as checks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Check = Callable[[WikidataGraph], None]

MUTATIONS: dict[str, tuple[Any, str, Any, Check]] = {
    "rank filter off": (
        statements,
        "select",
        lambda several, rank: list(several),
        checks.check_ranks,
    ),
    "preferred does not hide normal": (
        statements,
        "select",
        lambda several, rank: [one for one in several if one.rank != "deprecated"],
        checks.check_ranks,
    ),
    "properties ordered as text": (
        statements,
        "_order",
        lambda one: (one.property, one.rank, one.id),
        checks.check_every_datatype,
    ),
    "ranks ordered as text": (
        statements,
        "_RANK_ORDER",
        {"preferred": 2, "normal": 1, "deprecated": 0},
        checks.check_ranks,
    ),
    "links ordered as text": (sparql_links, "number", lambda one: one, checks.check_paging),
    "redirects not followed": (
        entities,
        "entity_id",
        lambda iri, real=entity_id: None if iri.endswith("Q9006") else real(iri),
        checks.check_merged_items,
    ),
    "one redirect only": (entities, "_LONGEST_CHAIN", 1, checks.check_merged_items),
    "no mul for names": (texts, "MUL", "xx", checks.check_names),
    "no mul for labels": (languages, "MUL", "xx", checks.check_names),
    "no Chinese variants": (languages, "ZH_VARIANTS", (), checks.check_names),
    "variants in another order": (
        languages,
        "ZH_VARIANTS",
        tuple(reversed(languages.ZH_VARIANTS)),
        checks.check_names,
    ),
    "digits beyond the precision": (
        times,
        "cut",
        lambda moment, precision, real=times.cut: real(moment, times.DAY),
        checks.check_dates,
    ),
    "years not historical": (times, "historical", lambda year: year, checks.check_dates),
    "Julian days left Gregorian": (times, "as_julian", lambda moment: moment, checks.check_dates),
    "unknown values not seen": (values, "is_unknown", lambda term: False, checks.check_gaps),
    "query service's unknown values not seen": (values, "GENID", "urn:x", checks.check_gaps),
    "no value not seen": (snaks, "_without_value", lambda facts: iter(()), checks.check_gaps),
    "the unit 1 is an item": (values, "NO_UNIT", "urn:x", checks.check_every_datatype),
    "decimals as the engine writes them": (
        values,
        "canonical_amount",
        lambda text: str(float(text)),
        checks.check_quantities,
    ),
    "URLs taken for items": (values, "URL_TYPE", "xx", checks.check_every_datatype),
    "links of URLs counted": (sparql_links, "ITEM_TYPE", "url", checks.check_edges),
    "property filter unchecked": (
        entities.Entities,
        "check_used",
        lambda self, property_id: None,
        checks.check_errors,
    ),
    "no end of pages": (
        graph,
        "next_offset",
        lambda offset, count, total: offset + count,
        checks.check_paging,
    ),
}


@pytest.fixture
def bare(world_folder: Path) -> Iterator[WikidataGraph]:
    """A graph of its own, so that no cache outlives a mutation; links by SPARQL."""
    opened = WikidataGraph(EmbeddedEngine.open(world_folder / "store"))
    yield opened
    opened.close()


@pytest.mark.parametrize("rule", MUTATIONS)
def test_a_rule_switched_off_is_noticed(
    bare: WikidataGraph, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    module, name, replacement, check = MUTATIONS[rule]
    monkeypatch.setattr(module, name, replacement)
    with pytest.raises(AssertionError):
        check(bare)

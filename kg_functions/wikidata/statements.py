"""Statements with ranks, values, qualifiers and references, in a total and stable order."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kg_functions.errors import InvalidArgument
from kg_functions.identifiers import is_property, number
from kg_functions.rdf import (
    PQ,
    PQV,
    PR,
    PROV,
    PRV,
    PS,
    PSV,
    WIKIBASE,
    P,
    entity_id,
    statement_id,
)
from kg_functions.wikidata import queries, values
from kg_functions.wikidata.queries import Query
from kg_functions.wikidata.snaks import Snak, SnakReader, canonical, shown, under

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kg_functions.engines.protocol import SparqlEngine
    from kg_functions.wikidata.texts import Names
    from kg_functions.wikidata.values import Datatypes, Facts, Value

_DERIVED: Final = PROV + "wasDerivedFrom"

PREFERRED: Final = "preferred"
NORMAL: Final = "normal"
DEPRECATED: Final = "deprecated"
_RANKS: Final = {
    WIKIBASE + "PreferredRank": PREFERRED,
    WIKIBASE + "NormalRank": NORMAL,
    WIKIBASE + "DeprecatedRank": DEPRECATED,
}
_RANK_ORDER: Final = {PREFERRED: 0, NORMAL: 1, DEPRECATED: 2}

RANK_CHOICES: Final = ("best", "nondeprecated", "deprecated")

STATEMENTS: Final = Query(
    """
SELECT ?entity ?claim ?statement ?rank WHERE {
  VALUES $option { $terms }
  ?entity ?claim ?statement .
  ?statement wikibase:rank ?rank .
}
""",
    order="?entity ?claim ?statement ?rank",
)

FACTS: Final = Query(
    """
SELECT ?node ?predicate ?object WHERE {
  VALUES ?node { $terms }
  ?node ?predicate ?object .
}
""",
    order="?node ?predicate ?object",
)


class Reference(NamedTuple):
    """Where a statement stands, before its value is read.

    Attributes:
        iri: the statement's node.
        id: its id in JSON form, ``Q42$...``.
        property: its property's id.
        rank: ``preferred``, ``normal`` or ``deprecated``.
    """

    iri: str
    id: str
    property: str
    rank: str


def index(
    engine: SparqlEngine, ids: Sequence[str], property_id: str | None
) -> dict[str, list[Reference]]:
    """The statements of entities by id, ordered by property number, rank and statement id.

    Args:
        engine: what to ask.
        ids: which entities.
        property_id: only statements of this property, or None for all.
    """
    found: dict[str, dict[str, Reference]] = {identifier: {} for identifier in ids}
    terms = [queries.entity(identifier) for identifier in ids]
    option = "?entity"
    if property_id is not None:
        claim = queries.predicate("p", property_id)
        terms, option = [f"({term} {claim})" for term in terms], "(?entity ?claim)"
    for row in queries.fetch(engine, STATEMENTS, terms, option):
        owner = entity_id(row["entity"].value)
        property_found = row["claim"].value.removeprefix(P)
        iri = row["statement"].value
        identifier = statement_id(iri)
        rank = _RANKS.get(row["rank"].value)
        if owner in found and identifier and rank and is_property(property_found):
            found[owner][iri] = Reference(iri, identifier, property_found, rank)
    return {owner: sorted(entries.values(), key=_order) for owner, entries in found.items()}


def select(statements: Sequence[Reference], rank: str) -> list[Reference]:
    """The statements that a rank argument asks for, in the order given.

    Args:
        statements: of one entity.
        rank: ``best`` for each property's preferred statements where there are any, else its
            normal ones; ``nondeprecated``; ``deprecated``.

    Raises:
        InvalidArgument: another rank.
    """
    if rank not in RANK_CHOICES:
        raise InvalidArgument(f"rank must be one of {', '.join(RANK_CHOICES)}, not {rank!r}.")
    if rank == "deprecated":
        return [one for one in statements if one.rank == DEPRECATED]
    kept = [one for one in statements if one.rank != DEPRECATED]
    if rank == "best":
        preferred = {one.property for one in kept if one.rank == PREFERRED}
        kept = [one for one in kept if one.rank == PREFERRED or one.property not in preferred]
    return kept


class StatementReader:
    """Reads whole statements: values with labels, qualifiers, references.

    Args:
        engine: what to ask.
        datatypes: the datatypes of properties.
        names: English labels.
    """

    def __init__(self, engine: SparqlEngine, datatypes: Datatypes, names: Names) -> None:
        self._engine = engine
        self._datatypes = datatypes
        self._names = names

    def with_qualifiers(self, statements: Sequence[Reference]) -> dict[str, dict[str, Any]]:
        """Statements as ``claims`` returns them, by IRI."""
        facts = self._facts(one.iri for one in statements)
        read = SnakReader(self._datatypes, self._nodes(facts.values(), (PSV, PQV)))
        read.learn_datatypes(facts.values(), (PS, PSV, PQ, PQV))
        mains = {one.iri: read.main(facts[one.iri], one.property) for one in statements}
        qualifiers = {one.iri: read.qualifiers(facts[one.iri], one.property) for one in statements}
        snaks = [Snak(one.property, mains[one.iri]) for one in statements]
        snaks += [snak for entries in qualifiers.values() for snak in entries]
        names = self._fill(snaks)
        return {
            one.iri: {
                "id": one.id,
                "property": one.property,
                "property_label": names[one.property],
                "value": mains[one.iri],
                "rank": one.rank,
                "qualifiers": [shown(snak, names) for snak in qualifiers[one.iri]],
            }
            for one in statements
        }

    def with_references(self, statements: Sequence[Reference]) -> dict[str, dict[str, Any]]:
        """Statements as ``references`` returns them, by IRI."""
        facts = self._facts(one.iri for one in statements)
        sources = self._facts(
            term.value for said in facts.values() for term in said.get(_DERIVED, ())
        )
        nodes = self._nodes(facts.values(), (PSV,)) | self._nodes(sources.values(), (PRV,))
        read = SnakReader(self._datatypes, nodes)
        read.learn_datatypes(facts.values(), (PS, PSV))
        read.learn_datatypes(sources.values(), (PR, PRV))
        mains = {one.iri: read.main(facts[one.iri], one.property) for one in statements}
        sourced = {iri: read.source(said) for iri, said in sources.items()}
        snaks = [Snak(one.property, mains[one.iri]) for one in statements]
        snaks += [snak for entries in sourced.values() for snak in entries]
        names = self._fill(snaks)
        lists = {iri: [shown(snak, names) for snak in entries] for iri, entries in sourced.items()}
        return {
            one.iri: {
                "id": one.id,
                "property": one.property,
                "property_label": names[one.property],
                "value": mains[one.iri],
                "references": sorted(
                    # A copy each: statements share sources, results must share nothing.
                    (
                        [{**entry, "value": dict(entry["value"])} for entry in lists[term.value]]
                        for term in facts[one.iri].get(_DERIVED, ())
                    ),
                    key=canonical,
                ),
            }
            for one in statements
        }

    def _facts(self, iris: Iterable[str]) -> dict[str, Facts]:
        """What the graph says of each node."""
        wanted = list(dict.fromkeys(iris))
        found: dict[str, Facts] = {iri: defaultdict(list) for iri in wanted}
        for row in queries.fetch(self._engine, FACTS, [queries.iri(iri) for iri in wanted]):
            found[row["node"].value][row["predicate"].value].append(row["object"])
        return found

    def _nodes(self, said: Iterable[Facts], namespaces: Sequence[str]) -> dict[str, Value]:
        """The values of the full value nodes that the facts point at."""
        wanted = [
            term.value
            for facts in said
            for _, terms in under(facts, namespaces)
            for term in terms
            if term.kind == "iri"
        ]
        read = ((iri, values.from_node(facts)) for iri, facts in self._facts(wanted).items())
        return {iri: value for iri, value in read if value is not None}

    def _fill(self, snaks: Sequence[Snak]) -> Mapping[str, str | None]:
        """Put labels into the values; gives the names of the properties as well."""
        found = [snak.value for snak in snaks]
        names = self._names.get(values.named_ids(found) | {snak.property for snak in snaks})
        values.fill_names(found, names)
        return names


def _order(statement: Reference) -> tuple[int, int, str]:
    return (number(statement.property), _RANK_ORDER[statement.rank], statement.id)

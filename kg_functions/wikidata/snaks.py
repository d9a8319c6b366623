"""Snaks: a property with a value, as the facts about a statement or a reference hold them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kg_functions.identifiers import is_property, number
from kg_functions.rdf import PQ, PQV, PR, PRV, PS, PSV, RDF, WDNO
from kg_functions.wikidata import values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kg_functions.wikidata.values import Datatypes, Facts, Value

_TYPE: Final = RDF + "type"


class Snak(NamedTuple):
    """A property with a value: the statement's own, a qualifier's or a reference's."""

    property: str
    value: Value


class SnakReader:
    """Turns the facts about statements and references into snaks."""

    def __init__(self, datatypes: Datatypes, nodes: Mapping[str, Value]) -> None:
        self._source = datatypes
        self._datatypes: dict[str, str | None] = {}
        self._nodes = nodes

    def learn_datatypes(self, said: Iterable[Facts], namespaces: Sequence[str]) -> None:
        """Get the datatypes of all properties in the facts at once."""
        used = {one for facts in said for one, _ in under(facts, namespaces)}
        self._datatypes.update(self._source.get(used))

    def main(self, facts: Facts, property_id: str) -> Value:
        """The value of the statement itself."""
        found = self._values(facts, property_id, PS, PSV)
        return found[0] if found else values.none()

    def qualifiers(self, facts: Facts, property_id: str) -> list[Snak]:
        """The statement's qualifiers, ordered by property number and value."""
        used = {one for one, _ in under(facts, (PQ, PQV))}
        snaks = [Snak(one, value) for one in used for value in self._values(facts, one, PQ, PQV)]
        has_value = bool(facts.get(PS + property_id) or facts.get(PSV + property_id))
        for one in _without_value(facts):
            # The statement's own "no value" has the same form as a qualifier's.
            if one != property_id or has_value:
                snaks.append(Snak(one, values.none()))
        return sorted(snaks, key=order)

    def source(self, facts: Facts) -> list[Snak]:
        """One reference's snaks, ordered by property number and value."""
        used = {one for one, _ in under(facts, (PR, PRV))}
        snaks = [Snak(one, value) for one in used for value in self._values(facts, one, PR, PRV)]
        snaks += [Snak(one, values.none()) for one in _without_value(facts)]
        return sorted(snaks, key=order)

    def _values(self, facts: Facts, property_id: str, simple: str, full: str) -> list[Value]:
        """A property's values: full ones where there are any, and always the unknown ones."""
        terms = facts.get(simple + property_id, [])
        nodes = (self._nodes.get(term.value) for term in facts.get(full + property_id, ()))
        found = [dict(value) for value in nodes if value is not None]
        if found:
            return found + [values.unknown() for term in terms if values.is_unknown(term)]
        datatype = self._datatypes.get(property_id)
        return [values.from_term(term, datatype) for term in terms]


def under(facts: Facts, namespaces: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    """The facts whose predicates are properties in one of the namespaces."""
    for predicate, terms in facts.items():
        for namespace in namespaces:
            if predicate.startswith(namespace):
                local = predicate[len(namespace) :]
                if is_property(local):
                    yield local, terms


def _without_value(facts: Facts) -> Iterator[str]:
    """The properties that a node says have no value."""
    for term in facts.get(_TYPE, ()):
        local = term.value.removeprefix(WDNO)
        if local != term.value and is_property(local):
            yield local


def shown(snak: Snak, names: Mapping[str, str | None]) -> dict[str, Any]:
    """A snak as results show it."""
    return {
        "property": snak.property,
        "property_label": names[snak.property],
        "value": snak.value,
    }


def order(snak: Snak) -> tuple[int, str, int, str]:
    """Property number, then entities by number and other values by their text."""
    value = snak.value
    entity = number(value["id"]) if value["type"] == "entity" else 0
    return (number(snak.property), value["type"], entity, canonical(value))


def canonical(value: Any) -> str:
    """Equal for equal values, and an order for others."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)

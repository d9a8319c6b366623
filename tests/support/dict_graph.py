"""A graph held in a few dicts, for tests of what stands above ``kg_functions``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kg_functions.errors import CallError, NotInGraph
from kg_functions.identifiers import check_entity, check_property, number
from kg_functions.text_matching import normalise

Statement = dict[str, Any]


class DictGraph:
    """A small Wikidata-like graph.

    Args:
        names: label of every item and property.
        links: truthy links ``(subject, property, object)``; statements are made of them.
        values: further statements ``(subject, property, value)`` or
            ``(subject, property, value, qualifiers)``, ``value`` in the shape of ``claims`` and
            ``qualifiers`` as pairs of property and value.
        aliases: further names by id.
        redirects: old id to the id that it was merged into.
    """

    kind = "wikidata"
    snapshot = "test"

    def __init__(
        self,
        names: Mapping[str, str],
        links: Sequence[tuple[str, str, str]] = (),
        values: Sequence[tuple[Any, ...]] = (),
        aliases: Mapping[str, Sequence[str]] | None = None,
        redirects: Mapping[str, str] | None = None,
    ) -> None:
        self.names = dict(names)
        self.links = list(links)
        self.aliases = dict(aliases or {})
        self.redirects = dict(redirects or {})
        entities = [(s, p, {"type": "entity", "id": o, "label": names[o]}) for s, p, o in links]
        self.statements = [
            self._statement(n, *row) for n, row in enumerate((*entities, *values), start=1)
        ]

    def _statement(
        self, n: int, subject: str, prop: str, value: Any, qualifiers: Sequence[Any] = ()
    ) -> tuple[str, Statement]:
        shown = [
            {"property": p, "property_label": self.names[p], "value": v} for p, v in qualifiers
        ]
        return subject, {
            "id": f"{subject}$test-{n}",
            "property": prop,
            "property_label": self.names[prop],
            "value": value,
            "rank": "normal",
            "qualifiers": shown,
        }

    def check_id(self, identifier: object) -> str:
        return check_entity(identifier)

    def check_property(self, identifier: object) -> str:
        return check_property(identifier)

    def _batch(self, ids: Sequence[str], answer: Callable[[str], Any]) -> dict[str, Any]:
        return {i: self._one(i, answer) for i in ids}

    def _one(self, identifier: str, answer: Callable[[str], Any]) -> Any:
        target = self.redirects.get(identifier, identifier)
        if target not in self.names:
            return NotInGraph(f"{identifier} is not in this graph.")
        try:
            return answer(target)
        except CallError as error:
            return error

    def search_entity(
        self, name: str, limit: int = 20, offset: int = 0, language: str | None = None
    ) -> dict[str, Any]:
        return self._search(name, "Q", limit, offset)

    def search_property(self, name: str, limit: int = 20, offset: int = 0) -> dict[str, Any]:
        page = self._search(name, "P", limit, offset)
        return page | {"matches": [m | {"datatype": "wikibase-item"} for m in page["matches"]]}

    def _search(self, name: str, letter: str, limit: int, offset: int) -> dict[str, Any]:
        wanted = normalise(name)
        found = []
        for identifier, label in self.names.items():
            if not identifier.startswith(letter):
                continue
            named = [("label", label), *(("alias", a) for a in self.aliases.get(identifier, ()))]
            hits = [
                (normalise(text) != wanted, kind == "alias", number(identifier), text)
                for kind, text in named
                if normalise(text).startswith(wanted)
            ]
            if hits:
                found.append((min(hits), identifier))
        found.sort()
        matches = [
            {
                "id": identifier,
                "label": self.names[identifier],
                "description": None,
                "matched": "alias" if alias else "label",
                "matched_text": text,
                "language": "en",
            }
            for (_, alias, _, text), identifier in found
        ]
        return {"total": len(found), "matches": matches[offset : offset + limit]} | _next(
            len(found), offset, limit
        )

    def claims(
        self,
        entities: Sequence[str],
        property: str | None = None,
        rank: str = "best",
        limit: int = 200,
        offset: int = 0,
    ) -> dict[str, Any]:
        def answer(entity: str) -> dict[str, Any]:
            own = [
                s for e, s in self.statements if e == entity and property in (None, s["property"])
            ]
            own.sort(key=lambda s: number(s["property"]))
            page = {"id": entity, "total": len(own), "statements": own[offset : offset + limit]}
            return page | _next(len(own), offset, limit)

        return self._batch(entities, answer)

    def edges(
        self,
        entities: Sequence[str],
        direction: str = "both",
        property: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> dict[str, Any]:
        def answer(entity: str) -> dict[str, Any]:
            rows = sorted(
                (way != "out", number(p), number(other), way, p, other)
                for way, p, other in self._around(entity)
                if direction in (way, "both") and property in (None, p)
            )
            shown = [
                {
                    "direction": way,
                    "property": p,
                    "property_label": self.names[p],
                    "entity": other,
                    "label": self.names[other],
                }
                for _, _, _, way, p, other in rows[offset : offset + limit]
            ]
            return {"id": entity, "total": len(rows), "edges": shown} | _next(
                len(rows), offset, limit
            )

        return self._batch(entities, answer)

    def _around(self, entity: str) -> list[tuple[str, str, str]]:
        return [("out", p, o) for s, p, o in self.links if s == entity] + [
            ("in", p, s) for s, p, o in self.links if o == entity
        ]

    def count_edges(self, entities: Sequence[str], property: str | None = None) -> dict[str, Any]:
        def answer(entity: str) -> dict[str, Any]:
            around = [row for row in self._around(entity) if property in (None, row[1])]
            table: dict[str, dict[str, Any]] = {}
            for way, p, _ in around:
                row = table.setdefault(p, {"label": self.names[p], "out": 0, "in": 0})
                row[way] += 1
            out = sum(way == "out" for way, _, _ in around)
            return {"id": entity, "out": out, "in": len(around) - out, "by_property": table}

        return self._batch(entities, answer)

    def degree(self, entities: Sequence[str]) -> dict[str, Any]:
        return {
            i: r if isinstance(r, CallError) else {k: r[k] for k in ("id", "out", "in")}
            for i, r in self.count_edges(entities).items()
        }

    def references(
        self,
        entities: Sequence[str],
        property: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> dict[str, Any]:
        raise NotImplementedError

    def describe(self, entities: Sequence[str]) -> dict[str, Any]:
        raise NotImplementedError

    def labels(self, entities: Sequence[str]) -> dict[str, Any]:
        return self._batch(entities, lambda e: {"en": self.names[e]})

    def label(self, entities: Sequence[str], language: str = "en") -> dict[str, Any]:
        return self._batch(entities, self.names.__getitem__)

    def descriptions(self, entities: Sequence[str]) -> dict[str, Any]:
        return self._batch(entities, lambda e: {})

    def name(self, ids: Sequence[str]) -> dict[str, Any]:
        return self._batch(ids, self.names.__getitem__)

    def has(self, ids: Sequence[str]) -> dict[str, Any]:
        return {i: self.redirects.get(i, i) in self.names for i in ids}

    def close(self) -> None:
        pass


def _next(total: int, offset: int, limit: int) -> dict[str, Any]:
    return {"next_offset": offset + limit if offset + limit < total else None}

"""The Wikidata graph: 13 functions over an engine, with or without label index and adjacency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kg_functions.errors import BackendDown, CallError
from kg_functions.identifiers import check_entity, check_property
from kg_functions.languages import pick
from kg_functions.wikidata import search, statements, texts
from kg_functions.wikidata.description import describe
from kg_functions.wikidata.entities import Entities
from kg_functions.wikidata.links import AdjacencyLinks, Links, check_direction
from kg_functions.wikidata.paging import next_offset
from kg_functions.wikidata.sparql_links import SparqlLinks
from kg_functions.wikidata.statements import StatementReader
from kg_functions.wikidata.texts import DESCRIPTION, LABEL, Names
from kg_functions.wikidata.values import Datatypes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kg_functions.adjacency import Adjacency
    from kg_functions.engines.protocol import SparqlEngine
    from kg_functions.graph import Batch, Result
    from kg_functions.label_index import LabelIndex
    from kg_functions.wikidata.later import LaterAdjacency, LaterLabelIndex
    from kg_functions.wikidata.texts import TextsByLanguage


class WikidataGraph:
    """Implements ``Graph`` over any engine that holds Wikidata's RDF model.

    Args:
        engine: what to ask; closed with the graph.
        labels: the label index, closed with the graph, or None: search then finds exact names only.
        adjacency: the links, or None: they are then counted and paged by SPARQL.
        snapshot: what data this is, for traces.
        notice: called once with a line for the user where a slower or poorer way is taken.
    """

    kind: Final = "wikidata"

    def __init__(
        self,
        engine: SparqlEngine,
        labels: LabelIndex | LaterLabelIndex | None = None,
        adjacency: Adjacency | LaterAdjacency | None = None,
        snapshot: str | None = None,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        self._engine = engine
        self._labels = labels
        self._closed = False
        self._snapshot = snapshot or engine.address
        self._entities = Entities(engine)
        self._names = Names(engine)
        self._datatypes = Datatypes(engine)
        self._reader = StatementReader(engine, self._datatypes, self._names)
        self._links: Links = (
            AdjacencyLinks(adjacency) if adjacency else SparqlLinks(engine, self._datatypes)
        )
        self._search: search.NameSearch = (
            search.IndexSearch(labels) if labels else search.ExactSearch(engine, notice)
        )

    @property
    def snapshot(self) -> str:
        """The manifest's snapshot id, or the endpoint's address."""
        return self._snapshot

    def check_id(self, identifier: object) -> str:
        """Return a well-formed entity or property id, or raise ``InvalidIdentifier``."""
        return check_entity(identifier)

    def check_property(self, identifier: object) -> str:
        """Return a well-formed property id, or raise ``InvalidIdentifier``."""
        return check_property(identifier)

    def search_entity(
        self, name: str, limit: int = 20, offset: int = 0, language: str | None = None
    ) -> Result:
        """Items by label or alias; see the function of this name."""
        self._check_open()
        if language is not None:
            search.check_language(language)
        total, found = self._search.search(name, "item", limit, offset, language)
        return search.matches(self._engine, total, found, offset)

    def search_property(self, name: str, limit: int = 20, offset: int = 0) -> Result:
        """Properties by label or alias; see the function of this name."""
        self._check_open()
        total, found = self._search.search(name, "property", limit, offset, None)
        result = search.matches(self._engine, total, found, offset)
        datatypes = self._datatypes.get(hit.id for hit in found)
        for match in result["matches"]:
            match["datatype"] = datatypes[match["id"]]
        return result

    def claims(
        self,
        entities: Sequence[str],
        property: str | None = None,
        rank: str = "best",
        limit: int = 200,
        offset: int = 0,
    ) -> Batch:
        """Statements with qualifiers; see the function of this name."""
        return self._statements(
            entities, property, rank, limit, offset, self._reader.with_qualifiers
        )

    def references(
        self,
        entities: Sequence[str],
        property: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> Batch:
        """Statements with their references; see the function of this name."""
        return self._statements(
            entities, property, "best", limit, offset, self._reader.with_references
        )

    def describe(self, entities: Sequence[str]) -> Batch:
        """Types, labels, descriptions, aliases and sitelinks; see the function of this name."""

        def answer(ids: Sequence[str]) -> dict[str, Any]:
            return describe(self._engine, self._names, ids)

        return self._each(entities, answer)

    def labels(self, entities: Sequence[str]) -> Batch:
        """Labels by language; see the function of this name."""
        return self._texts(entities, LABEL, texts.labels_by_language)

    def label(self, entities: Sequence[str], language: str = "en") -> Batch:
        """The label in one language; see the function of this name."""
        search.check_language(language)

        def shown(by_code: TextsByLanguage) -> str | None:
            hit = pick(by_code, language, mul=True)
            return hit[0][0] if hit else None

        return self._texts(entities, LABEL, shown)

    def descriptions(self, entities: Sequence[str]) -> Batch:
        """Descriptions by language; see the function of this name."""
        return self._texts(entities, DESCRIPTION, texts.descriptions_by_language)

    def edges(
        self,
        entities: Sequence[str],
        direction: str = "both",
        property: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> Batch:
        """Links in order; see the function of this name."""
        way = check_direction(direction)
        self._check_filter(property)

        def answer(ids: Sequence[str]) -> dict[str, Any]:
            pages = self._links.pages(ids, way, property, limit, offset)
            links = [link for page in pages.values() for link in page.links]
            names = self._names.get(
                {link.property for link in links} | {link.other for link in links}
            )
            return {
                one: {
                    "id": one,
                    "total": page.total,
                    "edges": [
                        {
                            "direction": link.direction,
                            "property": link.property,
                            "property_label": names[link.property],
                            "entity": link.other,
                            "label": names[link.other],
                        }
                        for link in page.links
                    ],
                    "next_offset": next_offset(offset, len(page.links), page.total),
                }
                for one, page in pages.items()
            }

        return self._each(entities, answer)

    def count_edges(self, entities: Sequence[str], property: str | None = None) -> Batch:
        """Counts of links by property; see the function of this name."""
        self._check_filter(property)

        def answer(ids: Sequence[str]) -> dict[str, Any]:
            counts = self._links.counts(ids, property)
            names = self._names.get(link for several in counts.values() for link in several)
            return {
                one: {
                    "id": one,
                    "out": sum(out for out, _ in several.values()),
                    "in": sum(into for _, into in several.values()),
                    "by_property": {
                        link: {"label": names[link], "out": out, "in": into}
                        for link, (out, into) in several.items()
                    },
                }
                for one, several in counts.items()
            }

        return self._each(entities, answer)

    def degree(self, entities: Sequence[str]) -> Batch:
        """Counts of links; see the function of this name."""

        def answer(ids: Sequence[str]) -> dict[str, Any]:
            degrees = self._links.degrees(ids)
            return {
                one: {"id": one, "out": out, "in": into} for one, (out, into) in degrees.items()
            }

        return self._each(entities, answer)

    def name(self, ids: Sequence[str]) -> Batch:
        """English labels, ``mul`` as fallback; see the function of this name."""
        return self._each(ids, self._names.get)

    def has(self, ids: Sequence[str]) -> Batch:
        """Whether ids are in the graph; see the function of this name."""
        self._check_open()
        return self._entities.has(ids)

    def close(self) -> None:
        """Release files and connections; every function raises ``BackendDown`` from then on."""
        self._closed = True
        self._engine.close()
        if self._labels is not None:
            self._labels.close()
        # Lets the mapped arrays of an adjacency go.
        self._links = SparqlLinks(self._engine, self._datatypes)

    def _check_open(self) -> None:
        if self._closed:
            raise BackendDown(f"The graph {self._engine.address} is closed.")

    def _each(
        self, asked: Sequence[str], answer: Callable[[Sequence[str]], Mapping[str, Any]]
    ) -> Batch:
        """Answer ids under the names they were asked by, merged items as their targets."""
        self._check_open()
        resolved = self._entities.resolve(asked)
        targets = sorted({one for one in resolved.values() if isinstance(one, str)})
        answers = answer(targets) if targets else {}
        return {
            identifier: target if isinstance(target, CallError) else answers[target]
            for identifier, target in resolved.items()
        }

    def _texts(
        self, entities: Sequence[str], predicate: str, shown: Callable[[TextsByLanguage], Any]
    ) -> Batch:
        def answer(ids: Sequence[str]) -> dict[str, Any]:
            found = texts.texts(self._engine, ids, (predicate,))
            return {one: shown(found[one][predicate]) for one in ids}

        return self._each(entities, answer)

    def _statements(
        self,
        entities: Sequence[str],
        property_id: str | None,
        rank: str,
        limit: int,
        offset: int,
        read: Callable[[Sequence[statements.Reference]], Mapping[str, Any]],
    ) -> Batch:
        self._check_filter(property_id)

        def answer(ids: Sequence[str]) -> dict[str, Any]:
            found = statements.index(self._engine, ids, property_id)
            chosen = {one: statements.select(found[one], rank) for one in ids}
            pages = {one: several[offset : offset + limit] for one, several in chosen.items()}
            bodies = read([statement for page in pages.values() for statement in page])
            return {
                one: {
                    "id": one,
                    "total": len(chosen[one]),
                    "statements": [bodies[statement.iri] for statement in page],
                    "next_offset": next_offset(offset, len(page), len(chosen[one])),
                }
                for one, page in pages.items()
            }

        return self._each(entities, answer)

    def _check_filter(self, property_id: str | None) -> None:
        self._check_open()
        if property_id is not None:
            self._entities.check_used(check_property(property_id))

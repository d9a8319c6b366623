"""SPARQL made of `wdt:` triple patterns alone, played through the graph functions.

A small reader (variables, items, `[ ]`, `;`, `,`, VALUES; nothing else) and a join that asks
`claims` for objects and `edges` for subjects. Made for tests: it reads no other SPARQL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kg_functions.session import GraphSession

_TOKEN = re.compile(
    r"\s*(?:(?P<comment>\#[^\n]*)|(?P<iri><[^>]*>)|(?P<var>[?$]\w+)|(?P<name>[A-Za-z]*:[A-Za-z]?\w*)"
    r"|(?P<word>[A-Za-z]+)|(?P<mark>[{}\[\]().;,*]))"
)
_ENTITY = re.compile(r"(?:wd:|<http://www\.wikidata\.org/entity/)(Q[1-9]\d*)>?")
_DIRECT = re.compile(r"(?:wdt:|<http://www\.wikidata\.org/prop/direct/)(P[1-9]\d*)>?")
_PAGE = 10_000
_CUT = {
    "month": (0, "-01"),
    "year": (0, "-01-01"),
    "decade": (1, "-01-01"),
    "century": (2, "-01-01"),
    "millennium": (3, "-01-01"),
}
"""What stands in RDF where a value's digits are cut: how many zeros of the year, and the rest."""


class NotPatternsAlone(Exception):
    """The query holds something else than `wdt:` patterns and VALUES."""


@dataclass(frozen=True)
class Pattern:
    """One triple pattern: subject and object are items or variables (which begin with `?`)."""

    subject: str
    property: str
    object: str


@dataclass
class PatternQuery:
    """A query that this module can play.

    Attributes:
        wanted: the variable whose values are the answer.
        count: whether the number of its values is.
        patterns: what must hold.
        values: what a variable may be, where the query says so.
    """

    wanted: str
    count: bool = False
    patterns: list[Pattern] = field(default_factory=list)
    values: dict[str, set[str]] = field(default_factory=dict)


def read(sparql: str) -> PatternQuery:
    """Read a query.

    Raises:
        NotPatternsAlone: it holds something that is not read here.
    """
    return _Reader(list(_tokens(sparql))).query()


def play(query: PatternQuery, session: GraphSession) -> set[str]:
    """The answer, from calls of `edges` and `claims`: items as ids, other values as text."""
    rows: list[dict[str, str]] = [{}]
    for name, allowed in query.values.items():
        rows = [{**row, name: value} for row in rows for value in sorted(allowed)]
    left = list(query.patterns)
    while left and rows:
        bound = set(rows[0])
        pattern = min(left, key=lambda one: _cost(one, bound))
        left.remove(pattern)
        rows = _join(rows, pattern, session)
    found = {row[query.wanted] for row in rows}
    return {str(len(found))} if query.count else found


def _tokens(sparql: str) -> Iterator[str]:
    place = 0
    text = sparql.rstrip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise NotPatternsAlone(text[place : place + 20])
        place = found.end()
        if found.lastgroup != "comment":
            yield found[0].strip()


class _Reader:
    """Recursive descent over the tokens of one query."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._blanks = 0

    def query(self) -> PatternQuery:
        while self._peek().upper() == "PREFIX":
            self._at += 3
        self._expect("SELECT")
        query = self._head()
        if self._peek().upper() == "WHERE":
            self._at += 1
        self._expect("{")
        while self._peek() != "}":
            self._block(query)
        self._expect("}")
        if self._at != len(self._tokens):
            raise NotPatternsAlone(self._peek())
        return query

    def _head(self) -> PatternQuery:
        if self._peek().upper() == "DISTINCT":
            self._at += 1
        if self._peek() != "(":
            return PatternQuery(self._variable())
        self._expect("(", "COUNT", "(", "DISTINCT")
        query = PatternQuery(self._variable(), count=True)
        self._expect(")", "AS")
        self._variable()
        self._expect(")")
        return query

    def _block(self, query: PatternQuery) -> None:
        if self._peek().upper() == "VALUES":
            self._at += 1
            name = self._variable()
            self._expect("{")
            query.values[name] = set()
            while self._peek() != "}":
                query.values[name].add(self._item())
            self._expect("}")
        else:
            self._predicates(self._node(query), query)
        if self._peek() == ".":
            self._at += 1

    def _predicates(self, subject: str, query: PatternQuery) -> None:
        while True:
            found = _DIRECT.fullmatch(self._next())
            if found is None:
                raise NotPatternsAlone(self._tokens[self._at - 1])
            query.patterns.append(Pattern(subject, found[1], self._node(query)))
            while self._peek() == ",":
                self._at += 1
                query.patterns.append(Pattern(subject, found[1], self._node(query)))
            if self._peek() != ";":
                return
            self._at += 1
            if self._peek() in (".", "}", "]"):
                return

    def _node(self, query: PatternQuery) -> str:
        token = self._peek()
        if token == "[":
            self._at += 1
            self._blanks += 1
            blank = f"?[{self._blanks}]"
            if self._peek() != "]":
                self._predicates(blank, query)
            self._expect("]")
            return blank
        return self._variable() if token[0] in "?$" else self._item()

    def _variable(self) -> str:
        token = self._next()
        if token[0] not in "?$":
            raise NotPatternsAlone(token)
        return "?" + token[1:]

    def _item(self) -> str:
        token = self._next()
        found = _ENTITY.fullmatch(token)
        if found is None:
            raise NotPatternsAlone(token)
        return found[1]

    def _expect(self, *tokens: str) -> None:
        for token in tokens:
            found = self._next()
            if found.upper() != token:
                raise NotPatternsAlone(found)

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _peek(self) -> str:
        if self._at >= len(self._tokens):
            raise NotPatternsAlone("the end")
        return self._tokens[self._at]


def _cost(pattern: Pattern, bound: set[str]) -> int:
    """Patterns with both ends known first, then known subjects, then known objects."""
    subject = not pattern.subject.startswith("?") or pattern.subject in bound
    object_ = not pattern.object.startswith("?") or pattern.object in bound
    return {(True, True): 0, (True, False): 1, (False, True): 2, (False, False): 3}[
        subject, object_
    ]


def _join(
    rows: list[dict[str, str]], pattern: Pattern, session: GraphSession
) -> list[dict[str, str]]:
    """The rows that satisfy the pattern as well."""
    subjects = [row.get(pattern.subject, pattern.subject) for row in rows]
    objects = [row.get(pattern.object, pattern.object) for row in rows]
    if not subjects[0].startswith("?"):
        known = _objects(set(subjects), pattern.property, session)
        pairs = {one: {(one, value) for value in known[one]} for one in known}
        ends = subjects
    elif not objects[0].startswith("?"):
        known = _subjects(set(objects), pattern.property, session)
        pairs = {one: {(value, one) for value in known[one]} for one in known}
        ends = objects
    else:
        raise NotPatternsAlone("a pattern with two unknown ends")
    joined = []
    for row, end in zip(rows, ends, strict=True):
        for subject, object_ in pairs[end]:
            bound = dict(row)
            for name, value in ((pattern.subject, subject), (pattern.object, object_)):
                if name.startswith("?"):
                    if bound.setdefault(name, value) != value:
                        break
                elif name != value:
                    break
            else:
                joined.append(bound)
    return joined


def _objects(
    subjects: Iterable[str], property_id: str, session: GraphSession
) -> dict[str, set[str]]:
    """The truthy values of a property, by subject."""
    return {
        one: {_plain(s["value"]) for s in entries} - {""}
        for one, entries in _all(session, "claims", "statements", subjects, property_id).items()
    }


def _subjects(
    objects: Iterable[str], property_id: str, session: GraphSession
) -> dict[str, set[str]]:
    """The items that link to each object through a property."""
    pages = _all(session, "edges", "edges", objects, property_id, direction="in")
    return {one: {edge["entity"] for edge in entries} for one, entries in pages.items()}


def _all(
    session: GraphSession,
    function: str,
    key: str,
    ids: Iterable[str],
    property_id: str,
    **arguments: Any,
) -> dict[str, list[Any]]:
    """Every entry for each id, over all pages; an id that the graph lacks has none."""
    found: dict[str, list[Any]] = {one: [] for one in ids if one.startswith("Q")}
    asked, offset = sorted(found), 0
    while asked:
        answers = session.call(
            function, asked, property=property_id, limit=_PAGE, offset=offset, **arguments
        )
        for one, answer in answers.items():
            found[one] += answer.get(key, ())
        asked = [one for one, answer in answers.items() if answer.get("next_offset") is not None]
        offset += _PAGE
    return {one: found.get(one, []) for one in ids}


def _plain(value: dict[str, Any]) -> str:
    """A value as the gold answers have it; nothing for unknown and no value."""
    if value["type"] == "time":
        zeros, rest = _CUT.get(value["precision"], (0, ""))
        return f"{value['time'].lstrip('+')}{'0' * zeros}{rest}T00:00:00Z"
    if value["type"] == "quantity":
        return str(value["amount"])
    return str(value.get("id") or value.get("text") or "")

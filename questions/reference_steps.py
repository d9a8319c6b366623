"""The reference solver's own functions. Their source is sent into the kernel, a few a turn.

They use what a kernel offers (the graph functions by name, the standard library) and nothing else.
Node names are those of the question graph: ``target``, ``v1``, or the id of a named entity.
"""

from __future__ import annotations

from typing import Any

# Declarations alone: in a kernel these names are the run's own functions.
from kg_functions.declarations import (
    claims,
    count_edges,
    edges,
    name,
    search_entity,
    search_property,
)


def find(search: Any, text: str, wanted: str) -> dict[str, Any]:
    """The match with the wanted id, reading the matches of a name page by page."""
    offset = 0
    while offset is not None:
        page = search(text, limit=100, offset=offset)
        for match in page["matches"]:
            if match["id"] == wanted:
                return dict(match)
        offset = page["next_offset"]
    raise LookupError(f"none of the matches of {text!r} is {wanted}")


def find_entities(wanted: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The matches of the named entities by id."""
    entities = {}
    for identifier, text in wanted.items():
        match = entities[identifier] = find(search_entity, text, identifier)
        print(f"{match['label']} ({identifier}): {match['description']}")
    return entities


def find_properties(wanted: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The matches of the properties by id."""
    properties = {}
    for identifier, text in wanted.items():
        match = properties[identifier] = find(search_property, text, identifier)
        print(f"{match['label']} ({identifier}), {match['datatype']}")
    return properties


def all_rows(function: Any, rows: str, ids: list[str], **arguments: Any) -> dict[str, list[Any]]:
    """Every row of a paged function by id, asked for many ids at once."""
    found: dict[str, list[Any]] = {identifier: [] for identifier in ids}
    for start in range(0, len(ids), 200):
        waiting, offset = ids[start : start + 200], 0
        while waiting:
            pages = function(waiting, limit=1000, offset=offset, **arguments)
            for identifier in waiting:
                if "error" in pages[identifier]:
                    raise LookupError(f"{identifier}: {pages[identifier]['error']}")
                found[identifier] += pages[identifier][rows]
            waiting = [i for i in waiting if pages[i]["next_offset"] is not None]
            offset += 1000
    return found


def neighbours(ids: set[str], direction: str, property: str) -> dict[str, set[str]]:
    """The entities that a property links with each of the ids."""
    rows = all_rows(edges, "edges", sorted(ids), direction=direction, property=property)
    return {identifier: {edge["entity"] for edge in found} for identifier, found in rows.items()}


def follow(
    conditions: list[tuple[str, str, str]], entities: dict[str, Any], properties: dict[str, Any]
) -> tuple[dict[str, set[str]], list[dict[str, set[str]]]]:
    """Follow the conditions, always the one that needs the fewest links next.

    Returns the candidates of every node, and for each condition its links as
    {subject: {objects}} between candidates.
    """
    candidates = {identifier: {identifier} for identifier in entities}
    links: list[dict[str, set[str]]] = [{} for _ in conditions]
    incoming: dict[int, int] = {}
    waiting, done = list(range(len(conditions))), []
    while waiting:
        costs = [(*cost(i, conditions[i], candidates, incoming), i) for i in waiting]
        _, direction, number = min(costs)
        subject, property, value = conditions[number]
        known = subject if direction == "out" else value
        found = neighbours(candidates[known], direction, property)
        pairs = [(a, b) if direction == "out" else (b, a) for a in found for b in found[a]]
        for start, end in pairs:
            links[number].setdefault(start, set()).add(end)
        waiting.remove(number)
        done.append(number)
        narrow(conditions, links, done, candidates)
        left = ", ".join(f"{len(candidates[node])} for {node}" for node in (subject, value))
        print(f"{subject} --{properties[property]['label']}--> {value}: {len(pairs)} links, {left}")
    return candidates, links


def cost(
    number: int,
    condition: tuple[str, str, str],
    candidates: dict[str, set[str]],
    incoming: dict[int, int],
) -> tuple[float, str]:
    """How many links a condition needs at most, and from which end it is read."""
    subject, property, value = condition
    outgoing = len(candidates[subject]) if subject in candidates else float("inf")
    # Counting asks once for each candidate: only where that is less than reading the other end.
    if number not in incoming and value in candidates and len(candidates[value]) < outgoing:
        counts = count_edges(sorted(candidates[value]), property=property)
        incoming[number] = sum(count["in"] for count in counts.values())
    return min((outgoing, "out"), (incoming.get(number, float("inf")), "in"))


def narrow(
    conditions: list[tuple[str, str, str]],
    links: list[dict[str, set[str]]],
    done: list[int],
    candidates: dict[str, set[str]],
) -> None:
    """Drop candidates and links that a followed condition excludes, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for i in done:
            subject, _, value = conditions[i]
            starts = candidates.get(subject, set(links[i]))
            kept = {s: ends & candidates.get(value, ends) for s, ends in links[i].items()}
            kept = {s: ends for s, ends in kept.items() if s in starts and ends}
            changed = changed or kept != links[i]
            links[i] = kept
            candidates[subject] = set(links[i])
            candidates[value] = set().union(*links[i].values())


def complete(
    bound: dict[str, str],
    waiting: list[int],
    conditions: list[tuple[str, str, str]],
    links: list[dict[str, set[str]]],
) -> dict[str, str] | None:
    """One entity for every node such that all conditions hold together, or None."""
    if not waiting:
        return bound
    i = next(i for i in waiting if conditions[i][0] in bound or conditions[i][2] in bound)
    subject, _, value = conditions[i]
    rest = [j for j in waiting if j != i]
    for start in [bound[subject]] if subject in bound else sorted(links[i]):
        for end in sorted(links[i].get(start, ())):
            if bound.get(value, end) == end:
                found = complete({**bound, subject: start, value: end}, rest, conditions, links)
                if found is not None:
                    return found
    return None


def check(
    conditions: list[tuple[str, str, str]],
    candidates: dict[str, set[str]],
    links: list[dict[str, set[str]]],
    target: str,
) -> list[dict[str, str]]:
    """For every candidate of the target that meets all conditions together, how it does."""
    numbers = list(range(len(conditions)))
    tried = (
        complete({target: one}, numbers, conditions, links)
        for one in sorted(candidates[target], key=lambda identifier: int(identifier[1:]))
    )
    solutions = [solution for solution in tried if solution is not None]
    print(f"{len(solutions)} of {len(candidates[target])} candidates meet all conditions.")
    if not solutions:
        raise LookupError("no entity meets all conditions")
    names: Any = name(sorted({*solutions[0].values(), *(c[1] for c in conditions)}))
    for subject, property, value in conditions:
        start, end = solutions[0][subject], solutions[0][value]
        print(f"  {names[start]} ({start}) --{names[property]}--> {names[end]} ({end})")
    return solutions


def text_asked(target: str) -> str:
    """The target's label, or its id where it has none."""
    return name(target) or target


def values_of(
    entity: str, property: str, kind: str, qualifier: str | None = None, value: str | None = None
) -> list[dict[str, Any]]:
    """Values of a property (of statements with that value: of a qualifier), of one kind."""
    found = []
    for statement in all_rows(claims, "statements", [entity], property=property)[entity]:
        if value is not None and statement["value"].get("id") != value:
            continue
        values = [statement["value"]]
        if qualifier is not None:
            values = [q["value"] for q in statement["qualifiers"] if q["property"] == qualifier]
        found += [v for v in values if v["type"] == kind]
        print(f"{statement['id']}: {values}")
    if not found:
        raise LookupError(f"{entity} has no {kind} value for {property}")
    return found


def year_asked(
    target: str, property: str, qualifier: str | None = None, value: str | None = None
) -> int:
    """The year of a property or qualifier of the target."""
    dates = values_of(target, property, "time", qualifier, value)
    years = [date["year"] for date in dates if date["year"] is not None]
    if not years:
        raise LookupError("the dates are coarser than a year")
    return int(years[0])


def quantity_asked(target: str, property: str) -> dict[str, Any]:
    """Amount and unit of a property of the target."""
    value = values_of(target, property, "quantity")[0]
    return {"amount": value["amount"], "unit": value["unit"]}


def group_asked(target: str, direction: str, property: str) -> list[str]:
    """The members of a group round the target."""
    members = neighbours({target}, direction, property)[target]
    return sorted(members, key=lambda identifier: int(identifier[1:]))


def count_asked(target: str, direction: str, property: str) -> int:
    """How many members a group round the target has."""
    return len(group_asked(target, direction, property))


def size(value: dict[str, Any]) -> tuple[Any, ...] | None:
    """What values are ordered by: a date's year, month and day, or an amount; None for neither."""
    from decimal import Decimal

    if value["type"] == "quantity":
        return (value["unit"], Decimal(value["amount"]))
    if value["type"] == "time" and value["year"] is not None:
        later = value["time"].lstrip("+-").split("T")[0].split("-")[1:]
        return (value["year"], *(int(part) for part in later))
    return None


def extreme_asked(
    target: str, direction: str, property: str, value_property: str, highest: bool
) -> str:
    """The member of a group with the highest (latest) or lowest (earliest) value."""
    members = group_asked(target, direction, property)
    rows = all_rows(claims, "statements", members, property=value_property)
    sizes = [(size(row["value"]), member) for member in members for row in rows[member]]
    ordered = sorted((s, member) for s, member in sizes if s is not None)
    if not ordered or len({row["value"].get("unit") for m in members for row in rows[m]}) > 1:
        raise LookupError("the members have no values, or values in different units")
    print(f"{len(members)} members, {len(ordered)} values: {ordered[:2]} ... {ordered[-2:]}")
    return ordered[-1 if highest else 0][1]

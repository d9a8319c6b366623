"""Results of graph functions and manifests as tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from kg_functions.rendering import named, printable, value_text
from wikidata_rlm.console import Terminal

if TYPE_CHECKING:
    from kg_functions.manifest import Manifest


def show_result(function: str, result: Any) -> None:
    """Print one function's result, or one result an id where a list was asked."""
    console = Terminal(soft_wrap=False)
    if isinstance(result, dict) and result and all(_is_id(key) for key in result):
        for key, one in result.items():
            console.print(key, style="bold", highlight=False)
            _show(console, function, one)
    else:
        _show(console, function, result)


def _is_id(key: object) -> bool:
    return isinstance(key, str) and key[:1] in {"Q", "P"} and key[1:].isdigit()


def _show(console: Terminal, function: str, result: Any) -> None:
    if not isinstance(result, dict):
        console.print("(none)" if result is None else str(result), highlight=False, markup=False)
    elif set(result) == {"error"}:
        console.print(result["error"], style="red", markup=False)
    elif "matches" in result:
        _matches(console, result)
    elif "statements" in result:
        _statements(console, result, references=function == "references")
    elif "edges" in result:
        _edges(console, result)
    elif "by_property" in result:
        _counts(console, result)
    else:
        _fields(console, result)


class _Table(Table):
    """A table whose cells a terminal shows and does not obey."""

    def add_row(self, *cells: Any, **options: Any) -> None:
        super().add_row(*(printable(c) if isinstance(c, str) else c for c in cells), **options)


def _table(*columns: str) -> Table:
    table = _Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _footer(console: Terminal, result: dict[str, Any], shown: int) -> None:
    more = f"; next page: offset={result['next_offset']}" if result["next_offset"] else ""
    console.print(f"{shown} of {result['total']}{more}", style="dim", highlight=False)


def _matches(console: Terminal, result: dict[str, Any]) -> None:
    table = _table("id", "label", "description", "matched")
    for match in result["matches"]:
        found = f"{match['matched']} {match['matched_text']} ({match['language']})"
        table.add_row(match["id"], match["label"] or "", match["description"] or "", found)
    console.print(table, markup=False)
    _footer(console, result, len(result["matches"]))


def _statements(console: Terminal, result: dict[str, Any], *, references: bool) -> None:
    table = _table("property", "value", "references" if references else "rank", "")
    for statement in result["statements"]:
        if references:
            sources = "\n".join(_snaks(reference) for reference in statement["references"])
            extra = (sources, "")
        else:
            extra = (statement["rank"], _snaks(statement["qualifiers"]))
        property_name = named(statement["property"], statement["property_label"])
        table.add_row(property_name, value_text(statement["value"]), *extra)
    console.print(table, markup=False)
    _footer(console, result, len(result["statements"]))


def _snaks(snaks: list[dict[str, Any]]) -> str:
    return "; ".join(
        f"{snak['property_label'] or snak['property']}: {value_text(snak['value'])}"
        for snak in snaks
    )


def _edges(console: Terminal, result: dict[str, Any]) -> None:
    table = _table("", "property", "entity")
    for edge in result["edges"]:
        arrow = "->" if edge["direction"] == "out" else "<-"
        property_name = named(edge["property"], edge["property_label"])
        table.add_row(arrow, property_name, named(edge["entity"], edge["label"]))
    console.print(table, markup=False)
    _footer(console, result, len(result["edges"]))


def _counts(console: Terminal, result: dict[str, Any]) -> None:
    table = _table("property", "out", "in")
    for key, counts in result["by_property"].items():
        table.add_row(named(key, counts["label"]), str(counts["out"]), str(counts["in"]))
    console.print(table, markup=False)
    console.print(f"in all: {result['out']} out, {result['in']} in", style="dim", highlight=False)


def _fields(console: Terminal, result: dict[str, Any]) -> None:
    table = _table("", "")
    table.show_header = False
    for key, value in result.items():
        table.add_row(key, _field_text(value))
    console.print(table, markup=False)


def _field_text(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_field_text(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        return ", ".join(
            named(entry["id"], entry["label"]) if isinstance(entry, dict) else str(entry)
            for entry in value
        )
    return str(value)


def show_manifest(manifest: Manifest) -> None:
    """Print a graph folder's manifest."""
    Terminal().print(_manifest_table(manifest.model_dump()), markup=False, highlight=False)


def _manifest_table(fields: dict[str, Any]) -> Table:
    table = _table("", "")
    table.show_header = False
    for key, value in fields.items():
        table.add_row(key.replace("_", " "), _manifest_text(value))
    return table


def _manifest_text(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "\n".join(f"{key}: {_manifest_text(entry)}" for key, entry in value.items()) or "none"
        )
    if isinstance(value, (list, tuple)):
        return "\n".join(_manifest_text(entry) for entry in value) or "none"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)

"""``wikidata-rlm graph``: build a graph folder, look at one, call a function on any graph."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(help="Build graphs, look at them, call functions on them.", no_args_is_help=True)

GRAPH_HELP = "demo, a graph folder, or an endpoint's http(s)://... address."
LABELS_HELP = "Graph folder whose label index and adjacency are used with an endpoint."


@app.command("build")
def build(
    inputs: list[Path] = typer.Argument(
        help="Wikidata entity JSON or RDF files (plain, .gz, .bz2 or .zst)."
    ),
    out: Path = typer.Option(..., "--out", help="The graph folder to make."),
    jobs: int = typer.Option(0, "--jobs", min=0, help="Worker processes; 0: one a core."),
    snapshot: str = typer.Option("", "--snapshot", help="A name for the data, kept in traces."),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an existing graph folder."),
    quiet: bool = typer.Option(False, "--quiet", help="Show no progress."),
) -> None:
    """Build a graph folder from a dump.

    Example: wikidata-rlm graph build dump.json.zst --out graphs/slice --jobs 2
    """
    from wikidata_rlm.building import build_with_progress

    build_with_progress(
        inputs, out, jobs=jobs, snapshot=snapshot or None, overwrite=overwrite, quiet=quiet
    )


@app.command("info")
def info(
    folder: Path = typer.Argument(help="A graph folder."),
    as_json: bool = typer.Option(False, "--json", help="Print the manifest as JSON."),
) -> None:
    """Show what a graph folder holds.

    Example: wikidata-rlm graph info graphs/slice
    """
    from kg_functions.manifest import load_manifest
    from wikidata_rlm.tables import show_manifest

    manifest = load_manifest(folder)
    if as_json:
        typer.echo(manifest.model_dump_json(indent=2))
    else:
        show_manifest(manifest)


@app.command("call", context_settings={"ignore_unknown_options": False})
def call(
    function: str = typer.Argument(help="One of the 13 functions, e.g. claims."),
    arguments: list[str] = typer.Argument(
        None, help="In order, or as name=value; several ids: Q1,Q2."
    ),
    graph: str = typer.Option("demo", "--graph", help=GRAPH_HELP),
    labels: Path | None = typer.Option(None, "--labels", help=LABELS_HELP),
    as_json: bool = typer.Option(False, "--json", help="Print the result as JSON."),
) -> None:
    """Call one graph function.

    Examples: wikidata-rlm graph call search_entity "Max Planck";
    wikidata-rlm graph call edges Q64 direction=in limit=5
    """
    import json

    from kg_functions.opening import open_graph
    from kg_functions.session import GraphSession
    from wikidata_rlm.arguments import parse_arguments
    from wikidata_rlm.tables import show_result

    args, kwargs = parse_arguments(function, arguments or [])
    opened = open_graph(graph, labels=labels, notice=lambda text: typer.echo(text, err=True))
    try:
        result = GraphSession(opened).call(function, *args, **kwargs)
    finally:
        opened.close()
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        show_result(function, result)

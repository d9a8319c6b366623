"""The command ``wikidata-rlm``: one small file a command, and one place where errors become lines.

Nothing heavy is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys

import typer

from wikidata_rlm import ask, doctor, graph

app = typer.Typer(
    name="wikidata-rlm",
    help="Let language models answer questions by exploring a knowledge graph.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("ask")(ask.ask)
app.command("doctor")(doctor.doctor)
app.add_typer(graph.app, name="graph")


@app.callback(invoke_without_command=True)
def options(
    version: bool = typer.Option(False, "--version", help="Show the version and exit."),
) -> None:
    """Let language models answer questions by exploring a knowledge graph."""
    if version:
        from traces.version import code_version

        typer.echo(f"wikidata-rlm {code_version()}")
        raise typer.Exit


def main() -> None:
    """Run the command line; bad input ends in one line on stderr and exit code 2."""
    from wikidata_rlm.failing import expected_errors

    try:
        app()
    except expected_errors() as error:
        typer.echo(f"wikidata-rlm: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        from wikidata_rlm.console import let_stdout_go

        let_stdout_go()
        sys.exit(1)


if __name__ == "__main__":
    main()

"""Plays a bundled question and saves what the terminal shows as ``docs/images/demo.svg``.

Run from the repository's root: ``python docs/record_demo.py``.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path

from rich.console import Console

from traces.records import Limits
from wikidata_rlm.asking import AskRequest, run_ask

PICTURE = Path(__file__).resolve().parent / "images" / "demo.svg"
COLUMNS = 100


def main() -> None:
    """Play and record."""
    console = Console(
        record=True,
        width=COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        force_interactive=False,
    )
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        request = AskRequest(
            text="",
            demo=True,
            pick=2,
            graph="demo",
            labels=None,
            model="",
            api_base=None,
            temperature=None,
            reasoning_effort=None,
            max_output_tokens=None,
            answer=None,
            out=Path("runs/demo"),
            no_sandbox=False,
            limits=Limits(),
        )
        run_ask(request, as_json=False, console=console)
    PICTURE.parent.mkdir(exist_ok=True)
    console.save_svg(str(PICTURE), title="wikidata-rlm ask --demo --pick 2")


if __name__ == "__main__":
    main()

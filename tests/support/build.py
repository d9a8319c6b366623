"""A build as a program of its own: ``python -m tests.support.build INPUT OUT JOBS``."""

from __future__ import annotations

import sys
from pathlib import Path

from kg_functions.build.pipeline import build_graph

if __name__ == "__main__":
    build_graph([Path(sys.argv[1])], Path(sys.argv[2]), jobs=int(sys.argv[3]))

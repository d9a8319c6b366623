"""The bundled demo graph: hand-written tables, built into a graph folder at first use."""

from __future__ import annotations

from kg_functions.demo.folder import demo_graph_folder

__all__ = ["demo_graph_folder"]

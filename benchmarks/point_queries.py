"""Latency of point queries over the two HTTP transports, on one oxigraph server.

Run: ``python -m benchmarks.point_queries [--graph FOLDER] [--queries 400] [--json]``. Without a
folder the bundled demo graph is served. Each query asks for the English label of another random
item; the transports take turns, so that a busy machine slows both down alike.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kg_functions.adjacency import Adjacency
from kg_functions.engines.http import http_engine
from kg_functions.engines.sparqlwrapper import sparqlwrapper_engine
from kg_functions.manifest import ADJACENCY_NAME, STORE_NAME, load_manifest
from kg_functions.rdf import RDFS, WD
from tests.support.sparql_servers import oxigraph_server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg_functions.engines.protocol import SparqlEngine

LABEL = """
SELECT ?label WHERE {
  VALUES ?item { $item }
  ?item $predicate ?label .
  FILTER(LANG(?label) = "en")
}
LIMIT 10
"""
WARM_UP = 30


def main() -> None:
    """Serve the graph, ask, print."""
    arguments = _arguments()
    folder = arguments.graph or _demo()
    items = Adjacency.open(folder / ADJACENCY_NAME).ids
    chosen = random.Random(arguments.seed).choices(range(len(items)), k=arguments.queries + WARM_UP)
    queries = [_query(int(items[place])) for place in chosen]
    with oxigraph_server(folder / STORE_NAME) as url:
        engines: dict[str, SparqlEngine] = {
            "httpx": http_engine(url),
            "sparqlwrapper": sparqlwrapper_engine(url),
        }
        seconds = measure(engines, queries)
        for engine in engines.values():
            engine.close()
    _show(seconds, load_manifest(folder).snapshot, as_json=arguments.json)


def measure(engines: dict[str, SparqlEngine], queries: Sequence[str]) -> dict[str, list[float]]:
    """Seconds of each query after the warm-up, by engine."""
    seconds: dict[str, list[float]] = {name: [] for name in engines}
    for place, query in enumerate(queries):
        for name, engine in engines.items():
            began = time.perf_counter()
            engine.select(query)
            if place >= WARM_UP:
                seconds[name].append(time.perf_counter() - began)
    return seconds


def _query(number: int) -> str:
    return LABEL.replace("$item", f"<{WD}Q{number}>").replace("$predicate", f"<{RDFS}label>")


def _show(seconds: dict[str, list[float]], snapshot: str, *, as_json: bool) -> None:
    rows = {
        name: {
            "median_ms": round(statistics.median(taken) * 1000, 3),
            "p95_ms": round(statistics.quantiles(taken, n=20)[-1] * 1000, 3),
            "queries": len(taken),
        }
        for name, taken in seconds.items()
    }
    ratio = round(rows["sparqlwrapper"]["median_ms"] / rows["httpx"]["median_ms"], 2)
    if as_json:
        print(json.dumps({"snapshot": snapshot, "transports": rows, "ratio": ratio}))
        return
    print(f"{snapshot}: one label by id, median and 95th percentile")
    for name, row in rows.items():
        print(f"  {name:14} {row['median_ms']:7.2f} ms {row['p95_ms']:7.2f} ms")
    print(f"  sparqlwrapper takes {ratio} times as long as httpx")


def _demo() -> Path:
    from kg_functions.demo import demo_graph_folder

    return demo_graph_folder()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", type=Path, help="a graph folder; by default the demo graph")
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


if __name__ == "__main__":
    main()

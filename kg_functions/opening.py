"""Opening a graph by the name a person gives it: a folder, an endpoint, ``demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from kg_functions.errors import BackendError, GraphSetupError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg_functions.engines.protocol import SparqlEngine
    from kg_functions.graph import Graph
    from kg_functions.wikidata.graph import WikidataGraph
    from kg_functions.wikidata.later import LaterAdjacency, LaterLabelIndex
    from kg_functions.wikidata.probe import Form

DEMO: Final = "demo"
STARK_PREFIX: Final = "stark:"
TRANSPORTS: Final = ("httpx", "sparqlwrapper")

_HTTP_PREFIXES: Final = ("http://", "https://")


def open_graph(
    spec: str | Path,
    *,
    labels: Path | None = None,
    transport: str = TRANSPORTS[0],
    notice: Callable[[str], None] | None = None,
) -> Graph:
    """Open a graph for reading.

    Args:
        spec: ``demo``, a graph folder, or an endpoint's ``http(s)://`` address.
        labels: for an endpoint, a graph folder of the same data whose label index and adjacency
            are used.
        transport: for an endpoint, ``httpx`` or ``sparqlwrapper``.
        notice: called with a line for the user: what an endpoint holds and how it will be read,
            and where a slower or poorer way is taken.

    Raises:
        GraphSetupError: with one line that says what is wrong and what to do.
    """
    text = str(spec)
    if text.startswith(_HTTP_PREFIXES):
        return _open_endpoint(text, labels, transport, notice)
    if labels is not None:
        raise GraphSetupError("--labels goes with an endpoint; a graph folder brings its own.")
    if text.startswith(STARK_PREFIX):
        raise GraphSetupError("STaRK graphs are not available in this version.")
    if text == DEMO:
        from kg_functions.demo import demo_graph_folder

        return _open_folder(demo_graph_folder(), notice)
    return _open_folder(Path(spec), notice)


def _open_folder(folder: Path, notice: Callable[[str], None] | None) -> WikidataGraph:
    from kg_functions.engines.embedded import EmbeddedEngine
    from kg_functions.manifest import STORE_NAME, load_manifest
    from kg_functions.wikidata.graph import WikidataGraph

    manifest = load_manifest(folder)
    label_index, adjacency = _open_parts(folder)
    engine: SparqlEngine
    if STORE_NAME in manifest.parts:
        engine = EmbeddedEngine.open(folder / STORE_NAME)
    elif manifest.endpoint is not None:
        engine, _ = _reach(manifest.endpoint, TRANSPORTS[0])
    else:
        raise GraphSetupError(f"{folder} has neither a store nor an endpoint: build it again.")
    return WikidataGraph(engine, label_index, adjacency, manifest.snapshot, notice)


def _open_endpoint(
    url: str, labels: Path | None, transport: str, notice: Callable[[str], None] | None
) -> WikidataGraph:
    from kg_functions.wikidata.graph import WikidataGraph
    from kg_functions.wikidata.probe import capabilities

    label_index, adjacency = _open_parts(labels) if labels is not None else (None, None)
    if labels is not None and label_index is None:
        raise GraphSetupError(f"{labels} has no label index: give a graph folder that has one.")
    engine, form = _reach(url, transport)
    if notice is not None:
        has_labels, has_links = label_index is not None, adjacency is not None
        notice(capabilities(engine.address, form, labels=has_labels, adjacency=has_links))
    # That names are found exactly has been said.
    return WikidataGraph(engine, label_index, adjacency)


def _open_parts(folder: Path) -> tuple[LaterLabelIndex | None, LaterAdjacency | None]:
    """The label index and the adjacency of a graph folder, as far as its manifest names them."""
    from kg_functions.manifest import ADJACENCY_NAME, LABELS_NAME, load_manifest
    from kg_functions.wikidata.later import LaterAdjacency, LaterLabelIndex

    parts = load_manifest(folder).parts
    return (
        LaterLabelIndex(folder / LABELS_NAME) if LABELS_NAME in parts else None,
        LaterAdjacency(folder / ADJACENCY_NAME) if ADJACENCY_NAME in parts else None,
    )


def _reach(url: str, transport: str) -> tuple[SparqlEngine, Form | None]:
    """An engine for an endpoint that answers and holds Wikidata's model, and in which form."""
    from kg_functions.wikidata.probe import check_model

    engine = _engine(url, transport)
    try:
        form = check_model(engine)
    except BackendError as error:
        engine.close()
        raise GraphSetupError(str(error)) from error
    except BaseException:
        engine.close()
        raise
    return engine, form


def _engine(url: str, transport: str) -> SparqlEngine:
    if transport == "httpx":
        from kg_functions.engines.http import http_engine

        return http_engine(url)
    if transport == "sparqlwrapper":
        from kg_functions.engines.sparqlwrapper import sparqlwrapper_engine

        return sparqlwrapper_engine(url)
    raise GraphSetupError(f"transport must be one of {', '.join(TRANSPORTS)}, not {transport!r}.")

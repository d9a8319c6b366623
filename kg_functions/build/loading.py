"""Loading a stream of N-Triples into an RDF store."""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kg_functions.errors import GraphSetupError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    import pyoxigraph

_SECONDS_BETWEEN: Final = 0.1
_NOT_A_TRIPLE: Final = b"\n.\n"


class StoreLoader:
    """A store that is filled while triples come in.

    The bulk load reads from a pipe in a thread of its own: the caller writes, which waits while
    the store is behind, and stays open to Ctrl-C. Used as a context manager; after an error the
    load is cut off, and the store's folder is removed where the load was sorting what it had read.

    Args:
        folder: of the new store.

    Attributes:
        store: the store; only ``finish`` makes sure that everything is in it.
    """

    def __init__(self, folder: Path) -> None:
        import pyoxigraph

        self._folder = folder
        self.store: pyoxigraph.Store = pyoxigraph.Store(str(folder))
        self._error: BaseException | None = None
        self._read_end, self._write_end = os.pipe()
        self._thread = threading.Thread(target=self._load, name="bulk load")
        self._thread.start()

    def write(self, triples: bytes) -> None:
        """Hand N-Triples, in whole lines, to the store.

        Raises:
            GraphSetupError: where the store gave up.
        """
        view = memoryview(triples)
        try:
            while view:
                view = view[os.write(self._write_end, view) :]
        except BrokenPipeError:
            self.finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.finish()
            return
        if self._write_end < 0:
            self._fail_load()
            return
        # A syntax error ends the load at once; an end of file would have it finish properly.
        with suppress(OSError):  # raised where it has ended already
            os.write(self._write_end, _NOT_A_TRIPLE)
        self.end_input()
        self._thread.join()

    def end_input(self) -> None:
        """Say that nothing more is coming; the store goes on loading meanwhile."""
        if self._write_end >= 0:
            os.close(self._write_end)
            self._write_end = -1

    def finish(self) -> pyoxigraph.Store:
        """Wait until everything written is in the store.

        Raises:
            GraphSetupError: where the store gave up.
        """
        self.end_input()
        self._thread.join()
        if self._error is not None:
            reason = " ".join(str(self._error).split())
            raise GraphSetupError(f"The RDF store cannot be written: {reason}") from self._error
        return self.store

    def _fail_load(self) -> None:
        """End a load that has all its input: nothing stops it but that it can write no more."""
        while self._thread.is_alive():
            shutil.rmtree(self._folder, ignore_errors=True)
            self._thread.join(_SECONDS_BETWEEN)

    def _load(self) -> None:
        import pyoxigraph

        try:
            self.store.bulk_load(
                path=f"/dev/fd/{self._read_end}",
                format=pyoxigraph.RdfFormat.N_TRIPLES,
                lenient=True,
            )
        except BaseException as error:
            self._error = error
        finally:
            os.close(self._read_end)

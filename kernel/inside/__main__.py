"""Starts the kernel: ``__main__.py CONNECTION_FILE DESCRIPTOR SPOOL_FOLDER``.

Run by path, since the kernel's environment says nothing of where this package lies.
"""

from __future__ import annotations

import importlib.util
import socket
import sys
import warnings
from pathlib import Path


def main(connection_file: str, descriptor: int, spool: Path) -> None:
    """Serve the harness until it ends this process.

    Args:
        connection_file: Jupyter's file of sockets and key.
        descriptor: the inherited connection to the harness.
        spool: folder for the whole output of cells.
    """
    # ipykernel loads a debugger where it finds one: a fifth of the start, and never used.
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    from ipykernel.kernelapp import IPKernelApp

    from kernel.inside import helpers
    from kernel.inside.capture import mark_threads
    from kernel.inside.cells import Cells
    from kernel.inside.connection import Connection
    from kernel.inside.namespace import Namespace
    from kernel.inside.shell import CellKernel, refuse_input

    sock = socket.socket(fileno=descriptor)
    sock.set_inheritable(False)
    connection = Connection(sock)
    app = IPKernelApp.instance(kernel_class=CellKernel, connection_file=connection_file)
    app.capture_fd_output = False
    app.ignore_cwd = True
    app.initialize(["--HistoryManager.enabled=False", "--Application.log_level=CRITICAL"])
    sys.path.append("")  # a file the model writes can be imported, but hides no other module
    mark_threads()
    refuse_input()
    warnings.filterwarnings("ignore", message="To exit:")  # IPython's advice after SystemExit

    hello = connection.call("hello")
    shell = app.kernel.shell
    namespace: Namespace
    given = helpers.build(connection.call, hello, lambda name: namespace.lookup(name))
    given["exit"] = given["quit"] = helpers.leave
    namespace = Namespace(shell.user_ns, given)
    cells = Cells(connection.call, namespace, spool, hello["output_limit"])
    app.kernel.attach(cells)
    cells.settle()
    connection.call("ready")
    app.start()


def _load_package() -> None:
    """Make this package importable, but nothing that lies beside it."""
    folder = Path(__file__).resolve().parents[1]
    spec = importlib.util.spec_from_file_location(
        folder.name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[folder.name] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    del sys.path[0]  # this folder
    _load_package()
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))

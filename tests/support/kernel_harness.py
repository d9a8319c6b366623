"""A harness that a test ends in different ways: ``kernel_harness.py FOLDER ENDING [LEVEL]``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from kernel.confinement.choose import launcher_of
from kernel.ipython_kernel import IPythonInterpreter

if __name__ == "__main__":
    folder, ending = Path(sys.argv[1]), sys.argv[2]
    launcher = launcher_of(sys.argv[3] if len(sys.argv) > 3 else "none")
    interpreter = IPythonInterpreter(
        {}, folder=folder / "outputs", cell_seconds=300, launcher=launcher
    )
    print(interpreter.run((folder / "code.py").read_text()).output, end="", flush=True)
    if ending == "exception":
        raise RuntimeError("the harness fails")
    if ending == "ctrl-c in a block":
        interpreter.run("import time; time.sleep(300)")
    time.sleep(300)

"""Output is cut head and tail with an exact count, and nothing of it is lost (B9-B12)."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.headtail import HeadTail, shorten
from kernel.inside import capture
from kernel.inside.capture import Cell, Output, OutputStream
from kernel.inside.display import show
from kernel.inside.tracebacks import render, summary
from kernel.outputs import collect, shorten_file

if TYPE_CHECKING:
    from pathlib import Path


@given(st.lists(st.text(max_size=30), max_size=30), st.integers(1, 60))
def test_b12_head_and_tail_with_an_exact_count(pieces: list[str], limit: int) -> None:
    cut = HeadTail(limit, "more elsewhere")
    for piece in pieces:
        cut.add(piece)
    whole = "".join(pieces)
    assert cut.total == len(whole)
    if len(whole) <= limit:
        assert cut.text == whole
        assert cut.omitted == 0
    else:
        head, tail = whole[: limit - limit // 2], whole[len(whole) - limit // 2 :]
        left_out = len(whole) - limit
        marker = f"[... {left_out:,} characters left out; more elsewhere ...]"
        assert cut.omitted == left_out
        assert cut.text == f"{head}\n{marker}\n{tail}"


def test_shorten_keeps_short_text() -> None:
    assert shorten("abc", 3) == "abc"
    assert shorten("abcdef", 4) == "ab\n[... 2 characters left out ...]\nef"


def test_everything_lands_in_the_spool_file(tmp_path: Path) -> None:
    spool = tmp_path / "out.txt"
    cell = Cell(10, spool)
    for i in range(1_000):
        cell.write(f"{i}\n")
    cell.write("no newline")
    assert spool.read_text().endswith("999\n")
    cell.close()
    assert spool.read_text() == "".join(f"{i}\n" for i in range(1_000)) + "no newline"
    assert cell.spooled == spool.stat().st_size
    assert cell.shown.omitted == cell.spooled - 10


def test_surrogates_and_nul_become_escapes(tmp_path: Path) -> None:
    spool = tmp_path / "out.txt"
    cell = Cell(100, spool)
    cell.write("a\ud800b\0c é\n")
    cell.close()
    assert cell.shown.text == "a\\ud800b\\x00c é\n"
    assert spool.read_text(encoding="utf-8") == cell.shown.text


def test_past_the_spool_limit_the_end_is_still_kept_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture, "SPOOL_LIMIT", 1_000)
    spool = tmp_path / "out.txt"
    cell = Cell(100, spool)
    for i in range(1_000):
        cell.write(f"{i:04d}\n")
    cell.close()
    assert cell.shown.total == 5_000
    assert cell.shown.omitted == 4_900
    text = spool.read_text()
    assert text.startswith("0000\n")
    assert text.endswith("0999\n")
    assert "3,900 characters left out" in text


def test_a_full_disk_costs_the_file_not_the_cell() -> None:
    if not os.path.exists("/dev/full"):  # noqa: PTH110
        pytest.skip("no /dev/full here")
    from pathlib import Path

    cell = Cell(100, Path("/dev/full"))
    cell.write("one\n")
    cell.write("two\n")
    cell.close()
    assert cell.shown.text == "one\ntwo\n"


def test_b10_output_of_other_cells_is_dropped_and_counted() -> None:
    output = Output()
    stream = OutputStream(output, -1)
    first, second = Cell(100), Cell(100)
    output.open(first)
    print("first", file=stream)
    output.close()
    print("between", file=stream)
    output.open(second)
    late = threading.Thread(target=lambda: print("late", file=stream))
    late._kernel_cell = first  # type: ignore[attr-defined]
    late.start()
    late.join()
    print("second", file=stream)
    stream.flush()
    first.flush()
    assert (first.shown.text, second.shown.text) == ("first\n", "second\n")
    assert output.take_dropped() == len("between\nlate\n")
    assert output.take_dropped() == 0


def test_collect_copies_regular_files_alone(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("gold")
    target = tmp_path / "outputs" / "0001.txt"
    spool = tmp_path / "spool.txt"
    assert not collect(spool, target)
    spool.symlink_to(secret)
    assert not collect(spool, target)
    spool.unlink()
    os.mkfifo(spool)
    assert not collect(spool, target)
    spool.unlink()
    spool.write_text("")
    assert not collect(spool, target)
    assert not target.exists()
    spool.write_text("text")
    assert collect(spool, target)
    assert target.read_text() == "text"
    assert [p.name for p in target.parent.iterdir()] == ["0001.txt"]


def test_a_file_is_shortened_like_text_whatever_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "raw"
    path.write_bytes(b"caf\xc3\xa9 \xff\0" + b"x" * 100)
    shown = shorten_file(path, 20, "")
    assert shown.text.startswith("café \\xff\\")
    assert shown.omitted == len("café \\xff\\x00") + 100 - 20


def test_b11_big_values_are_cut_before_their_text_is_built() -> None:
    assert len(show("x" * 10_000_000)) < 210_000
    assert show("x" * 10_000_000).endswith("... (length 10,000,000)")
    assert "(the display stops here" in show([["y" * 50] * 900] * 900)
    assert show(list(range(100_000))).count("\n") <= 1_001
    assert show({"id": "Q1"}) == "{'id': 'Q1'}"

    class Huge:
        def __repr__(self) -> str:
            raise ValueError("no text")

    with pytest.raises(ValueError, match="no text"):
        show(Huge())


def raised(code: str) -> BaseException:
    try:
        exec(compile(code, "<cell 1>", "exec"), {})
    except BaseException as error:
        return error
    raise AssertionError("no error")


def test_tracebacks_hold_the_models_frames_alone() -> None:
    text = render(raised("import json\ndef f():\n    json.loads('{')\nf()"))
    assert text.count("File ") == 2
    assert "json/decoder" not in text
    assert text.splitlines()[-1].startswith("json.decoder.JSONDecodeError")


def test_deep_recursion_makes_a_short_traceback() -> None:
    text = render(raised("def f(n):\n    return f(n + 1)\nf(0)"))
    assert len(text.splitlines()) < 40
    assert "frames left out" in text
    assert "RecursionError" in text.splitlines()[-1]


def test_causes_are_told_once_and_cycles_end() -> None:
    text = render(raised("try:\n    1/0\nexcept Exception as e:\n    raise KeyError('k') from e"))
    assert text.index("ZeroDivisionError") < text.index("It caused this error") < text.index("Key")
    error = raised("1/0")
    error.__context__ = error
    assert render(error).count("ZeroDivisionError") == 1


@pytest.mark.parametrize(
    "code",
    [
        "class E(Exception):\n    def __str__(self): raise ValueError\nraise E()",
        "class E(Exception):\n    def __str__(self): return 5\nraise E()",
        "raise ExceptionGroup('several', [ValueError(1), KeyError(2)])",
        "raise ValueError('x' * 10_000_000)",
        "def f(:",
        "raise SystemExit",
        "raise KeyboardInterrupt",
    ],
)
def test_no_error_is_beyond_showing(code: str) -> None:
    error = raised(code)
    assert 0 < len(render(error)) < 6_000
    assert 0 < len(summary(error)) < 600
    assert "\n" not in summary(error)


def test_writing_anything_but_text_is_an_error() -> None:
    stream: Any = OutputStream(Cell(10), -1)
    with pytest.raises(TypeError):
        stream.write(b"x")
    stream.close()
    stream.write("still open")
    assert sys.stdout is not stream

"""Which block of a reply is executed (B1, B2, B18, B19)."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlm.reply import parse_reply


@pytest.mark.parametrize("tag", ["python", "py", "repl", "", "Python", "python3"])
def test_b19_every_usual_tag_opens_a_block(tag: str) -> None:
    assert parse_reply(f"Let me look.\n```{tag}\nx = 1\n```\nDone.").code == "x = 1"


@pytest.mark.parametrize("tag", ["json", "text", "sparql", "bash"])
def test_blocks_of_other_languages_are_passed_over(tag: str) -> None:
    reply = f"```{tag}\nnot python\n```\nand\n```python\nx = 1\n```"
    assert parse_reply(reply).code == "x = 1"
    assert parse_reply(f"```{tag}\nnot python\n```").code is None


def test_b19_a_fence_inside_a_string_does_not_end_the_block() -> None:
    code = 'text = """\n```\nnot the end\n```\n"""\nprint(text)'
    parsed = parse_reply(f"```python\n{code}\n```\nprose")
    assert parsed.code == code
    assert not parsed.more


def test_b19_a_longer_fence_holds_shorter_ones() -> None:
    code = "x = '''\n```python\n'''"
    assert parse_reply(f"````python\n{code}\n````").code == code


def test_b19_a_missing_closing_fence_takes_the_rest() -> None:
    parsed = parse_reply("```python\nx = 1\nprint(x)")
    assert parsed.code == "x = 1\nprint(x)"
    assert not parsed.closed


def test_b19_thoughts_are_no_code() -> None:
    reply = "<think>I could\n```python\nFINAL('wrong')\n```\n</think>\n```python\nx = 1\n```"
    assert parse_reply(reply).code == "x = 1"
    assert not parse_reply(reply).more


def test_a_lost_opening_think_tag() -> None:
    reply = "FINAL(1), or rather\nno, wait</think>\n```python\nx = 1\n```"
    assert parse_reply(reply).code == "x = 1"


def test_code_that_mentions_thoughts_stays_whole() -> None:
    code = "s = '<think>q</think>'\nprint('</think>')"
    assert parse_reply(f"So:\n```python\n{code}\n```").code == code


def test_an_imagined_output_is_not_executed() -> None:
    reply = "```\nOutput: 5 items found\n```\n```python\nx = 1\n```"
    assert parse_reply(reply).code == "x = 1"
    assert parse_reply("```\nOutput: 5 items found\n```").code == "Output: 5 items found"


def test_a_reply_of_very_many_blocks_is_parsed_at_once() -> None:
    reply = "```python\nx = 1\n```\n" * 20_000
    parsed = parse_reply(reply)
    assert parsed.code == "x = 1"
    assert parsed.more


def test_a_reply_of_very_many_fences_is_given_up_on() -> None:
    assert parse_reply("```python\nx = (\n" + "```\n" * 20_000).code == "x = ("


def test_b2_only_the_first_block_counts_and_more_is_said() -> None:
    parsed = parse_reply("```python\nprint(1)\n```\nThen\n```python\nFINAL(2)\n```")
    assert parsed.code == "print(1)"
    assert parsed.more


def test_b2_a_first_block_with_a_syntax_error_does_not_swallow_the_second() -> None:
    parsed = parse_reply("```python\nprint(1\n```\nThen\n```python\nFINAL(2)\n```")
    assert parsed.code == "print(1"
    assert parsed.more


@pytest.mark.parametrize(
    "reply", ["", "   \n", "The answer is FINAL(42).", "`FINAL(1)`", "```\n```"]
)
def test_b1_words_and_empty_replies_hold_no_code(reply: str) -> None:
    assert parse_reply(reply).code is None


def test_an_indented_block_of_a_list_item_is_dedented() -> None:
    assert parse_reply("1. Look:\n   ```python\n   for i in x:\n       i\n   ```").code == (
        "for i in x:\n    i"
    )


def test_magics_and_top_level_await_are_left_alone() -> None:
    assert parse_reply("```python\n%time x = 1\n```").code == "%time x = 1"
    assert parse_reply("```python\nawait f()\n```").code == "await f()"


_TEXT_WITH_BACKTICKS = st.lists(
    st.sampled_from(
        ["`", "```", "~", "\n", "a", " ", "'", '"', "\\", "python", "FINAL(1)", "\x0c", "\u2028"]
    ),
    max_size=40,
).map("".join)


@given(_TEXT_WITH_BACKTICKS, _TEXT_WITH_BACKTICKS)
def test_b19_any_source_with_backticks_in_strings_round_trips(first: str, second: str) -> None:
    # repr never spans lines, so triple quotes are tried as well where they are valid.
    code = f"a = {first!r}\nb = {second!r}"
    triple = f'a = """\n{first}\n"""\nb = 1'
    if not _compiles(triple):
        triple = code
    for source in (code, triple):
        # A stray closing quote can make a shorter prefix valid Python: then the prefix is a block
        # in its own right, and no reader could tell.
        if any(
            _compiles("\n".join(source.split("\n")[:n]))
            for n, line in enumerate(source.split("\n"))
            if n and line.strip().startswith("```")
        ):
            continue
        assert parse_reply(f"So:\n```python\n{source}\n```\nbye").code == source


def _compiles(source: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source, "", "exec")
        except SyntaxError:
            return False
    return True


@given(st.text(max_size=200))
def test_any_text_is_parsed_without_an_error(text: str) -> None:
    parse_reply(text)

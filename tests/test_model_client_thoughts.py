"""``<think>`` text is told from what was said (B19)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_client.thoughts import split_thoughts


@pytest.mark.parametrize(
    ("text", "thoughts", "rest"),
    [
        ("Alice.", None, "Alice."),
        ("", None, ""),
        ("  kept as it is\n", None, "  kept as it is\n"),
        ("<think>a</think>b", "a", "b"),
        ("\n <think>\na\n</think>\n\nb\n", "a", "b"),
        ("<thinking>a</thinking>b", "a", "b"),
        ("<think></think>b", None, "b"),
        ("<think>a</think>b\n<think>c</think>\nd", "a\n\nc", "b\n\nd"),
        ("b\n<think>so far", "so far", "b"),
        ("<think>cut", "cut", ""),
        ("a\n</think>\n\nb", "a", "b"),
        ("a</think>\nb", "a", "b"),
        ("a\n</think>b\n<think>c</think>d", "a\n\nc", "b\nd"),
        ("<think>say ```python\nx\n``` so</think>b", "say ```python\nx\n``` so", "b"),
        # Tags that the model speaks of, or writes into code, are no thoughts.
        ("the tag <think> opens", None, "the tag <think> opens"),
        ("I write </think> there", None, "I write </think> there"),
        ('```python\ns = """\n<think>\n"""\n```', None, '```python\ns = """\n<think>\n"""\n```'),
        ('```\ns = """\n</think>\n"""\n```', None, '```\ns = """\n</think>\n"""\n```'),
        ("~~~~\n~~~\n<think>\n~~~~", None, "~~~~\n~~~\n<think>\n~~~~"),
    ],
)
def test_split(text: str, thoughts: str | None, rest: str) -> None:
    assert split_thoughts(text) == (thoughts, rest)


PLAIN = st.text(st.sampled_from("ab \n`~'\"#"), max_size=40).map(lambda text: "x" + text + "x")


@given(thought=PLAIN, said=PLAIN)
def test_any_thought_before_any_reply_comes_apart(thought: str, said: str) -> None:
    assert split_thoughts(f"<think>{thought}</think>{said}") == (thought, said)
    assert split_thoughts(f"<think>{thought}") == (thought, "")


@given(PLAIN)
def test_text_without_tags_is_untouched(text: str) -> None:
    assert split_thoughts(text) == (None, text)


PIECES = st.lists(st.sampled_from(["<think>", "</think>", "```", "\n", "a", " "]), max_size=30)


@given(PIECES.map("".join))
def test_any_mixture_comes_apart_into_its_own_pieces(text: str) -> None:
    thoughts, rest = split_thoughts(text)
    assert len(thoughts or "") + len(rest) <= len(text) + 2 * text.count("<think>")
    assert (thoughts or "").count("a") + rest.count("a") == text.count("a")

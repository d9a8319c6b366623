"""What counts as the same name, and as a word of one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_functions.text_matching import Grade, name_tokens, normalise, parse_search, words
from tests.support import plain_names

letters = st.one_of(
    st.characters(min_codepoint=0x20, max_codepoint=0x17F),
    st.characters(min_codepoint=0x391, max_codepoint=0x45F, categories=["L"]),
    st.characters(min_codepoint=0x620, max_codepoint=0x669, categories=["L", "Mn", "Nd"]),
    st.characters(min_codepoint=0x4E00, max_codepoint=0x4E20),
    st.sampled_from("·’–\u0301\u00a0\u3000，。かカ①²ﬁＡ😂€"),
)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Łódź!", "lodz"),
        ("  New-York\tCITY ", "new york city"),
        ("O’Neill", "o neill"),
        ("Straße", "strasse"),
        ("Ørsted Æsir Œuvre Đà Nẵng", "orsted aesir oeuvre da nang"),
        ("İstanbul ISPARTA ılıca", "istanbul isparta ilica"),
        ("Ёлка Йод", "елка иод"),
        ("أحمد مُحَمَّد", "احمد محمد"),
        ("٢٠١٠ ２０１０", "2010 2010"),
        ("H₂O", "h2o"),
        ("C++", "c + +"),
        ("约翰·史密斯", "约翰史密斯"),
        ("北京 大学", "北京大学"),
        ("ABC北京大学x", "abc 北京大学 x"),
        ("...—'\"«»", ""),
        ("", ""),
    ],
)
def test_normal_forms(text: str, form: str) -> None:
    assert normalise(text) == form


@given(st.text())
def test_a_normal_form_is_its_own(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(letters))
def test_forms_and_words_are_those_of_the_plain_search(text: str) -> None:
    assert normalise(text) == plain_names.form(text)
    assert tuple(words(text)) == plain_names.split(text)


@given(st.text(letters, max_size=8), st.text(letters, max_size=8))
def test_grades_are_those_of_the_plain_search(name: str, text: str) -> None:
    for searched in (text, name, name[: len(name) // 2], text + name[:2]):
        search, key = parse_search(searched), normalise(name)
        if search.key:
            matches = search.grade(key) is not None
            assert matches is plain_names.contains(name, searched)
            if key.startswith(search.key):
                assert search.grade(key) is (Grade.EXACT if key == search.key else Grade.PREFIX)


@given(st.text(letters, max_size=12), st.integers(0, 12))
def test_exact_and_prefix_matches_have_all_words(name: str, cut: int) -> None:
    key = normalise(name)
    search = parse_search(key[:cut])
    if search.key:
        tokens = name_tokens(key)
        assert search.tokens <= tokens
        assert search.prefix is None or any(word.startswith(search.prefix) for word in tokens)


def test_a_search_is_taken_apart() -> None:
    search = parse_search("University of Cal")
    assert (search.tokens, search.prefix) == ({"university", "of"}, "cal")
    search = parse_search("北京大学")
    assert (search.tokens, search.prefix) == ({"北京", "京大", "大学"}, None)
    search = parse_search("new new")
    assert (search.tokens, search.prefix) == ({"new"}, None)
    assert parse_search("?!").key == ""

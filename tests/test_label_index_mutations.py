"""The comparison with a plain search fails as soon as any one rule of finding is switched off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from kg_functions import label_index, label_index_build, text_matching
from kg_functions.label_index_build import LabelIndexWriter
from tests.support.name_samples import disagreements, sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def _keep_accents(patch: pytest.MonkeyPatch) -> None:
    class WithAccents(text_matching._Folding):
        def __missing__(self, code: int) -> str:
            is_accent = 0x300 <= code <= 0x36F
            return chr(code) if is_accent else super().__missing__(code)

    patch.setattr(text_matching, "_FOLDING", WithAccents())


def _keep_case(patch: pytest.MonkeyPatch) -> None:
    original = text_matching.words

    def words(text: str) -> list[str]:
        folded = original(text)
        return [word.upper() for word in folded] if text.isupper() else folded

    patch.setattr(text_matching, "words", words)


def _last_word_whole(patch: pytest.MonkeyPatch) -> None:
    original = text_matching.parse_search

    def parse_search(text: str) -> text_matching.NameSearch:
        search = original(text)
        if search.prefix is None:
            return search
        return replace(search, tokens=search.tokens | {search.prefix}, prefix=None)

    patch.setattr(label_index, "parse_search", parse_search)


def _chinese_as_words(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(text_matching, "is_unspaced", lambda word: False)


def _aliases_before_labels(patch: pytest.MonkeyPatch) -> None:
    original = label_index._ranks

    def ranks(kind: Any, language: str | None) -> list[Any]:
        found = original(kind, language)
        return sorted(found, key=lambda rank: (rank.grade, rank.matched == "label"))

    patch.setattr(label_index, "_ranks", ranks)


def _english_properties_not_first(patch: pytest.MonkeyPatch) -> None:
    original = label_index._ranks
    patch.setattr(label_index, "_ranks", lambda kind, language: original("item", language))


def _words_before_exact(patch: pytest.MonkeyPatch) -> None:
    original = label_index._ranks

    def ranks(kind: Any, language: str | None) -> list[Any]:
        return sorted(original(kind, language), key=lambda rank: -rank.grade)

    patch.setattr(label_index, "_ranks", ranks)


def _without(**values: int) -> Callable[[pytest.MonkeyPatch], None]:
    def switch_off(patch: pytest.MonkeyPatch) -> None:
        original = LabelIndexWriter.add
        patch.setattr(
            LabelIndexWriter,
            "add",
            lambda writer, record: original(writer, replace(record, **values)),
        )

    return switch_off


def _ids_as_text(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(label_index_build, "number", lambda identifier: int(identifier[1:].ljust(4, "0")))


def _words_of_several_names(patch: pytest.MonkeyPatch) -> None:
    original = label_index_build._documents

    def documents(*args: Any) -> Iterator[dict[str, Any]]:
        *names, entity = original(*args)
        for name in names:
            for field in ("one_label_words", "one_alias_words"):
                if field in name:
                    name[field] = entity[field.removeprefix("one_")]
            yield name
        yield entity

    patch.setattr(label_index_build, "_documents", documents)


def _variants_apart(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(label_index_build, "languages_of", lambda code: (code,))
    patch.setattr(label_index, "languages_of", lambda code: (code,))


def _languages_by_alphabet(patch: pytest.MonkeyPatch) -> None:
    languages = tuple(sorted(label_index.NAME_LANGUAGES))
    patch.setattr(label_index_build, "NAME_LANGUAGES", languages)


@pytest.mark.parametrize(
    "switch_off",
    [
        _keep_accents,
        _keep_case,
        _last_word_whole,
        _chinese_as_words,
        _aliases_before_labels,
        _english_properties_not_first,
        _words_before_exact,
        _without(sitelinks=0),
        _without(in_degree=0),
        _ids_as_text,
        _words_of_several_names,
        _variants_apart,
        _languages_by_alphabet,
    ],
)
def test_the_comparison_fails_without_any_one_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, switch_off: Callable[[Any], None]
) -> None:
    names, asked = sample()
    switch_off(monkeypatch)
    assert disagreements(tmp_path, names, asked, size=50)


def test_the_sample_agrees_with_all_rules_on(tmp_path: Path) -> None:
    names, asked = sample()
    assert disagreements(tmp_path, names, asked, size=50) == []

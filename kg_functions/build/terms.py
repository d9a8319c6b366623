"""Labels, aliases, descriptions and sitelinks as RDF, and the names that the label index keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kg_functions.build.ntriples import TYPE, iri, language_suffix, literal, title_path
from kg_functions.build.sites import site
from kg_functions.languages import STORED_LANGUAGES
from kg_functions.rdf import RDFS, SCHEMA, SKOS, WD, WIKIBASE

if TYPE_CHECKING:
    from collections.abc import Mapping

LABEL_PREDICATES: Final = (f"<{RDFS}label>", f"<{SKOS}prefLabel>", f"<{SCHEMA}name>")

_STORED: Final = frozenset(STORED_LANGUAGES)


def mapping(value: Any) -> dict[str, Any]:
    """A JSON object; older documents have ``[]`` where it would be empty.

    Raises:
        TypeError: for anything else.
    """
    if isinstance(value, dict):
        return value
    if value is None or value == []:
        return {}
    raise TypeError(f"expected an object, found {type(value).__name__}")


def text_triples(
    subject: str, texts: Mapping[str, Any], predicates: tuple[str, ...], lines: list[str]
) -> None:
    """Append one triple a predicate for each text of ``texts``, which is keyed by language."""
    for text in texts.values():
        tail = f"{literal(text['value'])}{language_suffix(text['language'])} .\n"
        lines.append("".join(f"{subject} {predicate} {tail}" for predicate in predicates))


def term_triples(subject: str, document: Mapping[str, Any], lines: list[str]) -> None:
    """Append the labels, descriptions and aliases of an item or property."""
    text_triples(subject, mapping(document.get("labels")), LABEL_PREDICATES, lines)
    text_triples(subject, mapping(document.get("descriptions")), (f"<{SCHEMA}description>",), lines)
    for aliases in mapping(document.get("aliases")).values():
        for alias in aliases:
            text = f"{literal(alias['value'])}{language_suffix(alias['language'])}"
            lines.append(f"{subject} <{SKOS}altLabel> {text} .\n")


class Sitelinks:
    """Converts sitelinks; what a wiki belongs to is written once a wiki.

    Args:
        shared: where the triples about wikis are put; these lines must be kept.
    """

    def __init__(self, shared: list[str]) -> None:
        self._shared = shared
        self._described: set[str] = set()

    def convert(self, subject: str, sitelinks: Mapping[str, Any], lines: list[str]) -> list[str]:
        """Append the triples of an item's sitelinks.

        Returns:
            The ids of wikis that are not known; Wikibase leaves such links out as well.
        """
        unknown = []
        for link in sitelinks.values():
            wiki = site(link["site"])
            if wiki is None:
                unknown.append(str(link["site"]))
                continue
            title = link["title"]
            article = iri(f"{wiki.address}wiki/{title_path(title.replace(' ', '_'))}")
            language = wiki.language
            lines.append(
                f"{article} {TYPE} <{SCHEMA}Article> .\n"
                f"{article} <{SCHEMA}about> {subject} .\n"
                f'{article} <{SCHEMA}inLanguage> "{language}" .\n'
                f"{article} <{SCHEMA}isPartOf> <{wiki.address}> .\n"
                f"{article} <{SCHEMA}name> {literal(title)}{language_suffix(language)} .\n"
            )
            lines.extend(
                f"{article} <{WIKIBASE}badge> {iri(WD + badge)} .\n"
                for badge in link.get("badges") or ()
            )
            if wiki.address not in self._described:
                self._described.add(wiki.address)
                self._shared.append(f'<{wiki.address}> <{WIKIBASE}wikiGroup> "{wiki.group}" .\n')
        return unknown


def stored_names(
    document: Mapping[str, Any],
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Labels and aliases of a document in the languages that the label index keeps."""
    labels = {
        code: label["value"]
        for code, label in mapping(document.get("labels")).items()
        if code in _STORED
    }
    aliases = {
        code: [alias["value"] for alias in group]
        for code, group in mapping(document.get("aliases")).items()
        if code in _STORED and group
    }
    return labels, aliases

"""What RDF says about lexemes, their forms and their senses, besides statements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from kg_functions.build.ntriples import TYPE, iri
from kg_functions.build.terms import mapping, text_triples
from kg_functions.rdf import DCT, ONTOLEX, RDFS, SKOS, WD, WIKIBASE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PART_ID: Final = re.compile(r"L[1-9][0-9]*-[FS][1-9][0-9]*")
_LABEL: Final = f"<{RDFS}label>"


def parts(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The forms and senses of a lexeme."""
    yield from document.get("forms") or ()
    yield from document.get("senses") or ()


def lexeme_triples(subject: str, document: Mapping[str, Any], lines: list[str]) -> None:
    """Append the triples of a lexeme, its forms and its senses.

    Args:
        subject: the lexeme's IRI in angle brackets.
        document: a lexeme's entity JSON.
        lines: where the triples go.
    """
    lines.append(
        f"{subject} {TYPE} <{ONTOLEX}LexicalEntry> .\n"
        f"{subject} <{DCT}language> {iri(WD + document['language'])} .\n"
        f"{subject} <{WIKIBASE}lexicalCategory> {iri(WD + document['lexicalCategory'])} .\n"
    )
    lemmas = mapping(document.get("lemmas"))
    text_triples(subject, lemmas, (_LABEL, f"<{WIKIBASE}lemma>"), lines)
    for part in parts(document):
        if not _PART_ID.fullmatch(part["id"]):
            raise ValueError(f"{part['id']!r} is not the id of a form or sense")
        if "-F" in part["id"]:
            _form_triples(subject, part, lines)
        else:
            _sense_triples(subject, part, lines)


def _form_triples(lexeme: str, form: Mapping[str, Any], lines: list[str]) -> None:
    subject = f"<{WD}{form['id']}>"
    lines.append(
        f"{lexeme} <{ONTOLEX}lexicalForm> {subject} .\n"
        f"{subject} {TYPE} <{WIKIBASE}Form> .\n"
        f"{subject} {TYPE} <{ONTOLEX}Form> .\n"
    )
    representations = mapping(form.get("representations"))
    text_triples(subject, representations, (_LABEL, f"<{ONTOLEX}representation>"), lines)
    lines.extend(
        f"{subject} <{WIKIBASE}grammaticalFeature> {iri(WD + feature)} .\n"
        for feature in form.get("grammaticalFeatures") or ()
    )


def _sense_triples(lexeme: str, sense: Mapping[str, Any], lines: list[str]) -> None:
    subject = f"<{WD}{sense['id']}>"
    lines.append(
        f"{lexeme} <{ONTOLEX}sense> {subject} .\n"
        f"{subject} {TYPE} <{WIKIBASE}Sense> .\n"
        f"{subject} {TYPE} <{ONTOLEX}LexicalSense> .\n"
    )
    glosses = mapping(sense.get("glosses"))
    text_triples(subject, glosses, (_LABEL, f"<{SKOS}definition>"), lines)

"""Terms of N-Triples as text, escaped as Wikibase escapes them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from kg_functions.rdf import RDF, XSD

TYPE: Final = f"<{RDF}type>"
DATE_TIME: Final = f"^^<{XSD}dateTime>"
DECIMAL: Final = f"^^<{XSD}decimal>"
DOUBLE: Final = f"^^<{XSD}double>"
INTEGER: Final = f"^^<{XSD}integer>"

_LITERAL_SPECIAL: Final = re.compile('["\\\\\n\r]')
_LITERAL_ESCAPES: Final = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"})

_IRI_SPECIAL: Final = re.compile(r'[\x00-\x20"<>\\^`{|}]')
_LANGUAGE: Final = re.compile(r"[0-9A-Za-z-]{2,}")
_LANGUAGE_TAG: Final = re.compile(r"[A-Za-z]+(?:-[0-9A-Za-z]+)*")

_TITLE_SAFE: Final = ";@$!*(),/~:"
"""What MediaWiki leaves as it is in the address of a page, besides letters, digits and ``_-.``."""


def literal(text: str) -> str:
    """A quoted string, without language or datatype."""
    if _LITERAL_SPECIAL.search(text):
        text = text.translate(_LITERAL_ESCAPES)
    return f'"{text}"'


def iri(address: str) -> str:
    """An IRI in angle brackets; characters that N-Triples forbids are percent-encoded."""
    if _IRI_SPECIAL.search(address):
        address = _IRI_SPECIAL.sub(lambda found: f"%{ord(found[0]):02X}", address)
    return f"<{address}>"


@lru_cache(maxsize=4096)
def language_suffix(code: str) -> str:
    """``@code``, or nothing where the code cannot be a language tag."""
    if not _LANGUAGE.fullmatch(code) or not _LANGUAGE_TAG.fullmatch(code):
        return ""
    return f"@{code}"


def title_path(title: str) -> str:
    """A page title as MediaWiki writes it in addresses, spaces already replaced or meant as +."""
    return quote(title, safe=_TITLE_SAFE + " ").replace(" ", "+")


def file_path(name: str) -> str:
    """A file name as it stands in a Special:FilePath address: everything special is encoded."""
    return quote(name, safe="")

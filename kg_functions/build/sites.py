"""Wikimedia's sites: from a site id such as ``enwiki`` to address, language and group."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple


class Site(NamedTuple):
    """A wiki as RDF describes it.

    Attributes:
        address: of the whole wiki, with a slash at its end.
        language: BCP 47 tag of its content.
        group: ``wikipedia``, ``wikiquote``, ``commons``, ...
    """

    address: str
    language: str
    group: str


_ALONE: Final[dict[str, tuple[str, str]]] = {
    "commonswiki": ("commons.wikimedia.org", "commons"),
    "foundationwiki": ("foundation.wikimedia.org", "foundation"),
    "incubatorwiki": ("incubator.wikimedia.org", "incubator"),
    "mediawikiwiki": ("www.mediawiki.org", "mediawiki"),
    "metawiki": ("meta.wikimedia.org", "meta"),
    "outreachwiki": ("outreach.wikimedia.org", "outreach"),
    "sourceswiki": ("wikisource.org", "sources"),
    "specieswiki": ("species.wikimedia.org", "species"),
    "wikidatawiki": ("www.wikidata.org", "wikidata"),
    "wikifunctionswiki": ("www.wikifunctions.org", "wikifunctions"),
    "wikimaniawiki": ("wikimania.wikimedia.org", "wikimania"),
}
"""Wikis that are not one of a family: host and group; their language is English."""

_FAMILY: Final = re.compile(
    r"([a-z][a-z_]*?)(wiki|wikibooks|wikinews|wikiquote|wikisource|wikiversity|wikivoyage"
    r"|wiktionary)"
)

_HOSTS: Final = {"be-x-old": "be-tarask"}
"""Wikis whose address has another code than their site id."""

_SITE_LANGUAGES: Final = {"no": "nb", "bh": "bho", "beta": "en"}
"""Wikis whose content language has another code than their site id."""

_CANONICAL: Final = {
    # Renamed by MediaWiki.
    "als": "gsw",
    "bat-smg": "sgs",
    "be-x-old": "be-tarask",
    "fiu-vro": "vro",
    "roa-rup": "rup",
    "zh-classical": "lzh",
    "zh-min-nan": "nan",
    "zh-yue": "yue",
    # Wikibase's own list of special language codes.
    "cbk-zam": "cbk-x-zam",
    "crh": "crh-Latn",
    "map-bms": "jv-x-bms",
    "nrm": "fr-x-nrm",
    "roa-tara": "it-x-tara",
    "simple": "en-simple",
    # MediaWiki's list of non-standard codes.
    "eml": "egl",
    "mo": "ro-Cyrl-MD",
}


@lru_cache(maxsize=4096)
def site(identifier: str) -> Site | None:
    """The wiki with a site id, or None where the id follows no known pattern."""
    if identifier in _ALONE:
        host, group = _ALONE[identifier]
        return Site(f"https://{host}/", "en", group)
    found = _FAMILY.fullmatch(identifier)
    if found is None:
        return None
    code = found[1].replace("_", "-")
    group = "wikipedia" if found[2] == "wiki" else found[2]
    host = f"{_HOSTS.get(code, code)}.{group}.org"
    return Site(f"https://{host}/", language_tag(_SITE_LANGUAGES.get(code, code)), group)


def language_tag(code: str) -> str:
    """A MediaWiki language code as BCP 47 writes it: ``simple`` is ``en-simple``."""
    if code in _CANONICAL:
        return _CANONICAL[code]
    first, *rest = code.lower().split("-")
    tag = [first]
    for part in rest:
        if tag[-1] == "x":
            tag.append(part)
        elif len(part) == 2:
            tag.append(part.upper())
        elif len(part) == 4:
            tag.append(part.capitalize())
        else:
            tag.append(part)
    return "-".join(tag)

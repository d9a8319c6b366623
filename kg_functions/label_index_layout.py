"""How the label index of a graph folder is laid out: its files, fields, terms and languages."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Final, Literal, NamedTuple

import tantivy

from kg_functions.languages import LANGUAGES, MUL, ZH_VARIANTS

Kind = Literal["item", "property"]
KINDS: Final[tuple[Kind, ...]] = ("item", "property")
_REMOVALS: Final = 3
META_FILE: Final = "label-index.json"
LAYOUT: Final = 1

_ZH: Final = LANGUAGES.index("zh") + 1
NAME_LANGUAGES: Final = (*LANGUAGES[:_ZH], *ZH_VARIANTS, *LANGUAGES[_ZH:], MUL)
"""Every language names are found in, in the order in which equal matches are reported."""


class Name(NamedTuple):
    """One name of an entity: its language code, its text, and the text's normal form."""

    language: str
    text: str
    key: str


def schema() -> tantivy.Schema:
    """The fields of an index of items or of properties."""
    builder = tantivy.SchemaBuilder()
    for name in ("label", "alias"):
        for text_field in (name, f"{name}_words", f"one_{name}_words"):
            builder.add_text_field(text_field, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("order", indexed=True, fast=True)
    builder.add_unsigned_field("name_order", fast=True)
    builder.add_bytes_field("record", stored=True)
    return builder.build()


def scope(language: str | None) -> str:
    """What stands before a term that counts in one language alone; no normal form begins so."""
    return "" if language is None else f"\x1f{language}\x1f"


def languages_of(code: str) -> tuple[str, ...]:
    """The languages in which a name under ``code`` is found: its own and, of a variant, ``zh``."""
    return (code, "zh") if code in ZH_VARIANTS else (code,)


def file_sizes(folder: Path) -> dict[str, int]:
    """The size in bytes of every data file of an index, by path below ``folder``."""
    return {
        f"{kind}/{file.name}": file.stat().st_size
        for kind in KINDS
        for file in sorted((folder / kind).iterdir())
        if file.suffix != ".lock"
    }


def open_tantivy(folder: Path) -> tuple[tantivy.Schema, tantivy.Searcher]:
    """Open one tantivy index without writing into its folder, which may be read-only.

    tantivy makes a lock file where it opens an index, so it is given a folder of links to the
    files; once they are open the links are not needed.
    """
    links = Path(tempfile.mkdtemp(prefix="label-index-"))
    try:
        for file in folder.resolve().iterdir():
            (links / file.name).symlink_to(file)
        index = tantivy.Index.open(str(links))
        index.config_reader(reload_policy="manual")
        return index.schema, index.searcher()
    finally:
        # tantivy's watcher may be about to make its lock file again while the folder goes.
        for _ in range(_REMOVALS):
            shutil.rmtree(links, ignore_errors=True)

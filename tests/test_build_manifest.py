"""The manifest: written whole, read back, and refused in one line where it cannot be trusted."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from kg_functions.errors import GraphSetupError
from kg_functions.manifest import (
    FORMAT_VERSION,
    MANIFEST_NAME,
    Counts,
    Manifest,
    Skipped,
    SkippedExample,
    Source,
    is_graph_folder,
    load_manifest,
    save_manifest,
)

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = Manifest(
    code_version="1.2",
    snapshot="slice-2025",
    snapshot_date="2025-12-12T17:50:31Z",
    built_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    counts=Counts(items=2, properties=1, statements=3, triples=40),
    parts=("store", "labels", "adjacency"),
    sources=(Source(name="a.json", size=5, sha256="0" * 64),),
    skipped={
        "not JSON": Skipped(
            count=9, examples=(SkippedExample(source="a.json", line=7, detail="unexpected end"),)
        )
    },
)


def test_round_trip(tmp_path: Path) -> None:
    assert not is_graph_folder(tmp_path)
    save_manifest(MANIFEST, tmp_path)
    assert is_graph_folder(tmp_path)
    assert load_manifest(tmp_path) == MANIFEST
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST_NAME]


def refusal(folder: Path) -> str:
    with pytest.raises(GraphSetupError) as caught:
        load_manifest(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert str(folder) in message
    return message


def test_no_graph_folder(tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "nowhere")
    assert "not a graph folder (no manifest.json)" in refusal(tmp_path)
    (tmp_path / "file").write_text("x")
    assert "is a file" in refusal(tmp_path / "file")


def test_newer_format(tmp_path: Path) -> None:
    raw = json.loads(MANIFEST.model_dump_json())
    raw |= {"format_version": FORMAT_VERSION + 1, "counts": "in another form"}
    (tmp_path / MANIFEST_NAME).write_text(json.dumps(raw))
    message = refusal(tmp_path)
    assert "newer version" in message
    assert "update wikidata-rlm" in message


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"counts": 5}, "counts"),
        ({"counts": {"items": "many"}}, "counts.items"),
        ({"parts": ["cellar"]}, "parts.0"),
        ({"snapshot": None}, "snapshot"),
        ({"colour": "red"}, "colour"),
        ({"format_version": "1"}, "no format version"),
        ({"format_version": True}, "no format version"),
        ({"format_version": 0}, "no format version"),
    ],
)
def test_damaged(change: dict[str, Any], what: str, tmp_path: Path) -> None:
    raw = json.loads(MANIFEST.model_dump_json()) | change
    (tmp_path / MANIFEST_NAME).write_text(json.dumps(raw))
    message = refusal(tmp_path)
    assert "is damaged" in message
    assert what in message


@pytest.mark.parametrize("text", ["", "{", "[]", "5", '{"format_version": 1}', "\udcff"])
def test_not_a_manifest(text: str, tmp_path: Path) -> None:
    (tmp_path / MANIFEST_NAME).write_bytes(text.encode("utf-8", "surrogateescape"))
    assert "is damaged" in refusal(tmp_path)

"""Input files: every container and compression, wherever a block ends; truncation is noticed."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg_functions.build import chunks, compression, reading
from kg_functions.build.chunks import Chunk, Format
from kg_functions.build.compression import ByteSource
from kg_functions.build.documents import Document, Redirect, documents
from kg_functions.build.problems import Problem
from kg_functions.build.reading import read_chunks
from kg_functions.errors import GraphSetupError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.compress,
}
ENTITIES = [{"type": "item", "id": f"Q{n}", "note": "é" * n} for n in range(1, 40)]


def lines(entities: list[Any]) -> str:
    return "".join(json.dumps(entity, ensure_ascii=False) + "\n" for entity in entities)


def dump(entities: list[Any]) -> str:
    inner = ",\n".join(json.dumps(entity, ensure_ascii=False) for entity in entities)
    return f"[\n{inner}\n]\n"


CONTAINERS: dict[str, Callable[[list[Any]], str]] = {
    "lines": lines,
    "lines without last newline": lambda entities: lines(entities).rstrip("\n"),
    "lines with byte order mark": lambda entities: "\ufeff" + lines(entities),
    "lines with Windows newlines": lambda entities: lines(entities).replace("\n", "\r\n"),
    "dump": dump,
    "dump on one line": lambda entities: json.dumps(entities, separators=(",", ":")),
    "dump with the first entity beside the bracket": lambda entities: dump(entities).replace(
        "[\n", "[", 1
    ),
    "EntityData": lambda entities: json.dumps({"entities": {e["id"]: e for e in entities}}),
    "EntityData, indented": lambda entities: json.dumps(
        {"entities": {e["id"]: e for e in entities}}, indent=2
    ),
}


def read(path: Path) -> list[Document | Redirect | Problem]:
    with ByteSource(path) as source:
        return [found for chunk in read_chunks(source) for found in documents(chunk)]


def contents(path: Path) -> list[Any]:
    found = read(path)
    assert all(isinstance(each, Document) for each in found), found
    return [each.content for each in found if isinstance(each, Document)]


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_and_compression(container: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"dump.json{suffix}"
    path.write_bytes(COMPRESSIONS[suffix](CONTAINERS[container](ENTITIES).encode()))
    assert contents(path) == ENTITIES


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_format_is_seen_from_the_content(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / "download"
    path.write_bytes(COMPRESSIONS[suffix](dump(ENTITIES).encode()))
    assert contents(path) == ENTITIES


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    container=st.sampled_from(sorted(CONTAINERS)),
    block=st.integers(1, 300),
    chunk=st.integers(1, 2000),
    count=st.integers(1, 12),
)
def test_wherever_blocks_and_chunks_end(
    container: str, block: int, chunk: int, count: int, tmp_path: Path
) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(CONTAINERS[container](ENTITIES[:count]).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compression, "_BLOCK", block)
        patch.setattr(reading, "CHUNK_BYTES", chunk)
        patch.setattr(reading, "_HEAD", 1)
        assert contents(path) == ENTITIES[:count]


def test_several_streams_in_one_file(tmp_path: Path) -> None:
    """Parallel compressors write many streams; zstd has frames without data between them."""
    one, two = (lines(half).encode() for half in (ENTITIES[:20], ENTITIES[20:]))
    skippable = b"\x50\x2a\x4d\x18\x05\0\0\0hello"
    files = {
        "a.gz": gzip.compress(one) + gzip.compress(two) + b"\0" * 512,
        "a.bz2": bz2.compress(one) + bz2.compress(two),
        "a.zst": skippable + zstandard.compress(one) + skippable + zstandard.compress(two),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        assert contents(tmp_path / name) == ENTITIES


def test_size_and_hash_are_those_of_the_file(tmp_path: Path) -> None:
    data = gzip.compress(lines(ENTITIES).encode()) + b"\0" * 100
    path = tmp_path / "a.json.gz"
    path.write_bytes(data)
    with ByteSource(path) as source:
        list(read_chunks(source))
        described = source.source()
    assert (described.name, described.size) == ("a.json.gz", len(data))
    assert described.sha256 == hashlib.sha256(data).hexdigest()


def test_lines_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id":"Q1"}\n\n{broken}\n{"id":"Q2"},\n5\n{"type":"item"}\n')
    found = read(path)
    assert [(type(each).__name__, each.line) for each in found] == [
        ("Document", 1),
        ("Problem", 3),
        ("Document", 4),
        ("Problem", 5),
        ("Problem", 6),
    ]
    reasons = [each.reason for each in found if isinstance(each, Problem)]
    assert reasons == ["not JSON", "not an entity", "not an entity"]


def test_line_numbers_go_on_from_chunk_to_chunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "CHUNK_BYTES", 1)
    monkeypatch.setattr(reading, "_HEAD", 1)
    monkeypatch.setattr(compression, "_BLOCK", 16)
    for name, text in {"a.json": dump(ENTITIES), "a.jsonl": "\n" + lines(ENTITIES)}.items():
        (tmp_path / name).write_text(text)
        assert [each.line for each in read(tmp_path / name)] == list(range(2, 2 + len(ENTITIES)))


def test_special_documents(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    texts = [
        {"entities": {"Q9": {"id": "Q1"}, "Q2": {"id": "Q2"}}},
        {"entities": {"Q3": {"id": "Q3", "missing": ""}, "Q4": 5}},
        {"entity": "Q5", "redirect": "Q6"},
    ]
    path.write_text(lines(texts))
    assert read(path) == [
        Document(1, {"id": "Q1"}, asked_as="Q9"),
        Document(1, {"id": "Q2"}),
        Problem("missing entity", "a.jsonl", 2, "Q3", "Wikidata has no such id"),
        Problem("not an entity", "a.jsonl", 2, "Q4", "it is not an object"),
        Redirect(3, "Q5", "Q6"),
    ]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.99])
def test_truncated_compression(suffix: str, share: float, tmp_path: Path) -> None:
    data = COMPRESSIONS[suffix](lines(ENTITIES).encode())
    path = tmp_path / f"a.json{suffix}"
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(GraphSetupError, match=r"a\.json.* ends early, after [0-9,]+ bytes"):
        read(path)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst"])
def test_damaged_compression(suffix: str, tmp_path: Path) -> None:
    data = bytearray(COMPRESSIONS[suffix](lines(ENTITIES).encode()))
    data[len(data) // 2] ^= 0xFF
    path = tmp_path / f"a.json{suffix}"
    path.write_bytes(bytes(data))
    with pytest.raises(GraphSetupError, match=r"a\.json.* (is damaged near byte|ends early)"):
        read(path)


TRUNCATED = {
    "array not closed": ('[\n{"id":"Q1"},\n{"id":"Q2"}\n', "array is not closed after line 3"),
    "array cut in a line": ('[\n{"id":"Q1"},\n{"id":"Q', "array is not closed after line 3"),
    "array cut after a comma": ('[\n{"id":"Q1"},', "array is not closed after line 2"),
    "line cut": ('{"id":"Q1"}\n{"id":"Q2"', "its last line, 2, is cut off"),
    "document cut": ('{\n"entities": {\n"Q1": {', "ends early or is not JSON"),
    "document cut on one line": ('{"entities": {"Q1": {"id": "Q1"', "ends early or is not JSON"),
}


@pytest.mark.parametrize("kind", TRUNCATED)
def test_truncated_text(kind: str, tmp_path: Path) -> None:
    text, message = TRUNCATED[kind]
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(GraphSetupError, match=message) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.json", b"", "is empty"),
        ("blank.json", b"\n \n", "is empty"),
        ("letter.txt", b"Dear Sir", "neither Wikidata entity JSON nor Turtle"),
        ("picture", b"\x89PNG\r\n", "neither Wikidata entity JSON nor Turtle"),
    ],
)
def test_files_of_other_kinds(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(GraphSetupError, match=message):
        read(tmp_path / name)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(GraphSetupError, match=r"nowhere\.json cannot be read: No such file"):
        ByteSource(tmp_path / "nowhere.json")
    with pytest.raises(GraphSetupError, match="cannot be read: Is a directory"):
        ByteSource(tmp_path)


TURTLE = b'@prefix a: <http://a/> .\na:s a:p "x"@en ;\n  a:q [ a:p a:o ] .\n'
TRIPLES = (
    b'<http://a/s> <http://a/p> "x" .\n# a comment\n<http://a/s> <http://a/p> <http://a/o> .\n'
)


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.ttl", TURTLE, Format.TURTLE),
        ("a", TURTLE, Format.TURTLE),
        ("a", b"# made by hand\n<http://a/s> a <http://a/o> ;\n <http://a/p> 5 .\n", Format.TURTLE),
        ("a.nt", TRIPLES, Format.N_TRIPLES),
        ("a.nt.zst", TRIPLES, Format.N_TRIPLES),
        ("a", b"_:b <http://a/p> _:c .\n", Format.N_TRIPLES),
        ("a", b'[{"id":"Q1"}]', Format.JSON),
    ],
)
def test_format(name: str, content: bytes, format: Format, tmp_path: Path) -> None:
    assert reading.find_format(tmp_path / name, content) is format


def all_chunks(path: Path) -> list[Chunk]:
    with ByteSource(path) as source:
        return list(read_chunks(source))


def test_turtle_becomes_n_triples(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_bytes(TURTLE)
    (chunk,) = all_chunks(tmp_path / "a.ttl")
    assert chunk.format is Format.N_TRIPLES
    assert chunk.data.count(b" .\n") == 3
    assert b'<http://a/s> <http://a/p> "x"@en .\n' in chunk.data


def test_blank_nodes_of_two_turtle_files_stay_apart(tmp_path: Path) -> None:
    names = set()
    for name in ("a.ttl", "b.ttl"):
        (tmp_path / name).write_bytes(b"_:x <http://a/p> <http://a/o> .\n")
        (chunk,) = all_chunks(tmp_path / name)
        names.add(chunk.data.split()[0])
    assert len(names) == 2


def test_bad_turtle_and_cut_triples(tmp_path: Path) -> None:
    for name, content, message in (
        ("a.ttl", TURTLE + b"a:s a:p ; .\n", "line 4"),
        ("b.ttl", TURTLE[:-10], "line 3"),
        ("c.nt", TRIPLES[:-8], "its last line, 3, is cut off"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(GraphSetupError, match=message):
            all_chunks(tmp_path / name)


def test_long_first_line_makes_a_chunk_of_its_own(tmp_path: Path) -> None:
    entities = [{"id": "Q1", "text": "x" * (3 * chunks.CHUNK_BYTES)}, {"id": "Q2"}]
    (tmp_path / "a.jsonl").write_text(lines(entities))
    assert contents(tmp_path / "a.jsonl") == entities

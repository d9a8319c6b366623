"""Question sets as JSON lines: whole questions in one file, or public and gold part in two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from questions.errors import QuestionSetError
from questions.question import PublicQuestion, Question

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_PUBLIC_FIELDS: Final = frozenset(PublicQuestion.model_fields)

M = TypeVar("M", bound=BaseModel)


def read_questions(path: Path, gold_path: Path | None = None) -> list[Question]:
    """Read whole questions.

    Args:
        path: one question a line; with ``gold_path`` only the public part of it.
        gold_path: the rest of each question a line, with its ``id``, in any order.

    Raises:
        QuestionSetError: for a file that is missing, a bad line (its file and number are named),
            an id that stands twice, or a question without gold.
    """
    if gold_path is None:
        return _distinct(path, ((n, _build(Question, row, path, n)) for n, row in _rows(path)))
    gold = {_id_of(row, gold_path, n): (n, row) for n, row in _rows(gold_path)}

    def joined() -> Iterator[tuple[int, Question]]:
        for line, row in _rows(path):
            public = _build(PublicQuestion, row, path, line)
            if public.id not in gold:
                raise _bad(path, line, f"question {public.id} has no gold part in {gold_path}")
            gold_line, rest = gold[public.id]
            whole = {**rest, **public.model_dump(mode="json")}
            yield line, _build(Question, whole, gold_path, gold_line)

    return _distinct(path, joined())


def read_public_questions(path: Path) -> list[PublicQuestion]:
    """Read the public part of the questions in a file of public or whole questions.

    Raises:
        QuestionSetError: as for ``read_questions``.
    """
    rows = ((n, {k: v for k, v in row.items() if k in _PUBLIC_FIELDS}) for n, row in _rows(path))
    return _distinct(path, ((n, _build(PublicQuestion, row, path, n)) for n, row in rows))


def write_questions(
    path: Path, questions: Iterable[Question], gold_path: Path | None = None
) -> None:
    """Write questions, whole in one file or, with ``gold_path``, public and gold part in two.

    Each file appears under its name only when it is complete.
    """
    whole = [question.model_dump(mode="json") for question in questions]
    if gold_path is None:
        _write_lines(path, whole)
        return
    hidden = [
        {k: v for k, v in row.items() if k == "id" or k not in _PUBLIC_FIELDS} for row in whole
    ]
    _write_lines(gold_path, hidden)
    _write_lines(path, [{k: v for k, v in row.items() if k in _PUBLIC_FIELDS} for row in whole])


def _bad(path: Path, line: int, reason: str) -> QuestionSetError:
    return QuestionSetError(f"{path}, line {line}: {reason}")


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and object of every line that is not empty."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise QuestionSetError(f"cannot read {path}: {error.strerror or error}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise _bad(path, number, f"not JSON ({error})") from error
        if not isinstance(row, dict):
            raise _bad(path, number, "not a JSON object")
        yield number, row


def _build(model: type[M], row: dict[str, Any], path: Path, line: int) -> M:
    try:
        # Through JSON: there an array may stand for a tuple, and nothing else is converted.
        return model.model_validate_json(orjson.dumps(row))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        what = f"{where}: {first['msg']}" if where else first["msg"]
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise _bad(path, line, " ".join(f"{what}{more}".split())) from error


def _id_of(row: dict[str, Any], path: Path, line: int) -> str:
    identifier = row.get("id")
    if not isinstance(identifier, str):
        raise _bad(path, line, "the gold part has no id")
    return identifier


Q = TypeVar("Q", Question, PublicQuestion)


def _distinct(path: Path, questions: Iterable[tuple[int, Q]]) -> list[Q]:
    seen: dict[str, int] = {}
    kept = []
    for line, question in questions:
        if question.id in seen:
            raise _bad(
                path, line, f"question {question.id} stands already in line {seen[question.id]}"
            )
        seen[question.id] = line
        kept.append(question)
    return kept


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as file:
            for row in rows:
                file.write(orjson.dumps(row) + b"\n")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)

"""What can go wrong with questions and answers: one small tree."""

from __future__ import annotations


class QuestionError(Exception):
    """Root of every error this package raises; the message is one line."""


class AnswerFormatError(QuestionError):
    """A value that is no answer in the asked format; the message tells a model what to hand in."""


class QuestionSetError(QuestionError):
    """A question file that cannot be read; the message names the file and the line."""

"""What can go wrong with a model: one small tree."""

from __future__ import annotations


class ModelError(Exception):
    """Root of every error this package raises; the message is one line."""


class ModelSetupError(ModelError):
    """The model cannot be used as asked (unknown name, missing key): for the person, exit 2."""


class ModelUnavailable(ModelError):
    """The provider failed after all retries: rate limit, time-out, 5xx, no connection."""


class ModelRequestRefused(ModelError):
    """The provider refused the request (400, 401, 403, 404); not retried."""


class ContextOverflow(ModelError):
    """The conversation is longer than the model's context."""


class ModelRefused(ModelError):
    """The model or its content filter declined to answer."""

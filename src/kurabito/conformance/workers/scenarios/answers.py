"""Answers that a gateway changes, or gives itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kurabito.conformance.workers.exchanges import WordExchange
from kurabito.conformance.workers.gateway import Bend
from kurabito.site.errors import error_body


def rewrite(change: Callable[[dict[str, Any]], None], **headers: str) -> Bend:
    """Have every answer to a word changed, and given these headers."""

    def after(exchange: WordExchange) -> None:
        if exchange.word is None:
            return
        fields = dict(exchange.answered)
        change(fields)
        exchange.answer = json.dumps(fields).encode()
        exchange.answer_headers.update(headers)

    return after


def answer(exchange: WordExchange, status: int, fields: Any, **headers: str) -> None:
    """Answer in the place of the server."""
    exchange.status = status
    exchange.answer = json.dumps(fields).encode()
    exchange.answer_headers = {"content-type": "application/json", **headers}


def refuse(exchange: WordExchange, status: int, code: str, message: str) -> None:
    """Refuse in the place of the server."""
    answer(exchange, status, error_body(code, message))

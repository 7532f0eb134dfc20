"""Forms as browsers send them. Ours are small and have no files, so the standard library reads them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self, TypeVar
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request

from kurabito.errors import InvalidInput, KurabitoError, StateConflict

CHECKED: Final = "yes"
"""What a ticked box sends."""
_BIGGEST: Final = 2**63
_MOST_FIELDS: Final = 400

Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Problem:
    """What was refused, and where in the form it stands."""

    field: str
    detail: str

    @classmethod
    def of(cls, error: KurabitoError, fields: Collection[str]) -> Self:
        """What an error says about one of these fields; one that is about none of them is raised on."""
        if isinstance(error, InvalidInput):
            return cls(error.field, error.problem)
        if isinstance(error, StateConflict) and error.field is not None and error.field in fields:
            return cls(error.field, error.problem)
        raise error


async def values_of(request: Request) -> dict[str, list[str]]:
    """The fields of a sent form, each with everything that was sent under its name."""
    body = await request.body()
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError:
        raise HTTPException(400) from None


async def fields_of(request: Request) -> dict[str, str]:
    """The fields of a sent form; of several with one name the last counts."""
    return {name: values[-1] for name, values in (await values_of(request)).items()}


def one_of(kind: type[Choice], name: str, text: str) -> Choice:
    """The choice that a field stands for; raises InvalidInput."""
    try:
        return kind(text)
    except ValueError:
        raise InvalidInput(name, f"must be one of {', '.join(kind)}, got {text!r}") from None


def count_of(name: str, text: str, most: int = 100_000) -> int:
    """The number in a field; raises InvalidInput."""
    text = text.strip()
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) > most:
        raise InvalidInput(name, f"must be a number from 0 to {most:,}")
    return int(text)


def line_of(name: str, text: str, longest: int = 200) -> str:
    """The text in a field of one line; raises InvalidInput."""
    text = text.strip()
    if not text or len(text) > longest or not text.isprintable():
        raise InvalidInput(name, f"must be a text of 1 to {longest} characters that can be seen")
    return text


def id_of(text: str) -> int:
    """The number in an address; what is no number of ours leads nowhere."""
    if not text.isascii() or not text.isdigit() or len(text) > 19 or int(text) >= _BIGGEST:
        raise HTTPException(404)
    return int(text)

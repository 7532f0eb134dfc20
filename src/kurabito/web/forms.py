"""Forms as browsers send them. Ours are small and have no files, so the standard library reads them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import Any, ClassVar, Final, Self, TypeVar
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request

from kurabito.errors import InvalidInput, KurabitoError, StateConflict
from kurabito.reasons import InputReason, Reason, refused
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import status_of

CHECKED: Final = "yes"
"""What a ticked box sends."""
_MOST_FIELDS: Final = 10_100
"""As many as a list of 10,000 chosen shows has, and some more."""
_BETWEEN_IDS: Final = "-"
_BETWEEN: Final = re.compile("[,;\N{FULLWIDTH COMMA}\N{IDEOGRAPHIC COMMA}\N{FULLWIDTH SEMICOLON}]")
_BOUNDARY: Final = re.compile(
    r"""^multipart/form-data;.{0,200}?\bboundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))""", re.IGNORECASE
)
_FILE: Final = re.compile(
    rb"""^content-disposition:[^\r\n]*;\s*filename=(?:"[^"]|[^\s;"])""", re.IGNORECASE | re.MULTILINE
)
_MOST_PARTS: Final = 100
_LONGEST_HEAD: Final = 4_096
_WHOLE: Final = re.compile(r"-?[0-9]{1,9}")
_DECIMAL: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")

Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Problem:
    """What was refused, and where in the form it stands."""

    field: str
    detail: str
    """In English."""
    reason: Reason[Any] | None = None
    """The same for readers of every language, where there is one."""
    status: int = 422
    """How HTTP calls it."""

    @classmethod
    def of(cls, error: KurabitoError, fields: Collection[str]) -> Self:
        """What an error says about one of these fields; one that is about none of them is raised on."""
        if isinstance(error, InvalidInput):
            return cls(error.field, error.problem, error.reason, status_of(error))
        if isinstance(error, StateConflict) and error.field is not None and error.field in fields:
            return cls(error.field, error.problem, error.reason, status_of(error))
        raise error


@dataclass(frozen=True, slots=True)
class Form:
    """What was typed into a form, and what is wrong with it at which field.

    Each form of ours is a subclass: it says what its fields mean, and raises InvalidInput naming the one that means nothing.
    """

    FIELDS: ClassVar[Collection[str]] = ()
    """The fields beside which an error can be shown."""

    typed: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    """A field that was sent several times has all its values, the last of which counts."""
    problem: Problem | None = None

    @classmethod
    async def sent(cls, request: Request) -> Self:
        """The form as a browser sent it."""
        return cls(await values_of(request))

    def value(self, name: str) -> str:
        """What a field says; nothing when it was not sent."""
        values = self.values(name)
        return values[-1] if values else ""

    def values(self, name: str) -> Sequence[str]:
        """Everything that was chosen in a field of several choices."""
        typed = self.typed.get(name, ())
        return (typed,) if isinstance(typed, str) else typed

    def has(self, name: str, value: str) -> bool:
        return value in self.values(name)

    def is_checked(self, name: str) -> bool:
        return self.value(name) == CHECKED

    @property
    def status(self) -> int:
        """How HTTP calls the answer that shows a form which was refused."""
        return 200 if self.problem is None else self.problem.status

    async def submit(self, store: Callable[[Self], Awaitable[object]]) -> Self | None:
        """Store what the form says; the form as it is shown again, if that was refused."""
        try:
            await store(self)
        except KurabitoError as problem:
            return self.refused(problem)
        return None

    def refused(self, error: KurabitoError) -> Self:
        """The same form with what is wrong beside the field; what is about no field is raised on."""
        return replace(self, problem=Problem.of(error, self.FIELDS))

    def doubted(self, error: InvalidInput) -> Self:
        """The same form with what is wrong in it so far; what was refused before is said first."""
        return self if self.problem is not None else self.refused(error)


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


def uploaded(content_type: str, body: bytes) -> bytes:
    """The file of a form that has one; raises InvalidInput where there is none.

    A browser sends its parts one after the other and as they are. A parser of mail takes them for mail: parts within
    parts, transfer encodings, and minutes of work where a form was made for that.
    """
    boundary = _BOUNDARY.search(content_type)
    if boundary is not None:
        mark = b"--" + (boundary[1] or boundary[2]).encode("latin-1")
        for part in (b"\r\n" + body).split(b"\r\n" + mark, _MOST_PARTS)[1:]:
            head, _, content = part.partition(b"\r\n\r\n")
            if content and len(head) <= _LONGEST_HEAD and _FILE.search(head):
                return content
    raise InvalidInput("file", "no file was sent; choose one", refused(InputReason.NONE_CHOSEN))


def one_of(kind: type[Choice], name: str, text: str) -> Choice:
    """The choice that a field stands for; raises InvalidInput."""
    try:
        return kind(text)
    except ValueError:
        problem = f"must be one of {', '.join(kind)}, got {text!r}"
        raise InvalidInput(name, problem, refused(InputReason.CHOICE)) from None


def count_of(name: str, text: str, most: int = 100_000) -> int:
    """The number in a field; raises InvalidInput."""
    text = text.strip()
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) > most:
        raise InvalidInput(
            name, f"must be a number from 0 to {most:,}", refused(InputReason.NUMBER, least=0, most=most)
        )
    return int(text)


def whole_of(name: str, text: str, least: int, most: int) -> int:
    """The number in a field, which may be below zero; raises InvalidInput."""
    if not _WHOLE.fullmatch(text.strip()) or not least <= int(text) <= most:
        raise InvalidInput(
            name, f"must be a number from {least:,} to {most:,}", refused(InputReason.NUMBER, least=least, most=most)
        )
    return int(text)


def listed(name: str, text: str, most: int = 100) -> tuple[str, ...]:
    """The values in a field with commas between; raises InvalidInput."""
    found = dict.fromkeys(one.strip() for one in _BETWEEN.split(text) if one.strip())
    if len(found) > most:
        raise InvalidInput(name, f"must be {most} at most", refused(InputReason.TOO_MANY, most=most))
    return tuple(line_of(name, one) for one in found)


def ratio_of(name: str, text: str, most: float) -> float:
    """The number in a field, which may have decimals; raises InvalidInput."""
    if not _DECIMAL.fullmatch(text.strip()) or float(text) > most:
        raise InvalidInput(
            name, f"must be a number from 0 to {most:g}", refused(InputReason.NUMBER, least=0, most=most)
        )
    return float(text)


def line_of(name: str, text: str, longest: int = 200) -> str:
    """The text in a field of one line; raises InvalidInput."""
    text = text.strip()
    if not text or len(text) > longest or not text.isprintable():
        problem = f"must be a text of 1 to {longest} characters that can be seen"
        raise InvalidInput(name, problem, refused(InputReason.TEXT, most=longest))
    return text


def seconds_of(name: str, text: str) -> timedelta:
    """The length of time in a field, in seconds; raises InvalidInput."""
    try:
        return timedelta(seconds=float(text))
    except (ValueError, OverflowError):
        problem = f"must be a number of seconds, got {text!r}"
        raise InvalidInput(name, problem, refused(InputReason.SECONDS)) from None


def offered(lengths: Iterable[timedelta], name: str, text: str) -> list[timedelta]:
    """The lengths of time to choose from, with the one that is in the field."""
    try:
        return sorted({*lengths, seconds_of(name, text)})
    except InvalidInput:
        return sorted(lengths)


def id_cursor(request: Request) -> str | None:
    """The cursor in an address whose list goes by ids; what is no number of ours leads nowhere."""
    cursor = request.query_params.get("cursor")
    return str(id_of(cursor)) if cursor else None


def id_of(text: str) -> int:
    """The number in an address; what is no number of ours leads nowhere."""
    if not text.isascii() or not text.isdigit() or len(text) > 19 or int(text) > BIGGEST_ID:
        raise HTTPException(404)
    return int(text)


def ids_of_text(text: str | None) -> list[int]:
    """The numbers that an address lists."""
    return [id_of(one) for one in text.split(_BETWEEN_IDS)] if text else []


def text_of_ids(ids: Iterable[int]) -> str | None:
    """Numbers as an address lists them; None where there are none."""
    return _BETWEEN_IDS.join(map(str, ids)) or None

"""Templates of names: `{title}< ({year})>/Season {season:02}`.

    {title}        a token
    {season:02}    a number with at least two digits
    < ({year})>    an optional part: it vanishes when a token in it is not known
    {{ and }}      a brace

A name can have neither `<` nor `>` on every system, so that no text needs them and an optional part is easy to see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from kurabito.placements.errors import InvalidTemplate, ValueUnknown
from kurabito.placements.naming.reasons import TemplateReason
from kurabito.placements.naming.safe_names import LONGEST_STEM, safe_text, shorten
from kurabito.placements.naming.tokens import ALWAYS_KNOWN, SHORTENED, TOKENS, NameFacts, TokenKind, ends_of, value_of
from kurabito.reasons import Reason

LONGEST_TEMPLATE: Final = 500
_MOST_LITERAL: Final = 100
"""Bytes of text of its own: the rest of a name is left to what the tokens say."""
_MOST_BYTES: Final = 4
"""Of one character."""
_PIECE: Final = re.compile(r"\{\{|\}\}|\{([^{}<>]*)\}|[<>{}]|[^{}<>]+")
_TOKEN: Final = re.compile(r"([a-z_]{1,30})(?::(0?)([1-9]))?")
# A letter or two before a number: `E{episode:02}` is `E01-E02`, `{season}x{episode:02}` is `1x01-x02`.
_LETTERS: Final = re.compile(r"(?<![A-Za-z])[A-Za-z]{1,2}$")
_FORBIDDEN: Final = re.compile(r'[:"\\|?*\x00-\x1f\x7f\ud800-\udfff]')


@dataclass(frozen=True, slots=True)
class Token:
    """A place in a name that a fact fills."""

    name: str
    digits: int = 0
    joint: str = "-"
    """What stands between the first and the last of several numbers."""

    def text(self, facts: NameFacts, cut: Mapping[str, str]) -> str:
        """What stands there; raises ValueUnknown."""
        value = value_of(facts, self.name)
        if value is None:
            raise ValueUnknown(self.name)
        if isinstance(value, str):
            return cut.get(self.name, _plain_title(value) if self.name.startswith("title") else value)
        if isinstance(value, int):
            return f"{value:0{self.digits}}"
        if len(value) == 1:
            return f"{value[0]:0{self.digits}}"
        return self.joint.join(f"{number:0{self.digits}}" for number in ends_of(value))


@dataclass(frozen=True, slots=True)
class OptionalPart:
    """A part that vanishes when a token in it is not known."""

    parts: tuple[str | Token, ...]

    def text(self, facts: NameFacts, cut: Mapping[str, str]) -> str:
        try:
            return "".join(part if isinstance(part, str) else part.text(facts, cut) for part in self.parts)
        except ValueUnknown:
            return ""


Part = str | Token | OptionalPart


@dataclass(frozen=True, slots=True)
class Template:
    """A template that was read; `read_template` makes one."""

    parts: tuple[Part, ...] = ()

    def render(self, facts: NameFacts, longest: int = LONGEST_STEM) -> str:
        """The name, at most so many bytes long: texts give way, numbers stay. Raises ValueUnknown."""
        cut: dict[str, str] = {}
        name = self._text(facts, cut)
        if len(name) * _MOST_BYTES <= longest:
            return name
        used = set(self.tokens)
        for token in SHORTENED:
            excess = len(safe_text(name).encode()) - longest
            if excess <= 0:
                break
            value = value_of(facts, token)
            if token in used and isinstance(value, str):
                cut[token] = _without(safe_text(value), excess)
                name = self._text(facts, cut)
        return name

    @property
    def tokens(self) -> Iterator[str]:
        """The tokens that it has."""
        for part in self.parts:
            for inner in part.parts if isinstance(part, OptionalPart) else (part,):
                if isinstance(inner, Token):
                    yield inner.name

    @property
    def needed(self) -> frozenset[str]:
        """The tokens without which there is no name, and which are not known of every file."""
        return frozenset(part.name for part in self.parts if isinstance(part, Token)) - ALWAYS_KNOWN

    def _text(self, facts: NameFacts, cut: Mapping[str, str]) -> str:
        return "".join([part if isinstance(part, str) else part.text(facts, cut) for part in self.parts])


@lru_cache(maxsize=256)
def read_template(text: str, field: str = "template") -> Template:
    """Read and check a template of one name; raises InvalidTemplate, which says at which character it is wrong."""
    if len(text) > LONGEST_TEMPLATE:
        facts = {"most": LONGEST_TEMPLATE, "position": LONGEST_TEMPLATE + 1}
        problem = f"must have at most {LONGEST_TEMPLATE} characters"
        raise InvalidTemplate(field, problem, Reason(TemplateReason.TOO_LONG, facts))
    reader = _Reader(field)
    for piece in _PIECE.finditer(text):
        reader.read(piece)
    return reader.finish(len(text))


class _Reader:
    """Reads a template piece by piece."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._parts: list[Part] = []
        self._optional: list[Part] | None = None
        self._opened_at = 0
        self._literal = 0

    def read(self, piece: re.Match[str]) -> None:
        written, at = piece[0], piece.start() + 1
        if piece[1] is not None:
            self._add(self._token(piece[1], at))
        elif written in ("{{", "}}"):
            self._add_text(written[0], at)
        elif written == "<":
            if self._optional is not None:
                raise self._wrong(TemplateReason.NESTED, "an optional part cannot have another one in it", at)
            self._optional, self._opened_at = [], at
        elif written == ">":
            self._close(at)
        elif written == "{":
            problem = "this brace is never closed; a brace of the name is written {{"
            raise self._wrong(TemplateReason.BRACE_OPEN, problem, at)
        elif written == "}":
            problem = "this brace closes nothing; a brace of the name is written }}"
            raise self._wrong(TemplateReason.BRACE_CLOSED, problem, at)
        else:
            self._add_text(written, at)

    def finish(self, length: int) -> Template:
        if self._optional is not None:
            problem = "this optional part is never closed; end it with >"
            raise self._wrong(TemplateReason.PART_OPEN, problem, self._opened_at)
        if self._literal > _MOST_LITERAL:
            problem = f"has more than {_MOST_LITERAL} bytes of text beside its tokens"
            raise self._wrong(TemplateReason.MUCH_TEXT, problem, length, most=_MOST_LITERAL)
        return Template(tuple(self._parts))

    def _close(self, at: int) -> None:
        if self._optional is None:
            raise self._wrong(TemplateReason.PART_CLOSED, "no optional part begins before this >", at)
        if not any(isinstance(part, Token) for part in self._optional):
            problem = "this optional part has no token, so it would never vanish"
            raise self._wrong(TemplateReason.PART_FIXED, problem, self._opened_at)
        self._parts.append(OptionalPart(tuple(part for part in self._optional if not isinstance(part, OptionalPart))))
        self._optional = None

    def _token(self, written: str, at: int) -> Token:
        found = _TOKEN.fullmatch(written)
        name = found[1] if found else written.partition(":")[0]
        kind = TOKENS.get(name)
        if kind is None:
            raise self._wrong(TemplateReason.UNKNOWN_TOKEN, f"there is no token {{{name}}}", at, token=name)
        if found is None:
            problem = f"{{{written}}} has a format that is not understood; {{{name}:02}} is two digits"
            raise self._wrong(TemplateReason.FORMAT, problem, at, token=name)
        if found[3] and kind is TokenKind.TEXT:
            problem = f"{{{name}}} is a text and has no digits"
            raise self._wrong(TemplateReason.DIGITS, problem, at + len(name) + 1, token=name)
        letters = _LETTERS.search(self._text_before()) if kind is TokenKind.NUMBERS else None
        return Token(name, int(found[3] or 0), f"-{letters[0]}" if letters else "-")

    def _text_before(self) -> str:
        parts = self._parts if self._optional is None else self._optional
        before = parts[-1] if parts else ""
        return before if isinstance(before, str) else ""

    def _add_text(self, text: str, at: int) -> None:
        if "/" in text:
            problem = "a name cannot have a slash; folders have templates of their own"
            raise self._wrong(TemplateReason.SLASH, problem, at + text.index("/"))
        if found := _FORBIDDEN.search(text):
            problem = f"no name can have {found[0]!r} on every system"
            raise self._wrong(TemplateReason.CHARACTER, problem, at + found.start(), character=found[0])
        self._literal += len(text.encode(errors="replace"))
        self._add(text)

    def _add(self, part: str | Token) -> None:
        parts = self._parts if self._optional is None else self._optional
        before = parts[-1] if parts else None
        if isinstance(part, str) and isinstance(before, str):
            parts[-1] = before + part
        else:
            parts.append(part)

    def _wrong(self, code: TemplateReason, problem: str, at: int, **facts: Any) -> InvalidTemplate:
        return InvalidTemplate(self._field, problem, Reason(code, {**facts, "position": at}))


def _without(text: str, excess: int) -> str:
    return shorten(text, max(0, len(text.encode()) - excess)).rstrip()


@lru_cache(maxsize=4096)
def _plain_title(title: str) -> str:
    """A title as it stands in a name: the same in those of all its files. What its last character means, the rest of the name says."""
    return title if title.endswith(":") else safe_text(title)

"""Rules for which links are taken.

A link is taken if no rule that excludes matches it and every rule that includes does, over all the rules that are about it.
Patterns are matched by RE2, in time proportional to the title: a rule can be wrong, and it cannot hold anything up.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any, Final, NamedTuple

import re2  # type: ignore[import-untyped]

from kurabito.catalog.releases import Name
from kurabito.downloads.filters import pattern_faults
from kurabito.errors import InvalidInput
from kurabito.reasons import InputReason, refused

LONGEST_PATTERN: Final = 1_000
_MEMORY: Final = 1 << 20


class Action(StrEnum):
    """What a rule does with the links that it matches."""

    INCLUDE = "include"
    """Only these are taken."""
    EXCLUDE = "exclude"


class Target(StrEnum):
    """What a rule is about."""

    GLOBAL = "global"
    SERIES = "series"
    GROUP = "group"
    FETCHER = "fetcher"
    SUBSCRIPTION = "subscription"


class Test(NamedTuple):
    """Whether one thing that is known of a link fits."""

    reads: str
    """The column that has it."""
    fits: Callable[[Any], bool]


class RuleScope(NamedTuple):
    """The links that a rule is about."""

    target_type: Target
    target_id: int | None = None

    def tests(self) -> list[Test]:
        """What a link has to be, to be among them."""
        wanted = self.target_id
        match self.target_type:
            case Target.GLOBAL:
                return []
            case Target.SERIES:
                return [Test("series_id", lambda known: known == wanted)]
            case Target.GROUP:
                return [Test("group_id", lambda known: known == wanted)]
            case Target.SUBSCRIPTION:
                return [Test("subscription_id", lambda known: known == wanted)]
            case Target.FETCHER:
                is_fetched = Test("subscription_id", lambda known: known is not None)
                return [is_fetched, Test("module_id", lambda known: known == wanted)]


EVERYTHING: Final = RuleScope(Target.GLOBAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """What a link has to be. Everything that is named has to fit; of a list, any."""

    groups: tuple[str, ...] = ()
    resolutions: tuple[int, ...] = ()
    languages: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    min_size: int | None = None
    max_size: int | None = None
    title: str | None = None
    """Words that stand in the title as they are."""

    def tests(self) -> list[Test]:
        """One for each field that is named. What is not known of a link fits nothing."""
        found: list[Test] = []
        if self.groups:
            folded = {Name.of(group).folded for group in self.groups}
            found.append(Test("group_name", lambda known: known in folded))
        if self.resolutions:
            found.append(Test("resolution", lambda known: known in self.resolutions))
        if self.sources:
            sources = {source.casefold() for source in self.sources}
            found.append(Test("source", lambda known: known is not None and known.casefold() in sources))
        if self.min_size is not None or self.max_size is not None:
            least, most = self.min_size or 0, self.max_size
            found.append(
                Test(
                    "size_bytes",
                    lambda known: known is not None and least <= known and (most is None or known <= most),
                )
            )
        if self.languages:
            found.append(Test("languages", _speaking({language.casefold() for language in self.languages})))
        if self.title is not None:
            words = unicodedata.normalize("NFKC", self.title).casefold()
            found.append(Test("title", lambda known: words in unicodedata.normalize("NFKC", known).casefold()))
        return found

    def stored(self) -> str:
        """As JSON, without what is not named."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps({name: value for name, value in values.items() if value not in (None, ())})

    @classmethod
    def read(cls, text: str) -> Fields:
        found: dict[str, Any] = json.loads(text)
        listed: dict[str, Any] = {name: tuple(value) for name, value in found.items() if isinstance(value, list)}
        return cls(**(found | listed))


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterRule:
    """Takes or leaves the links that a pattern, or all of some fields, match."""

    id: int | None = None
    name: str
    action: Action
    scope: RuleScope = EVERYTHING
    rule_order: int = 0
    """Of several rules that decide the same, the first is named as the reason."""
    pattern: str | None = None
    fields: Fields = Fields()
    is_enabled: bool = True
    tests: tuple[Test, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kind, target_id = self.scope
        if kind is Target.GLOBAL and target_id is not None:
            problem = "must not be given for a rule about everything"
            raise InvalidInput("target_id", problem, refused(InputReason.TARGET_UNWANTED))
        if kind not in (Target.GLOBAL, Target.FETCHER) and target_id is None:
            problem = f"must be given for a rule about one {kind}"
            raise InvalidInput("target_id", problem, refused(InputReason.TARGET_MISSING))
        tests = self.fields.tests()
        if self.pattern is not None:
            tests.append(Test("title", searching(self.pattern)))
        if not tests:
            problem = "must be given, or at least one of the fields"
            raise InvalidInput("pattern", problem, refused(InputReason.NOTHING_TO_MATCH))
        object.__setattr__(self, "tests", tuple(tests))


def _speaking(wanted: set[str]) -> Callable[[str], bool]:
    @cache
    def speaks(listed: str) -> bool:
        return any(one.casefold() in wanted for one in json.loads(listed))

    return speaks


def searching(pattern: str) -> Callable[[str], bool]:
    """Whether a pattern is found in a title; raises InvalidInput. RE2 needs no time that grows out of hand."""
    if len(pattern) > LONGEST_PATTERN:
        problem = f"must be at most {LONGEST_PATTERN} characters"
        raise InvalidInput("pattern", problem, refused(InputReason.TEXT, most=LONGEST_PATTERN))
    options = re2.Options()
    options.case_sensitive = False
    options.never_capture = True
    options.max_mem = _MEMORY
    options.log_errors = False
    try:
        search: Any = re2.compile(pattern, options).search
    except (re2.error, UnicodeError) as error:
        message = error.args[0] if error.args else error
        message = message.decode(errors="replace") if isinstance(message, bytes) else message
        fault = pattern_faults.located(pattern, str(message))
        raise InvalidInput("pattern", f"cannot be used: {fault}", refused(InputReason.PATTERN, text=fault)) from None
    # In bytes it does not have to count the characters before a match, which takes longer than the search.
    return lambda title: search(unicodedata.normalize("NFKC", title).encode()) is not None

"""Which links are taken: rules, and what they decide.

A link is taken if no rule that excludes matches it and every rule that includes does, over all the rules that are about it.
Patterns are matched by RE2, in time proportional to the title: a rule can be wrong, and it cannot hold anything up.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple

import re2  # type: ignore[import-untyped]

from kurabito.catalog.releases import Name
from kurabito.errors import InvalidInput

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


ORIGINS: Final = frozenset({Target.FETCHER, Target.SUBSCRIPTION})
"""Where a link came from, which has to be looked up."""


class Scope(NamedTuple):
    """The links that a rule is about."""

    target_type: Target
    target_id: int | None = None


EVERYTHING: Final = Scope(Target.GLOBAL)


class Candidate(NamedTuple):
    """A link, as far as rules look at it."""

    id: int
    title: str
    group: str | None
    """As it is compared: letters and digits only."""
    resolution: int | None
    languages: str
    """A JSON list."""
    source: str | None
    size_bytes: int | None
    series_id: int
    group_id: int | None
    subscription_id: int | None
    module_id: int | None
    is_filtered: bool
    is_held: bool


Test = Callable[[Candidate], bool]


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
            found.append(lambda link: link.group in folded)
        if self.resolutions:
            found.append(lambda link: link.resolution in self.resolutions)
        if self.sources:
            sources = {source.casefold() for source in self.sources}
            found.append(lambda link: link.source is not None and link.source.casefold() in sources)
        if self.min_size is not None or self.max_size is not None:
            least, most = self.min_size or 0, self.max_size
            found.append(
                lambda link: (
                    link.size_bytes is not None
                    and least <= link.size_bytes
                    and (most is None or link.size_bytes <= most)
                )
            )
        if self.languages:
            wanted = {language.casefold() for language in self.languages}
            found.append(lambda link: any(one.casefold() in wanted for one in json.loads(link.languages)))
        if self.title is not None:
            words = unicodedata.normalize("NFKC", self.title).casefold()
            found.append(lambda link: words in unicodedata.normalize("NFKC", link.title).casefold())
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
    scope: Scope = EVERYTHING
    rule_order: int = 0
    """Of several rules that decide the same, the first is named as the reason."""
    pattern: str | None = None
    fields: Fields = Fields()
    is_enabled: bool = True
    _tests: tuple[Test, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kind, target_id = self.scope
        if kind is Target.GLOBAL and target_id is not None:
            raise InvalidInput("target_id", "must not be given for a rule about everything")
        if kind not in (Target.GLOBAL, Target.FETCHER) and target_id is None:
            raise InvalidInput("target_id", f"must be given for a rule about one {kind}")
        tests = self.fields.tests()
        if self.pattern is not None:
            tests.append(_searching(self.pattern))
        if not tests:
            raise InvalidInput("pattern", "must be given, or at least one of the fields")
        object.__setattr__(self, "_tests", tuple(tests))

    def is_about(self, link: Candidate) -> bool:
        """Whether the link is in the rule's scope."""
        kind, wanted = self.scope
        match kind:
            case Target.GLOBAL:
                return True
            case Target.SERIES:
                return link.series_id == wanted
            case Target.GROUP:
                return link.group_id == wanted
            case Target.SUBSCRIPTION:
                return link.subscription_id == wanted
            case Target.FETCHER:
                return link.subscription_id is not None and link.module_id == wanted

    def matches(self, link: Candidate) -> bool:
        """Whether all that the rule names fits the link."""
        for test in self._tests:  # noqa: SIM110 - a hundred thousand generators take their time
            if not test(link):
                return False
        return True


class Decision(NamedTuple):
    """Whether a link is taken, and the rule that decided otherwise."""

    is_taken: bool
    rule: FilterRule | None = None

    @property
    def reason(self) -> str | None:
        """What is written beside the link."""
        if self.rule is None:
            return None
        does = "excluded by" if self.rule.action is Action.EXCLUDE else "not included by"
        return f"{does} {self.rule.name}"


_TAKEN: Final = Decision(True)


class FilterEngine:
    """Decides by some rules; those that are off are passed over."""

    def __init__(self, rules: Iterable[FilterRule]) -> None:
        followed = [rule for rule in rules if rule.is_enabled]
        # A draft has no id yet and comes last, as it will when it is stored.
        self._rules = sorted(followed, key=lambda rule: (rule.rule_order, rule.id is None, rule.id or 0))

    @property
    def asks_for_origin(self) -> bool:
        """Whether some rule looks at where a link came from, or who made it."""
        return any(rule.scope.target_type in ORIGINS or rule.fields.groups for rule in self._rules)

    def decide(self, link: Candidate) -> Decision:
        """What becomes of a link."""
        for rule in self._rules:
            if rule.is_about(link) and rule.matches(link) is (rule.action is Action.EXCLUDE):
                return Decision(False, rule)
        return _TAKEN

    def decide_all(self, links: Iterable[Candidate]) -> Mapping[int, Decision]:
        """What becomes of each link, by its id."""
        return {link.id: self.decide(link) for link in links} if self._rules else {link.id: _TAKEN for link in links}


def _searching(pattern: str) -> Test:
    if len(pattern) > LONGEST_PATTERN:
        raise InvalidInput("pattern", f"must be at most {LONGEST_PATTERN} characters")
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = _MEMORY
    options.log_errors = False
    try:
        search: Any = re2.compile(pattern, options).search
    except (re2.error, UnicodeError) as error:
        said = error.args[0] if error.args else error
        said = said.decode(errors="replace") if isinstance(said, bytes) else said
        raise InvalidInput("pattern", f"cannot be used: {said}") from None
    return lambda link: search(unicodedata.normalize("NFKC", link.title)) is not None

"""Rules that a user wrote for titles that the recognisers get wrong; they come first.

Patterns are matched by RE2, which needs time in proportion to the title whatever the pattern is: a rule can be wrong, but it
cannot stop the feed it was written for. What RE2 lacks for that (looking ahead or behind, references back) is refused with
its name when the rule is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import re2  # type: ignore[import-untyped]

from kurabito.reasons import InputReason, Reason, refused
from kurabito.titles.groups import split_group
from kurabito.titles.model import Finding, ReleaseKind, ReleaseTitle
from kurabito.titles.numbers import read_run

LONGEST_PATTERN: Final = 1000
_MEMORY: Final = 1 << 20
_REFERENCE: Final = re.compile(r"\{(\w+)\}")
_NOTHING: Final[Mapping[str, Any]] = {}


class InvalidRule(ValueError):
    """A rule cannot be used; says which part of it, and why."""

    code: Final = "invalid_rule"

    def __init__(self, part: str, problem: str, reason: Reason[InputReason]) -> None:
        super().__init__(f"{part}: {problem}")
        self.part = part
        self.problem = problem
        self.reason = reason


def _episodes(value: str) -> dict[str, Any]:
    run = read_run(value.strip(), 0)
    if run is None or run.end != len(value.strip()):
        raise ValueError(f"{value!r} is neither a number of an episode nor a range")
    return {"episodes": run.numbers, "is_batch": len(run.numbers) > 1}


def _yes_or_no(value: str) -> dict[str, Any]:
    if value.lower() not in ("true", "false"):
        raise ValueError(f"{value!r} is neither true nor false")
    return {"is_batch": value.lower() == "true"}


_FIELDS: Final[Mapping[str, Callable[[str], dict[str, Any]]]] = {
    "title": lambda value: {"title": value, "titles": (value,)},
    "season": lambda value: {"season": int(value), "seasons": (int(value),)},
    "episodes": _episodes,
    "version": lambda value: {"version": int(value)},
    "group": lambda value: {"group": value, "groups": split_group(value)},
    "resolution": lambda value: {"resolution": int(value.lower().removesuffix("p").removesuffix("i"))},
    "source": lambda value: {"source": value},
    "languages": lambda value: {"languages": tuple(code.strip() for code in value.split(",") if code.strip())},
    "year": lambda value: {"year": int(value)},
    "kind": lambda value: {"kind": ReleaseKind(value.lower())},
    "is_batch": _yes_or_no,
}


@dataclass(frozen=True, slots=True)
class TitleRule:
    """If `condition` is found in a title and `parse` too, then `fields` are what the title says.

    A field is fixed, or made of what `parse` captured: `{1}` or `{name}`. A capture that is named like a field needs no entry.

        TitleRule(
            name="The Cellar counts on",
            condition=r"^\\[Kura\\] The Cellar",
            parse=r"The Cellar (?P<episodes>\\d+)",
            fields={"title": "The Cellar", "season": "2"},
        )
    """

    name: str
    condition: str
    parse: str
    fields: Mapping[str, str] = field(default_factory=dict)
    priority: int = 50
    """The larger goes first."""
    _condition: Any = field(init=False, repr=False, compare=False)
    _parse: Any = field(init=False, repr=False, compare=False)
    _captured: tuple[tuple[str, int], ...] = field(init=False, repr=False, compare=False)
    """The fields that `parse` captures by their names, and the numbers of these captures."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_condition", _compiled("condition", self.condition))
        object.__setattr__(self, "_parse", _compiled("parse", self.parse))
        named = self._parse.groupindex
        object.__setattr__(self, "_captured", tuple(one for one in named.items() if one[0] in _FIELDS))
        captured = {*named, *map(str, range(self._parse.groups + 1))}
        for name, value in self.fields.items():
            if name not in _FIELDS:
                problem = f"there is no such field; there are {', '.join(_FIELDS)}"
                raise InvalidRule(f"fields.{name}", problem, refused(InputReason.CHOICE))
            references = _REFERENCE.findall(value)
            if unknown := set(references) - captured:
                names = ", ".join(sorted(unknown))
                reason = refused(InputReason.CAPTURE, names=names)
                raise InvalidRule(f"fields.{name}", f"parse captures nothing named {names}", reason)
            if not references:
                _check_fixed(name, value)
        if not self.fields and not captured & _FIELDS.keys():
            problem = "the rule says nothing: capture a field by its name, or give one a value"
            raise InvalidRule("fields", problem, refused(InputReason.NOTHING_SAID))

    def fits(self, text: str) -> bool:
        """Whether both of its patterns are found in a title; of others it says nothing."""
        return self._search(text) is not None

    def apply(self, text: str, found: ReleaseTitle, own: Mapping[str, Any] = _NOTHING) -> ReleaseTitle | None:
        """What the title says by this rule, the rest as it was found; None if the rule does not fit.

        What it has of its `own` stands in place of what was found in others like it.
        """
        match = self._search(text)
        if match is None:
            return None
        said = {name: _capture(match, number) for name, number in self._captured}
        if self.fields:
            said |= {
                name: _REFERENCE.sub(lambda one: _referred(match, one[1]), value) for name, value in self.fields.items()
            }
        changes: dict[str, Any] = {}
        for name, value in said.items():
            if value and value.strip():
                try:
                    changes |= _FIELDS[name](value.strip())
                except ValueError:
                    # It captured something else than this field can hold: the rule was written for other titles.
                    return None
        findings = found.findings
        if findings:
            why = f"the rule {self.name!r} says {', '.join(changes)}"
            start = len(match.string[: match.start()].decode(errors="ignore"))
            findings = (Finding("rule", _capture(match, 0), why, start), *findings)
        # The author of a rule knows what the numbers mean.
        doubts = () if changes.keys() & {"season", "episodes"} else found.doubts
        return found.changed(**{**own, **changes}, written=(), doubts=doubts, rule=self.name, findings=findings)

    def _search(self, text: str) -> Any:
        """Where `parse` is found in a title that `condition` is found in, in UTF-8; else None."""
        # RE2 reads bytes: given a text it would count all that it found in characters, which takes longer than to find it.
        encoded = text.encode()
        return self._parse.search(encoded) if self._condition.search(encoded) is not None else None


def follow(
    rules: Iterable[TitleRule], text: str, found: ReleaseTitle, own: Mapping[str, Any] = _NOTHING
) -> ReleaseTitle | None:
    """What the first fitting rule makes of a title; None if none fits."""
    for rule in sorted(rules, key=lambda rule: -rule.priority):
        if (changed := rule.apply(text, found, own)) is not None:
            return changed
    return None


def _referred(match: Any, reference: str) -> str:
    return _capture(match, int(reference) if reference.isdecimal() else reference)


def _capture(match: Any, group: int | str) -> str:
    # `\C` matches a part of a character.
    return (match[group] or b"").decode(errors="ignore")


def _check_fixed(name: str, value: str) -> None:
    try:
        _FIELDS[name](value)
    except ValueError as error:
        raise InvalidRule(f"fields.{name}", str(error), refused(InputReason.VALUE, value=value)) from None


def _compiled(part: str, pattern: str) -> Any:
    if len(pattern) > LONGEST_PATTERN:
        problem = f"the pattern has {len(pattern):,} characters; at most {LONGEST_PATTERN:,} are read"
        raise InvalidRule(part, problem, refused(InputReason.PATTERN_LONG, most=LONGEST_PATTERN))
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = _MEMORY
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeError) as error:
        said = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        reason = refused(InputReason.PATTERN, text=said)
        raise InvalidRule(part, f"not a pattern that can be matched in bounded time: {said}", reason) from None

"""The form that asks for a filter rule: what was typed, what it means, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kurabito.downloads.filters.model import EVERYTHING, LONGEST_PATTERN, Action, Fields, FilterRule, RuleScope, Target
from kurabito.errors import InvalidInput
from kurabito.reasons import InputReason, refused
from kurabito.web.forms import CHECKED, Form, count_of, line_of, listed, one_of

LISTS: Final = ("groups", "resolutions", "languages", "sources")
"""Fields that take several values."""
_MIB: Final = 1 << 20
_LARGEST_MIB: Final = 1 << 32
_ORDERS: Final = 1_000_000
_HIGHEST: Final = 100_000
_LARGEST_ID: Final = 10**9
_UNNAMED: Final = "…"


@dataclass(frozen=True, slots=True)
class FilterForm(Form):
    """The fields as they are shown."""

    FIELDS = (
        "name",
        "action",
        "scope",
        "rule_order",
        "pattern",
        *LISTS,
        "min_size",
        "max_size",
        "words",
        "is_enabled",
    )

    @classmethod
    def blank(cls) -> FilterForm:
        """The form for a new rule."""
        return cls({"is_enabled": CHECKED})

    @classmethod
    def of(cls, rule: FilterRule) -> FilterForm:
        """The form as it looks for a rule."""
        fields = rule.fields
        return cls(
            {
                "name": rule.name,
                "action": rule.action.value,
                "scope": key_of(rule.scope),
                "rule_order": str(rule.rule_order),
                "pattern": rule.pattern or "",
                **{name: ", ".join(str(one) for one in getattr(fields, name)) for name in LISTS},
                "min_size": _in_mib(fields.min_size),
                "max_size": _in_mib(fields.max_size),
                "words": fields.title or "",
                "is_enabled": CHECKED if rule.is_enabled else "",
            }
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to try yet."""
        return not any(self.value(name).strip() for name in ("pattern", *LISTS, "min_size", "max_size", "words"))

    def draft(self) -> FilterRule:
        """The rule as it is so far, to be tried; raises InvalidInput naming what is wrong in it."""
        return self._rule(self.value("name").strip() or _UNNAMED)

    def rule(self) -> FilterRule:
        """The rule, to be kept; raises InvalidInput naming what is wrong in it."""
        return self._rule(line_of("name", self.value("name")))

    def _rule(self, name: str) -> FilterRule:
        pattern = self.value("pattern").strip()
        if not pattern.isprintable() or len(pattern) > LONGEST_PATTERN:
            problem = f"must be a text that can be seen, of {LONGEST_PATTERN} characters at most"
            raise InvalidInput("pattern", problem, refused(InputReason.TEXT, most=LONGEST_PATTERN))
        words = self.value("words").strip()
        return FilterRule(
            name=name,
            action=one_of(Action, "action", self.value("action") or Action.EXCLUDE),
            scope=scope_of(self.value("scope")),
            rule_order=self._order(),
            pattern=pattern or None,
            fields=Fields(
                groups=self._listed("groups"),
                resolutions=tuple(_height(one) for one in self._listed("resolutions")),
                languages=self._listed("languages"),
                sources=self._listed("sources"),
                min_size=self._bytes("min_size"),
                max_size=self._bytes("max_size"),
                title=line_of("words", words) if words else None,
            ),
            is_enabled=self.is_checked("is_enabled"),
        )

    def _listed(self, name: str) -> tuple[str, ...]:
        return listed(name, self.value(name))

    def _bytes(self, name: str) -> int | None:
        text = self.value(name).strip()
        if not text:
            return None
        try:
            mib = float(text)
        except ValueError:
            mib = -1.0
        if not 0 <= mib <= _LARGEST_MIB:
            problem = f"must be a number of MiB from 0 to {_LARGEST_MIB:,}, got {text!r}"
            raise InvalidInput(name, problem, refused(InputReason.NUMBER, least=0, most=_LARGEST_MIB))
        return round(mib * _MIB)

    def _order(self) -> int:
        text = self.value("rule_order").strip()
        number = count_of("rule_order", text.removeprefix("-") or "0", _ORDERS)
        return -number if text.startswith("-") else number


def key_of(scope: RuleScope) -> str:
    """A scope as the form's choice has it."""
    kind, target_id = scope
    return kind.value if target_id is None else f"{kind.value}:{target_id}"


def scope_of(key: str) -> RuleScope:
    """What a choice stands for; raises InvalidInput."""
    kind, _, target_id = key.partition(":")
    if not kind:
        return EVERYTHING
    return RuleScope(one_of(Target, "scope", kind), count_of("scope", target_id, _LARGEST_ID) if target_id else None)


def _height(text: str) -> int:
    return count_of("resolutions", text.lower().removesuffix("p"), _HIGHEST)


def _in_mib(size: int | None) -> str:
    """Written so that reading it gives the same number of bytes."""
    if size is None:
        return ""
    return str(size // _MIB) if size % _MIB == 0 else repr(size / _MIB)

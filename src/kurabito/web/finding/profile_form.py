"""The form that asks how releases are chosen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from kurabito.downloads.choice import ReleasePreferences
from kurabito.downloads.profiles.model import MOST_MB, MOST_MINUTES
from kurabito.errors import InvalidInput
from kurabito.feeds.preferences import Batches, Policy, Preferences, Term
from kurabito.reasons import InputReason, refused
from kurabito.web.forms import CHECKED, Form, count_of, line_of, listed, one_of, ratio_of

LISTS: Final = ("groups", "languages", "resolutions", "sources", "codecs", "audio")
"""Lists that begin with the best."""
SWITCHES: Final = ("takes_specials", "takes_decimals", "takes_revisions")
_TERM: Final = re.compile(r"([+-]?[0-9]{1,7})\s+(\S.*)")
_HIGHEST: Final = 100_000


@dataclass(frozen=True, slots=True)
class ProfileForm(Form):
    """The fields as they are shown."""

    FIELDS = ("name", "conflict_policy", "wait_minutes", "stop_at", "terms", "batches", "least_mb", "most_mb", *LISTS)

    @classmethod
    def of(cls, chosen: ReleasePreferences, name: str | None = None, *, is_default: bool = False) -> ProfileForm:
        """The form as it looks for a profile."""
        liked = chosen.preferred
        switches = {one: CHECKED if getattr(liked, one) else "" for one in SWITCHES}
        return cls(
            {
                "name": name or "",
                "is_default": CHECKED if is_default else "",
                "conflict_policy": chosen.policy.value,
                "upgrade": CHECKED if chosen.upgrade else "",
                "wait_minutes": str(chosen.wait_minutes),
                "stop_at": "" if liked.stop_at is None else str(liked.stop_at),
                "terms": "\n".join(f"{one.points} {_written(one)}" for one in liked.terms),
                "batches": liked.batches.value,
                "least_mb": _number(liked.least_mb),
                "most_mb": _number(liked.most_mb),
                **{one: ", ".join(map(str, getattr(liked, one))) for one in LISTS},
                **switches,
            }
        )

    def named(self) -> str:
        """The name; raises InvalidInput."""
        return line_of("name", self.value("name"), 100)

    def chosen(self) -> ReleasePreferences:
        """How releases are chosen; raises InvalidInput naming the field."""
        lists: dict[str, Any] = {one: listed(one, self.value(one)) for one in LISTS if one != "resolutions"}
        switches: dict[str, Any] = {one: self.is_checked(one) for one in SWITCHES}
        heights = listed("resolutions", self.value("resolutions"))
        stop_at = self.value("stop_at").strip()
        preferred = Preferences(
            **lists,
            resolutions=tuple(count_of("resolutions", one.rstrip("pP"), _HIGHEST) for one in heights),
            terms=tuple(_term(line) for line in self.value("terms").splitlines() if line.strip()),
            batches=one_of(Batches, "batches", self.value("batches") or Batches.ANY),
            least_mb=self._megabytes("least_mb"),
            most_mb=self._megabytes("most_mb"),
            stop_at=count_of("stop_at", stop_at, 1_000_000) if stop_at else None,
            **switches,
        )
        return ReleasePreferences(
            policy=one_of(Policy, "conflict_policy", self.value("conflict_policy") or Policy.BEST),
            upgrade=self.is_checked("upgrade"),
            wait_minutes=count_of("wait_minutes", self.value("wait_minutes") or "0", MOST_MINUTES),
            preferred=preferred,
        )

    def _megabytes(self, name: str) -> float | None:
        text = self.value(name).strip().replace(",", ".")
        return ratio_of(name, text, MOST_MB) if text else None


def _term(line: str) -> Term:
    found = _TERM.fullmatch(line.strip())
    if found is None:
        problem = f"must be points and a text in each line, got {line.strip()[:60]!r}"
        raise InvalidInput("terms", problem, refused(InputReason.TEXT, most=200))
    points, text = int(found[1]), found[2].strip()
    is_pattern = len(text) > 2 and text[0] == text[-1] == "/"
    return Term(text[1:-1] if is_pattern else text, points, is_pattern)


def _written(term: Term) -> str:
    return f"/{term.text}/" if term.is_pattern else term.text


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"

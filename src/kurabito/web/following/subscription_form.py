"""The form that says how a feed is followed: what was typed, what it means, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from kurabito.errors import InvalidInput, KurabitoError
from kurabito.feeds.subscriptions import DEFAULT_INTERVAL, NewSeries, StartWith, SubscriptionSettings
from kurabito.web.forms import Problem, one_of

INTERVALS: Final = tuple(timedelta(minutes=minutes) for minutes in (5, 15, 30, 60, 6 * 60, 24 * 60))
"""What the form offers; a subscription may have any other."""
_FIELDS: Final = ("name", "url", "series_id", "new_series", "start_with", "chosen", "fetch_interval", "allows_private")
_MOST_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class SubscriptionForm:
    """The fields as they are shown: as they are now, or as somebody filled them in."""

    typed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    problem: Problem | None = None

    @classmethod
    def of(cls, wishes: SubscriptionSettings) -> SubscriptionForm:
        """The form as it looks for a subscription."""
        form = cls(
            {
                "name": [wishes.name],
                "url": [wishes.url],
                "series_id": [str(wishes.series_id or "")],
                "new_series": [wishes.new_series.value],
                "fetch_interval": [f"{wishes.fetch_interval.total_seconds():g}"],
            }
        )
        return cls({**form.typed, "allows_private": [form.host]}) if wishes.allows_private else form

    def named(self, title: str | None) -> SubscriptionForm:
        """The same form with a name to begin with: the feed's title, or its site."""
        if self.value("name"):
            return self
        seen = "".join(char for char in title or "" if char.isprintable()).strip()[:200]
        return SubscriptionForm({**self.typed, "name": [seen or self.host]}, self.problem)

    @property
    def url(self) -> str:
        return self.value("url").strip()

    @property
    def host(self) -> str:
        """The site that the URL names, without what only its owner should see."""
        try:
            return urlsplit(self.url).netloc.rpartition("@")[2]
        except ValueError:
            return ""

    @property
    def allows_private(self) -> bool:
        """Whether the host may be inside the keeper's own network. It is the host that is allowed: another has to be anew."""
        return bool(self.host) and self.has("allows_private", self.host)

    @property
    def start_with(self) -> StartWith:
        """Which of the items that are there already are taken; raises InvalidInput."""
        return one_of(StartWith, "start_with", self.value("start_with") or StartWith.NOW)

    @property
    def chosen(self) -> Sequence[str]:
        """The items that are taken, when those are chosen one by one; raises InvalidInput."""
        if self.start_with is not StartWith.CHOSEN:
            return ()
        if not (keys := self.typed.get("chosen", ())):
            raise InvalidInput("chosen", "choose at least one item, or begin from now on")
        return keys

    def value(self, name: str) -> str:
        return self.typed[name][-1] if self.typed.get(name) else ""

    def has(self, name: str, value: str) -> bool:
        return value in self.typed.get(name, ())

    def interval(self) -> timedelta:
        """The time between two readings; raises InvalidInput."""
        text = self.value("fetch_interval")
        try:
            return timedelta(seconds=float(text)) if text else DEFAULT_INTERVAL
        except (ValueError, OverflowError):
            raise InvalidInput("fetch_interval", f"must be a number of seconds, got {text!r}") from None

    def intervals(self) -> list[timedelta]:
        """The intervals to choose from, with the one that is set."""
        try:
            return sorted({*INTERVALS, self.interval()})
        except InvalidInput:
            return list(INTERVALS)

    def changes(self) -> dict[str, Any]:
        """The fields of `SubscriptionSettings` that the form has; raises InvalidInput naming the field."""
        return {
            "name": self.value("name").strip(),
            "url": self.url,
            "series_id": self.series_id(),
            "new_series": one_of(NewSeries, "new_series", self.value("new_series") or NewSeries.ASK),
            "fetch_interval": self.interval(),
            "allows_private": self.allows_private,
        }

    def series_id(self) -> int | None:
        """The one series that it is about; None for many; raises InvalidInput."""
        text = self.value("series_id")
        if not text:
            return None
        if not text.isascii() or not text.isdigit() or len(text) > _MOST_DIGITS:
            raise InvalidInput("series_id", f"no series has the id {text!r}")
        return int(text)

    def refused(self, error: KurabitoError) -> SubscriptionForm:
        """The same form with what is wrong beside the field; what is about no field is raised on."""
        return SubscriptionForm(self.typed, Problem.of(error, _FIELDS))

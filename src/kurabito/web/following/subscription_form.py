"""The form that says how a feed is followed: what was typed, what it means, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from kurabito.contact import site_of
from kurabito.errors import InvalidInput
from kurabito.feeds.subscriptions import DEFAULT_INTERVAL, NewSeries, StartWith, SubscriptionSettings
from kurabito.reasons import InputReason, refused
from kurabito.web.forms import Form, offered, one_of, seconds_of

INTERVALS: Final = tuple(timedelta(minutes=minutes) for minutes in (5, 15, 30, 60, 6 * 60, 24 * 60))
"""What the form offers; a subscription may have any other."""
_MOST_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class SubscriptionForm(Form):
    """The fields as they are shown: as they are now, or as they were filled in."""

    FIELDS = ("name", "url", "series_id", "new_series", "start_with", "chosen", "fetch_interval", "allows_private")

    @classmethod
    def of(cls, settings: SubscriptionSettings) -> SubscriptionForm:
        """The form as it looks for a subscription."""
        form = cls(
            {
                "name": settings.name,
                "url": settings.url,
                "series_id": str(settings.series_id or ""),
                "new_series": settings.new_series.value,
                "fetch_interval": f"{settings.fetch_interval.total_seconds():g}",
            }
        )
        return cls({**form.typed, "allows_private": form.host}) if settings.allows_private else form

    def named(self, title: str | None) -> SubscriptionForm:
        """The same form with a name to begin with: the feed's title, or its site."""
        if self.value("name"):
            return self
        seen = "".join(char for char in title or "" if char.isprintable()).strip()[:200]
        return replace(self, typed={**self.typed, "name": seen or self.host})

    def about_one_show(self) -> SubscriptionForm:
        """The same form as it begins for the feed of one show: it is followed, with the episodes that are there."""
        return replace(
            self,
            typed={"start_with": StartWith.MISSING.value, "new_series": NewSeries.ADD.value, **self.typed},
        )

    @property
    def url(self) -> str:
        return self.value("url").strip()

    @property
    def host(self) -> str:
        """The site that the URL names, without what only its owner should see."""
        return site_of(self.url)

    @property
    def allows_private(self) -> bool:
        """Whether the host may be inside the keeper's own network. Only this host is allowed: another has to be allowed again."""
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
        if not (keys := self.values("chosen")):
            problem = "choose at least one item, or begin from now on"
            raise InvalidInput("chosen", problem, refused(InputReason.NONE_CHOSEN))
        return keys

    def interval(self) -> timedelta:
        """The time between two readings; raises InvalidInput."""
        text = self.value("fetch_interval")
        return seconds_of("fetch_interval", text) if text else DEFAULT_INTERVAL

    def intervals(self) -> list[timedelta]:
        """The intervals to choose from, with the one that is set."""
        return offered(INTERVALS, "fetch_interval", self.value("fetch_interval"))

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
            raise InvalidInput("series_id", f"no series has the id {text!r}", refused(InputReason.NO_SERIES))
        return int(text)

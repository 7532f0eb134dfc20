"""What templates say: messages, moments and numbers in the reader's language."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from markupsafe import Markup, escape

from kurabito.attention import AttentionAction, AttentionItem
from kurabito.contact import site_of
from kurabito.downloads.items import TransferDetail
from kurabito.downloads.paths.tests import PROBLEM
from kurabito.downloads.reasons import SAID, DownloadReason
from kurabito.reasons import OTHER, TEXT, Reason, reason_of
from kurabito.runtime.events import TaskEvent
from kurabito.runtime.reasons import WaitReason, lost_worker
from kurabito.web.forms import Problem
from kurabito.web.languages import Catalogue, grouped
from kurabito.web.names import shown_name, shown_path
from kurabito.web.reasons import key_of

_SIZES: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_UNITS: Final = (("days", 86_400), ("hours", 3600), ("minutes", 60))
_MOMENT: Final = Markup('<time datetime="{iso}">{text}</time>')
_RELATIVE: Final = Markup('<time datetime="{iso}" title="{utc}" data-relative>{text}</time>')
_NEAR: Final = Markup('<time datetime="{iso}" title="{written}" data-day>{text}</time>')
_LONG_AGO: Final = timedelta(days=60)
"""Beyond this, people say the date. The browser does as well."""
_DAYS: Final = {-1: "yesterday", 0: "today", 1: "tomorrow"}
_DAYS_IN_A_WEEK: Final = 7
_CALLED: Final = {
    "source": {"bgm": "bgm.tv", "tmdb": "TMDB"},
    "client": {"qbittorrent": "qBittorrent", "transmission": "Transmission"},
}
"""Programs and sites, as they call themselves in every language."""
_WORDS: Final = {
    "source": "source.name_",
    "failure": "source.failure_",
    "part": "part.",
    "client": "source.name_",
    "key": "setting_name.",
}
"""Facts that are codes, and how the keys of their words begin."""
# Keeps right-to-left text and stray directional marks from reordering what stands around.
_FOREIGN: Final = Markup("<bdi>{}</bdi>")
_SAID: Final = Markup("<bdi>{}</bdi>: {}")
# The texts of errors are in English.
_ERROR: Final = Markup('<bdi lang="en">{}</bdi>')


@dataclass(frozen=True, slots=True)
class Words:
    """One language at one moment."""

    catalogue: Catalogue
    now: datetime

    def say(self, key: str, /, *, count: int | None = None, **facts: object) -> Markup:
        return self.catalogue.say(key, count=count, **facts)

    def number(self, count: int) -> str:
        return grouped(count)

    def size(self, count: float) -> str:
        """A number of bytes in the largest unit that says something."""
        for unit in _SIZES:
            if count < 1024 or unit == _SIZES[-1]:
                break
            count /= 1024
        return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"

    def name(self, name: str) -> Markup:
        """A name that others gave, whatever it is made of."""
        return shown_name(name)

    def text(self, text: str) -> Markup:
        """A text of several lines that others wrote, whatever it is made of."""
        return Markup("\n").join(map(shown_name, text.splitlines()))

    def site(self, url: str) -> str:
        """The site of a URL, without what only its owner should see."""
        return site_of(url)

    def path(self, path: str) -> Markup:
        """The path of a file, whatever it is made of."""
        return shown_path(path)

    def modified(self, mtime_ns: int) -> Markup:
        """When a file was changed; a disk may claim any time, also one that no calendar has."""
        try:
            return self.moment(datetime.fromtimestamp(mtime_ns // 10**9, UTC))
        except (ValueError, OverflowError, OSError):
            return escape("\N{EN DASH}")

    def trouble(self, code: str | None, message: str | None) -> Markup:
        """What a data plane met, in the reader's language; in its own words where there are no others."""
        key = f"trouble.{(code or '').lower()}"
        return self.say(key) if self.catalogue.has(key) else _FOREIGN.format(shown_name(message or ""))

    def state(self, word: str) -> Markup:
        """The state of a task; one that another version wrote in its own word."""
        key = f"state.{word}"
        return self.say(key) if self.catalogue.has(key) else _FOREIGN.format(word)

    def moment(self, moment: datetime) -> Markup:
        """A date and time: UTC here, made local by the browser."""
        return _MOMENT.format(iso=moment.isoformat(), text=self._utc(moment))

    def ago(self, moment: datetime) -> Markup:
        """How long ago, or in how long; the browser keeps it up to date."""
        away = moment - self.now
        if abs(away) < _LONG_AGO:
            text = self.say("time.in" if away > timedelta(0) else "time.ago", duration=self.duration(abs(away)))
        else:
            text = self._written(moment.astimezone(UTC).date())
        return _RELATIVE.format(iso=moment.isoformat(), utc=self._utc(moment), text=text)

    def day(self, day: date) -> Markup:
        """A day as readers write it, without the year when it is this one; the browser knows the form of their region."""
        return _MOMENT.format(iso=day.isoformat(), text=self._written(day))

    def near_day(self, day: date) -> Markup:
        """A day as people say it: tomorrow, Thursday, 3 days ago; the browser knows which day it is for its reader."""
        away = (day - self.now.date()).days
        if away in _DAYS:
            text = self.say(f"time.{_DAYS[away]}")
        elif 0 < away < _DAYS_IN_A_WEEK:
            text = self.say(f"weekday.long_{day.isoweekday()}")
        elif -_DAYS_IN_A_WEEK < away < 0:
            text = self.say("time.ago", duration=self.say("time.days", length=-away))
        else:
            text = self._written(day)
        return _NEAR.format(iso=day.isoformat(), written=self._written(day), text=text)

    def duration(self, length: timedelta) -> Markup:
        """A length of time in the largest unit that says something."""
        seconds = int(length.total_seconds())
        for unit, size in _UNITS:
            # A minute is one; an hour and a half is still said in minutes.
            if seconds >= (size if unit == "minutes" else 2 * size):
                return self.say(f"time.{unit}", length=seconds // size)
        return self.say("time.seconds", length=seconds)

    def length(self, length: timedelta) -> str:
        """How long a film lasts, as players say it: 23:40 or 1:52:09."""
        minutes, seconds = divmod(round(length.total_seconds()), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"

    def reason(self, reason: Reason[WaitReason]) -> Markup:
        """What a task waits for."""
        return self.say(f"waiting.{reason.code}", **self._shown(reason.facts))

    def because(self, reason: Reason[Any]) -> Markup:
        """Why something is as it is; a text of others stays as it is."""
        facts: dict[str, Any] = {name: self._fact(name, fact) for name, fact in reason.facts.items()}
        if reason.code == OTHER:
            return _FOREIGN.format(shown_name(reason.facts[TEXT]))
        if TEXT in reason.facts and (reason.code is DownloadReason.TRANSFER or isinstance(reason.code, TransferDetail)):
            return _SAID.format(self.say(key_of(reason)), facts[TEXT])
        return self.say(key_of(reason), **facts)

    def problem(self, problem: Problem) -> Markup:
        """What is wrong with a field of a form; in English where there are no other words."""
        return _ERROR.format(problem.detail) if problem.reason is None else self.because(problem.reason)

    def attention(self, item: AttentionItem) -> Markup:
        """What needs a person; what helps is `remedy`."""
        facts: dict[str, Any] = {name: self._fact(name, fact) for name, fact in item.facts.items() if name != "count"}
        count = item.facts.get("count")
        return self.say(f"attention.{item.code}", count=count if isinstance(count, int) else None, **facts)

    def remedy(self, action: AttentionAction) -> Markup:
        """What helps."""
        return self.say(f"remedy.{action.id}")

    def event(self, event: TaskEvent) -> Markup:
        """What happened to a task; its error is shown beside it."""
        return self.say(
            f"event.{event.name}", **self._shown({field.name: getattr(event, field.name) for field in fields(event)})
        )

    def error(self, text: str) -> Markup:
        """A stored error: one of ours in the reader's language, a handler's in its own words."""
        lost = lost_worker(text)
        if lost is None:
            return _FOREIGN.format(text)
        return self.say(f"task_error.{lost.code}", worker=_FOREIGN.format(lost.facts["worker"]))

    def plane_work(self, lines: Iterable[str]) -> Markup:
        """What a data plane does; one of another make may do what has no word here."""
        names = (name for line in lines for name in line.split("+"))
        keys = ((name, f"plane_work.{name.replace(' ', '_')}") for name in names)
        return Markup(", ").join(self.say(key) if self.catalogue.has(key) else name for name, key in keys)

    def setting_name(self, name: str) -> Markup:
        """What a setting is called on the page."""
        return self.say(f"setting_name.{name}")

    def setting(self, name: str) -> Markup:
        """What a setting is for."""
        return self.say(f"setting.{name}")

    def setting_choice(self, name: str, choice: str) -> Markup:
        """What one of the values of a setting is called."""
        return self.say(f"setting_choice.{name}_{choice}")

    def for_browser(self) -> str:
        """The messages that the page's module needs, as JSON."""
        keys = (key for key in self.catalogue.messages if key.startswith(("time.", "live.")))
        return json.dumps({key: self.catalogue.text(key) for key in keys})

    def _fact(self, name: str, fact: Any) -> object:
        if name == SAID:
            return Markup(" · ").join(
                _SAID.format(one["downloader"], self.because(reason_of(DownloadReason, one))) for one in fact
            )
        if name in _WORDS and (word := self._word(name, fact)):
            return word
        if name in (TEXT, PROBLEM, "why"):
            return _ERROR.format(shown_name(fact or ""))
        if fact is None:
            return self.say("downloads.downloader")
        if isinstance(fact, list):
            return Markup(", ").join(_FOREIGN.format(shown_name(str(one))) for one in fact)
        if name.endswith("_seconds"):
            return self.duration(timedelta(seconds=fact))
        if isinstance(fact, int) and name in ("least", "most"):
            return self.number(fact)
        return self.size(fact) if name.endswith("_bytes") or name == "free" else _FOREIGN.format(shown_name(str(fact)))

    def _word(self, name: str, fact: str) -> str | None:
        """What a fact is called: in every language, or in the reader's."""
        called, key = _CALLED.get(name, {}).get(fact), f"{_WORDS[name]}{fact}"
        return called or (self.say(key) if self.catalogue.has(key) else None)

    def _written(self, day: date) -> Markup:
        key = "date.day_this_year" if day.year == self.now.year else "date.day"
        return self.say(key, day=day.day, month=self.say(f"date.month_{day.month}"), year=day.year)

    def _utc(self, moment: datetime) -> Markup:
        there = moment.astimezone(UTC)
        return self.say("date.moment", day=self._written(there.date()), time=f"{there:%H:%M:%S}")

    def _shown(self, facts: Mapping[str, object]) -> dict[str, Any]:
        return {name: self.ago(fact) if isinstance(fact, datetime) else fact for name, fact in facts.items()}

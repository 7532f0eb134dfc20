"""What templates say: messages, moments and numbers in the reader's language."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Final

from markupsafe import Markup, escape

from kurabito.runtime.events import TaskEvent
from kurabito.settings import Origin
from kurabito.web.languages import Catalogue
from kurabito.web.reasons import Reason, known_error

_UNITS: Final = (("days", 86_400), ("hours", 3600), ("minutes", 60))
_MOMENT: Final = Markup('<time datetime="{iso}">{utc}</time>')
_RELATIVE: Final = Markup('<time datetime="{iso}" title="{utc}" data-relative>{text}</time>')
# Keeps right-to-left text and stray directional marks from reordering what stands around.
_FOREIGN: Final = Markup("<bdi>{}</bdi>")


@dataclass(frozen=True, slots=True)
class Words:
    """One language at one moment."""

    catalogue: Catalogue
    now: datetime

    def say(self, key: str, /, **facts: object) -> Markup:
        return self.catalogue.say(key, **facts)

    def number(self, count: int) -> str:
        return f"{count:,}"

    def moment(self, moment: datetime) -> Markup:
        """A date and time: UTC here, made local by the browser."""
        return _MOMENT.format(iso=moment.isoformat(), utc=_utc(moment))

    def ago(self, moment: datetime) -> Markup:
        """How long ago, or in how long; the browser keeps it up to date."""
        away = moment - self.now
        text = self.say("time.in" if away > timedelta(0) else "time.ago", duration=self.duration(abs(away)))
        return _RELATIVE.format(iso=moment.isoformat(), utc=_utc(moment), text=text)

    def duration(self, length: timedelta) -> Markup:
        """A length of time in the largest unit that says something."""
        seconds = int(length.total_seconds())
        for unit, size in _UNITS:
            if seconds >= 2 * size:
                return self.say(f"time.{unit}", count=seconds // size)
        return self.say("time.seconds", count=seconds)

    def reason(self, reason: Reason) -> Markup:
        """What a task waits for."""
        return self.say(f"waiting.{reason.why}", **self._shown(reason.facts))

    def event(self, event: TaskEvent) -> Markup:
        """What happened to a task; its error is shown beside it."""
        return self.say(
            f"event.{event.name}", **self._shown({field.name: getattr(event, field.name) for field in fields(event)})
        )

    def error(self, text: str) -> Markup:
        """A stored error: one of ours in the reader's language, a handler's in its own words."""
        known = known_error(text)
        if known is None:
            return _FOREIGN.format(text)
        return self.say(f"task_error.{known.code}", worker=_FOREIGN.format(known.worker))

    def setting(self, setting: Origin) -> Markup:
        """What a setting is for."""
        key = f"setting.{setting.name}"
        return self.say(key) if self.catalogue.has(key) else escape(setting.description)

    def for_browser(self) -> str:
        """The messages that the page's module needs, as JSON."""
        messages = self.catalogue.messages
        return json.dumps({key: text for key, text in messages.items() if key.startswith(("time.", "live."))})

    def _shown(self, facts: Mapping[str, object]) -> dict[str, object]:
        return {name: self.ago(fact) if isinstance(fact, datetime) else fact for name, fact in facts.items()}


def _utc(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"

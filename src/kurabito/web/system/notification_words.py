"""The words of a notification: what happened, in the language of its destination."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Final

from kurabito.attention import Fact
from kurabito.catalog.catalog import Catalog
from kurabito.metadata import MetadataService
from kurabito.notifications.events import ARRIVED, TEST, NotificationEvent, NotificationKind, as_attention
from kurabito.notifications.model import Message
from kurabito.web.languages import choose
from kurabito.web.shows.titles import shown_shows
from kurabito.web.words import Words

_LINES: Final = 25
"""More than that is counted, not listed."""


class NotificationWords:
    """Writes messages."""

    def __init__(self, catalog: Catalog, metadata: MetadataService) -> None:
        self._catalog = catalog
        self._metadata = metadata

    async def write(self, language: str, events: Sequence[NotificationEvent]) -> Message:
        """One message for all of these events."""
        words = Words(choose(language, ""), datetime.now(UTC))
        if any(event.code == TEST for event in events):
            return Message(_plain(words, "message.test"), _plain(words, "message.test_body"))
        arrived = [event for event in events if event.code == ARRIVED]
        lines = [*await self._arrivals(words, arrived), *_troubles(words, events)]
        more = len(lines) - _LINES
        shown = [*lines[:_LINES], *([_plain(words, "message.more", count=more)] if more > 0 else [])]
        return Message(_title(words, events, len(arrived)), "\n".join(shown))

    async def _arrivals(self, words: Words, arrived: Sequence[NotificationEvent]) -> list[str]:
        """A line for each show that something arrived of."""
        by_show: dict[int, list[NotificationEvent]] = {}
        for event in arrived:
            by_show.setdefault(int(event.facts["series_id"] or 0), []).append(event)
        known = await self._catalog.several(list(by_show))
        shows = await shown_shows(self._metadata, list(known.values()), words.catalogue.tag)
        titles = {show.id: show.title for show in shows}
        return [
            f"{titles[series_id]} · {_episodes(words, events)}"
            for series_id, events in by_show.items()
            if series_id in titles
        ]


def _troubles(words: Words, events: Sequence[NotificationEvent]) -> list[str]:
    """A line for each trouble; one that has grown meanwhile is said as it is now."""
    said = {}
    for event in events:
        if event.code != ARRIVED:
            facts = {name: fact for name, fact in event.facts.items() if name in ("id", "folder", "part", "source")}
            said[event.code, tuple(sorted(facts.items()))] = words.attention(as_attention(event)).striptags()
    return list(said.values())


def _title(words: Words, events: Sequence[NotificationEvent], arrived: int) -> str:
    kinds = {event.kind for event in events}
    if kinds == {NotificationKind.ARRIVED}:
        return "Kurabito: " + _plain(words, "message.arrived", count=arrived)
    if len(kinds) == 1:
        return "Kurabito: " + _plain(words, f"message.{kinds.pop()}")
    return "Kurabito: " + _plain(words, "message.several", count=len(events))


def _episodes(words: Words, events: Sequence[NotificationEvent]) -> str:
    """S01E01-E12 for a season that came at once."""
    shown = []
    for (kind, season), group in groupby(events, key=lambda one: (one.facts["kind"], one.facts["season"])):
        numbers = sorted({_number(one.facts["number"]) for one in group})
        if kind == "movie":
            shown.append(_plain(words, "kind.movie"))
        elif kind in ("tv", "unknown"):
            shown.append(f"S{int(season or 0):02d}{_span(numbers)}")
        else:
            shown.append(f"{_plain(words, f'kind.{kind}')} {', '.join(f'{number:g}' for number in numbers)}")
    return ", ".join(shown)


def _span(numbers: Sequence[float]) -> str:
    """Episodes in as few words as they need.

    >>> _span([1, 2, 3]), _span([1, 3])
    ('E01-E03', 'E01, E03')
    """
    is_run = len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1
    chosen = [numbers[0], numbers[-1]] if is_run else numbers
    return ("-" if is_run else ", ").join(
        f"E{number:02.0f}" if number % 1 == 0 else f"E{number:g}" for number in chosen
    )


def _number(fact: Fact) -> float:
    return float(fact or 0)


def _plain(words: Words, key: str, count: int | None = None) -> str:
    return words.say(key, count=count).striptags()

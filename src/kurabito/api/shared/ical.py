"""A calendar as RFC 5545 writes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from kurabito.downloads.history.airings import EpisodeAiring

MEDIA_TYPE: Final = "text/calendar; charset=utf-8"
_LONGEST_LINE: Final = 75
"""Octets, without the end of the line."""
_ESCAPED: Final = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"})
_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
# A calendar has to have a component; without an episode this is the only one.
_NO_EPISODE: Final = (
    "BEGIN:VTIMEZONE",
    "TZID:Etc/UTC",
    "BEGIN:STANDARD",
    "DTSTART:19700101T000000",
    "TZOFFSETFROM:+0000",
    "TZOFFSETTO:+0000",
    "END:STANDARD",
    "END:VTIMEZONE",
)


def calendar_of(airings: Iterable[EpisodeAiring], *, site: str, version: str) -> str:
    """The episodes as events that last a day; `site` is the address of this installation."""
    events = [line for airing in airings for line in _event(airing, site)]
    lines = (
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        f"PRODID:-//Kurabito//Kurabito {_text(version)}//EN",
        "CALSCALE:GREGORIAN",
        "METHOD:PUBLISH",
        "NAME:Kurabito",
        "X-WR-CALNAME:Kurabito",
        "REFRESH-INTERVAL;VALUE=DURATION:PT6H",
        "X-PUBLISHED-TTL:PT6H",
        *(events or _NO_EPISODE),
        "END:VCALENDAR",
    )
    return "".join(f"{part}\r\n" for line in lines for part in folded(line))


def folded(line: str) -> Iterator[str]:
    """A line in parts of 75 octets at most; those after the first begin with a space, and no character is cut.

    >>> [len(part.encode()) for part in folded("SUMMARY:" + "夜" * 30)]
    [74, 25]
    """
    part, size = "", 0
    for char in line:
        length = len(char.encode())
        if size + length > _LONGEST_LINE:
            yield part
            part, size = " ", 1
        part, size = part + char, size + length
    yield part


def _event(airing: EpisodeAiring, site: str) -> Iterator[str]:
    yield "BEGIN:VEVENT"
    yield f"UID:{airing.id}"
    yield f"DTSTAMP:{_utc(airing.updated_at)}"
    yield f"LAST-MODIFIED:{_utc(airing.updated_at)}"
    yield f"DTSTART;VALUE=DATE:{airing.day:%Y%m%d}"
    yield f"SUMMARY:{_text(f'{airing.series} S{airing.season:02}E{airing.number:02g}')}"
    yield f"URL:{site}/series/{airing.series_id}"
    yield "TRANSP:TRANSPARENT"
    yield "END:VEVENT"


def _text(text: str) -> str:
    return _CONTROL.sub(" ", text.replace("\r\n", "\n")).translate(_ESCAPED)


def _utc(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"

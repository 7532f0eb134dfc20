"""anime-offline-database: kinds, years, numbers of episodes, synonyms, and which ids of other sites belong together."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from kurabito.errors import InvalidInput
from kurabito.metadata.dumps.model import MOST_NAMES, DumpEntry, DumpName, SkippedRows, clean, language_of
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind
from kurabito.metadata.sources.answers import MALFORMED

_KINDS: Final = {
    "TV": RecordKind.TV,
    "ONA": RecordKind.WEB,
    "OVA": RecordKind.OVA,
    "SPECIAL": RecordKind.OVA,
    "MOVIE": RecordKind.MOVIE,
}
_SITES: Final = {"anidb.net": "anidb_id", "anilist.co": "anilist_id", "myanimelist.net": "mal_id"}
_SOURCE: Final = re.compile(r"https?://(?:www\.)?([a-z.]+)/anime/(\d{1,9})(?:/|$)")
_SHORTEST_SYNONYM: Final = 4
"""A shorter Latin synonym is an abbreviation, which is that of many."""
_MOST_EPISODES: Final = 10_000


def read_anime(rows: Iterable[Any], skipped: SkippedRows) -> Iterator[DumpEntry]:
    """The entries among rows of the file, which were read from JSON; a line that was none is a text."""
    for row in rows:
        try:
            yield _entry(row)
        except MALFORMED as error:
            skipped.note(str(row), repr(error))


def read_lines(lines: Iterable[bytes], skipped: SkippedRows) -> Iterator[Any]:
    """The rows of the form with one entry a line; its first line is about the file."""
    for number, line in enumerate(lines):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            skipped.note(f"line {number + 1}", error)
            continue
        if not (number == 0 and isinstance(row, dict) and "sources" not in row):
            yield row


def rows_of(content: Any) -> list[Any]:
    """The rows of the form that is one JSON text; raises InvalidInput."""
    rows = content.get("data") if isinstance(content, dict) else None
    if not isinstance(rows, list):
        raise InvalidInput("file", "is no anime-offline-database: it has no list `data`")
    return rows


def _entry(row: dict[str, Any]) -> DumpEntry:
    title = clean(row["title"])
    if not title:
        raise ValueError("it has no title")
    if not isinstance(listed := row.get("synonyms") or [], list):
        raise TypeError("its synonyms are no list")
    synonyms = (clean(name) for name in listed)
    others = (name for name in synonyms if len(name) >= _SHORTEST_SYNONYM or not name.isascii())
    season, episodes = row.get("animeSeason") or {}, row.get("episodes")
    return DumpEntry(
        names=(
            DumpName(title, language_of(title)),
            *(DumpName(name, language_of(name), is_own=False) for name in others if name and name != title),
        )[:MOST_NAMES],
        kind=_KINDS.get(row.get("type") or ""),
        ids=_ids(row.get("sources") or ()),
        year=_within(season.get("year"), 1900, 2200),
        episode_count=_within(episodes, 1, _MOST_EPISODES),
    )


def _ids(sources: Iterable[str]) -> Ids:
    """The ids of an entry. Where one site has several pages for it, none of them is its id."""
    found: dict[str, set[int]] = {}
    for url in sources:
        if (match := _SOURCE.match(url)) and match[1] in _SITES:
            found.setdefault(_SITES[match[1]], set()).add(int(match[2]))
    return Ids(**{name: ids.pop() for name, ids in found.items() if len(ids) == 1})  # type: ignore[arg-type]


def _within(number: Any, least: int, most: int) -> int | None:
    return number if isinstance(number, int) and least <= number <= most else None

"""bangumi/Archive, the weekly dump of bgm.tv: names and aliases, episodes with their dates, and which entries belong together.

Each file has a JSON object a line, and most lines are about books, music and games. They are left out by a look at their bytes:
reading all of them as JSON takes five times as long.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final

from kurabito.metadata.dumps.model import (
    MOST_NAMES,
    ROMAJI,
    DumpEntry,
    DumpName,
    FirstEpisode,
    SkippedRows,
    clean,
    language_of,
)
from kurabito.metadata.episodes import KnownEpisode
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind
from kurabito.metadata.sources.answers import MALFORMED, episode_number, id_in

SUBJECTS: Final = "subject.jsonlines"
EPISODES: Final = "episode.jsonlines"
RELATIONS: Final = "subject-relations.jsonlines"

_ANIME: Final = 2
_REGULAR: Final = 0
_KINDS: Final = {1: RecordKind.TV, 2: RecordKind.OVA, 3: RecordKind.MOVIE, 5: RecordKind.WEB, 2006: RecordKind.WEB}
# Prequel, sequel, summary, full story, side story and parent story. Other versions, settings and spin-offs stand alone.
_SAME_STORY: Final = frozenset((2, 3, 4, 5, 6, 12))
_IS_ANIME: Final = re.compile(rb'"type"\s*:\s*2\b')
_IS_REGULAR: Final = re.compile(rb'"type"\s*:\s*0\b')
_OF_SUBJECT: Final = re.compile(rb'"subject_id"\s*:\s*(\d{1,9})\b')
_RELATED: Final = re.compile(rb'"relation_type"\s*:\s*(\d{1,5})\b')

_ALIASES: Final = re.compile(
    r"\|\s*别名\s*=\s*(?:\{(?P<several>.*?)^\s*\}|(?P<one>[^\r\n{|]*))", re.DOTALL | re.MULTILINE
)
_ALIAS: Final = re.compile(r"^\s*\[(?:(?P<label>[^|\]]*)\|)?(?P<name>[^\]]*)\]\s*$", re.MULTILINE)
_COUNT: Final = re.compile(r"\|\s*话数\s*=\s*(\d{1,4})\b")
_LABELS: Final = {"英文名": "en", "英文": "en", "en": "en", "罗马字": ROMAJI, "罗马名": ROMAJI, "ローマ字": ROMAJI}
_LONGEST_INFOBOX: Final = 100_000
_MOST_EPISODES: Final = 5_000

Lines = Callable[[str], Iterable[bytes]]
"""The lines of one file of the dump; none where it has no such file."""


@dataclass(slots=True)
class ReadArchive:
    """What was read from the dump."""

    entries: list[DumpEntry] = field(default_factory=list)
    episodes: dict[int, list[KnownEpisode]] = field(default_factory=dict)
    """By the id of bgm.tv."""


def read_archive(lines: Lines, skipped: SkippedRows) -> ReadArchive:
    """Every anime of the dump."""
    known = {entry.ids.bgm_id or 0: entry for entry in _objects(lines(SUBJECTS), _IS_ANIME.search, _subject, skipped)}
    episodes = _episodes(lines(EPISODES), known, skipped)
    related = _relations(lines(RELATIONS), known, skipped)
    return ReadArchive(
        [_with(entry, episodes.get(bgm_id, []), related.get(bgm_id, set())) for bgm_id, entry in known.items()],
        episodes,
    )


def _with(entry: DumpEntry, episodes: list[KnownEpisode], related: set[int]) -> DumpEntry:
    numbers = [episode.counted for episode in episodes]
    first = min(numbers, default=0)
    return replace(
        entry,
        episode_count=len(episodes) or entry.episode_count,
        first=FirstEpisode(int(first)) if first > 0 else None,
        related=tuple(sorted(related)),
    )


def _objects(
    lines: Iterable[bytes],
    is_wanted: Callable[[bytes], object],
    read: Callable[[dict[str, Any]], DumpEntry | None],
    skipped: SkippedRows,
) -> Iterator[DumpEntry]:
    for number, line in enumerate(lines, 1):
        if not is_wanted(line):
            continue
        try:
            found = read(json.loads(line))
        except (*MALFORMED, RecursionError) as error:
            skipped.note(f"{SUBJECTS} line {number}", repr(error))
            continue
        if found is not None:
            yield found


def _subject(row: dict[str, Any]) -> DumpEntry | None:
    if row["type"] != _ANIME:
        return None
    bgm_id, infobox = id_in(row), str(row.get("infobox") or "")[:_LONGEST_INFOBOX]
    title, chinese = clean(row["name"]), clean(row.get("name_cn") or "")
    own = [DumpName(title, language_of(title))] if title else []
    if chinese and chinese != title:
        own.append(DumpName(chinese, "zh-Hans"))
    if not own:
        raise ValueError("it has no name")
    count, day = _COUNT.search(infobox), _day(row.get("date"))
    return DumpEntry(
        names=(*own, *_aliases(infobox))[:MOST_NAMES],
        kind=_KINDS.get(row.get("platform") or 0),
        ids=Ids(bgm_id=bgm_id),
        year=None if day is None else day.year,
        air_date=day,
        episode_count=int(count[1]) or None if count else None,
    )


def _aliases(infobox: str) -> Iterator[DumpName]:
    found = _ALIASES.search(infobox)
    if found is None:
        return
    if one := clean(found["one"] or ""):
        yield DumpName(one, language_of(one), is_own=False)
    for alias in _ALIAS.finditer(found["several"] or ""):
        if name := clean(alias["name"]):
            language = language_of(name) or _LABELS.get((alias["label"] or "").strip())
            yield DumpName(name, language, is_own=False)


def _episodes(
    lines: Iterable[bytes], known: dict[int, DumpEntry], skipped: SkippedRows
) -> dict[int, list[KnownEpisode]]:
    """The regular episodes of each entry, in their order."""
    found: dict[int, dict[float, KnownEpisode]] = {}
    for number, line in enumerate(lines, 1):
        subject = _OF_SUBJECT.search(line)
        if subject is None or int(subject[1]) not in known or not _IS_REGULAR.search(line):
            continue
        try:
            row = json.loads(line)
            if row["type"] == _REGULAR:
                episode = _episode(row)
                listed = found.setdefault(int(row["subject_id"]), {})
                if len(listed) < _MOST_EPISODES:
                    listed[episode.counted] = episode
        except (*MALFORMED, RecursionError) as error:
            skipped.note(f"{EPISODES} line {number}", repr(error))
    return {bgm_id: [listed[number] for number in sorted(listed)] for bgm_id, listed in found.items()}


def _episode(row: dict[str, Any]) -> KnownEpisode:
    titles = {"ja": clean(row.get("name") or ""), "zh-Hans": clean(row.get("name_cn") or "")}
    return KnownEpisode(
        episode_number(row["sort"]),
        {language: title for language, title in titles.items() if title},
        _day(row.get("airdate")),
    )


def _relations(lines: Iterable[bytes], known: dict[int, DumpEntry], skipped: SkippedRows) -> dict[int, set[int]]:
    related: dict[int, set[int]] = {}
    for number, line in enumerate(lines, 1):
        kind = _RELATED.search(line)
        if kind is None or int(kind[1]) not in _SAME_STORY:
            continue
        try:
            row = json.loads(line)
            one, other = id_in(row, "subject_id"), id_in(row, "related_subject_id")
        except (*MALFORMED, RecursionError) as error:
            skipped.note(f"{RELATIONS} line {number}", repr(error))
            continue
        if one in known and other in known:
            related.setdefault(one, set()).add(other)
    return related


def _day(text: Any) -> date | None:
    try:
        return date.fromisoformat(text)
    except (TypeError, ValueError):
        return None

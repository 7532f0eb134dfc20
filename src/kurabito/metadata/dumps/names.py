"""Which names an entry has in the index, and which entries are one franchise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kurabito.metadata.dumps.index import IndexEntries, IndexEntry
from kurabito.metadata.dumps.model import DumpSource
from kurabito.metadata.records import RecordKind


class IndexName(NamedTuple):
    """A name of an entry, and which source has it."""

    folded: str
    entry_id: int
    source: DumpSource
    language: str | None


def names_of(entries: Iterable[IndexEntry], franchises: dict[int, int]) -> Iterator[IndexName]:
    """The names of entries. What people call an entry is not its name where it is another's title."""
    listed = list(entries)
    owners: dict[str, list[IndexEntry]] = {}
    for entry in listed:
        for folded in entry.own:
            owners.setdefault(folded, []).append(entry)
    for entry in listed:
        for folded, (source, language) in entry.own.items():
            is_given = source is DumpSource.BANGUMI_DATA
            if is_given or not _is_of_earlier(entry, owners[folded], franchises):
                yield IndexName(folded, entry.id, source, language)
        for folded, (source, language) in entry.others.items():
            if folded not in owners:
                yield IndexName(folded, entry.id, source, language)


def franchises_of(entries: IndexEntries) -> dict[int, int]:
    """The franchise of each entry that has one: what shares a show of TMDB, or is a sequel or a side story of another."""
    leader: dict[int, int] = {entry.id: entry.id for entry in entries}

    def lead(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    of_show: dict[int, int] = {}
    for entry in entries:
        joined = [of_show.setdefault(show, entry.id) for show in entry.shows]
        joined += [other.id for bgm_id in entry.related if (other := entries.of_bgm(bgm_id)) is not None]
        for other_id in joined:
            one, other_one = sorted((lead(entry.id), lead(other_id)))
            leader[other_one] = one
    found = {entry.id: lead(entry.id) for entry in entries}
    shared = {franchise for number, franchise in found.items() if number != franchise}
    return {number: franchise for number, franchise in found.items() if franchise in shared}


def _is_of_earlier(entry: IndexEntry, owners: list[IndexEntry], franchises: dict[int, int]) -> bool:
    """Whether another entry of the same story has the same title and began before: a later cour is not called like the show."""
    franchise = franchises.get(entry.id)
    if franchise is None or entry.kind is RecordKind.MOVIE:
        return False
    return any(
        other.age < entry.age and other.kind is not RecordKind.MOVIE and franchises.get(other.id) == franchise
        for other in owners
        if other is not entry
    )

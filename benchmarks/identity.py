"""Which series releases end in: shows that were split over several series, and series that mixed several shows.

    python benchmarks/identity.py FILE... [--index data.json] [--disputes LIST] [--show]

A FILE is JSON lines of {"title", "expected": {"title", "season"?, "year"?, "country"?}}. The gold names of a line are one name or a
list; names that occur in one list are one show. A show-season counts as joinable when its spellings are connected: by titles that
carry several of its names, or by the index. In doubt is neither split nor mixed: it is counted apart. Where lines have the "key" of
their show-season, that says what is one, and lines that are "unjoined" or in "doubt" are left out.

What has to be joined is what titles write. Gold may have the show's name alone (`Cellar Tales` of `Cellar Tales: Moto-hen - 03`):
then the spelling is the name with what it goes on in, up to a number, a bracket, the mark of a season or a word of releases; by the
text of the title alone, not by how the program reads it. The mark of the season itself is no part of a spelling: `S2`, `II` and `2nd
Season` of one name are joined. So a season's own name that no title and no index sets beside the name of its show is no part of the
denominator, and one that either does is. Nothing else is taken out: what the program finds hard, reads wrongly or has two minds about
counts, and `--show` lists each spelling that differs from its gold.

Many gold names were written by another parser. A LIST names the rows that are disputed, by the first digits of their titles' SHA-256,
each with its reason: `{"rows": [...], "verdict": "one show" | "left out", "why"}` a line. Rows of one show count as one name; what is left
out is not brought. With it, every FILE is scored twice: as its gold says, and as it is disputed (`identity_disputes.jsonl` for the corpus).

The index is bangumi-data's data.json. With it, every FILE is measured with and without.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joined_names import IndexedNames, Spelling, spelled, written_names
from kurabito.catalog.intake import CatalogIntake
from kurabito.db import Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.feeds.results import FeedItem, FetcherResults
from kurabito.metadata.lookup import read_sequel
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import read_index
from kurabito.titles import fold_title

AT_ONCE = 100
_SEASON_IN_KEY = re.compile(r"/s(\d+)")
SUBSCRIBE = (
    "INSERT INTO subscriptions (name, url, new_series, start_with, fetch_interval, created_at, updated_at) "
    "VALUES ('identity', 'https://feeds.example/all', 'add', 'missing', 1000000, :now, :now) RETURNING id"
)
LINKS = (
    "SELECT item.title, link.series_id, link.question_id IS NOT NULL "
    "FROM anime_links AS link JOIN raw_anime_items AS item ON item.release_key = link.release_key"
)


@dataclass(frozen=True)
class Gold:
    """A title, and what its source says that it is about."""

    title: str
    names: tuple[str, ...]
    season: int
    marks: tuple[Any, ...]
    """Year and country, where the source says them."""
    key: str | None = None
    """The show-season, where it is not told by names: rows of one have the same."""
    written: tuple[tuple[str, str], ...] = ()
    """Its names with what they go on in."""


@dataclass(frozen=True)
class Disputes:
    """What is wrong with the gold, by the rows' marks."""

    one_show: Sequence[Sequence[str]] = ()
    left_out: frozenset[str] = frozenset()


def mark_of(title: str) -> str:
    """What a row is named by in a list of disputes, which holds no titles."""
    return hashlib.sha256(title.encode()).hexdigest()[:12]


def read_disputes(path: Path) -> Disputes:
    """The disputed rows of a file; each needs its reason."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    assert all(line["why"] for line in lines)
    return Disputes(
        [line["rows"] for line in lines if line["verdict"] == "one show"],
        frozenset(row for line in lines if line["verdict"] == "left out" for row in line["rows"]),
    )


class Groups:
    """Names that are one, by everything that says so."""

    def __init__(self) -> None:
        self._parent: dict[Any, Any] = {}

    def find(self, one: Any) -> Any:
        self._parent.setdefault(one, one)
        while self._parent[one] != one:
            one = self._parent[one]
        return one

    def join(self, some: Iterable[Any]) -> None:
        first, *others = [self.find(one) for one in some]
        for other in others:
            self._parent[other] = first


def read_gold(path: Path) -> list[Gold]:
    """The lines of a file that say what their title is about."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        names = row["expected"].get("title")
        listed = [names] if isinstance(names, str) else names
        if not listed or not any(fold_title(name) for name in listed):
            continue
        season = row["expected"].get("season")
        if isinstance(season, list) or season == 0 or row.get("doubt") or row.get("unjoined"):
            continue
        key = row.get("key")
        folded, said = _names(listed, season)
        if key is not None:
            folded, said = tuple(filter(None, map(fold_title, listed))), _season_of(key)
        marks = tuple(row["expected"].get(mark) for mark in ("year", "country"))
        rows.append(Gold(row["title"], folded, said, marks, key, tuple(written_names(row["title"], listed))))
    return rows


def _season_of(key: str) -> int:
    found = _SEASON_IN_KEY.search(key)
    return int(found[1]) if found else 1


def _names(names: Sequence[str], season: int | None) -> tuple[tuple[str, ...], int]:
    """The folded names without the mark of a season, and that season."""
    folded, said = [], int(season or 1)
    for name in names:
        sequel = read_sequel(name)
        if sequel is not None and (season is None or sequel.season == season):
            folded.append(fold_title(sequel.name))
            said = sequel.season
        elif fold_title(name):
            folded.append(fold_title(name))
    return tuple(folded), said


async def series_of(rows: Sequence[Gold], index: Path | None) -> dict[str, tuple[int, bool]]:
    """The series of each title, and whether it is asked about."""
    with tempfile.TemporaryDirectory(prefix="kurabito-identity-") as scratch:
        database = open_database(f"sqlite:///{scratch}/identity.db")
        database.open()
        migrate(database, PRODUCT)
        try:
            if index is not None:
                entries = list(read_index(index.read_bytes()).entries)
                await database.write(lambda conn: offline.replace_entries(conn, entries))
            return await bring(database, [row.title for row in rows])
        finally:
            database.close()


async def bring(database: Database, titles: Sequence[str]) -> dict[str, tuple[int, bool]]:
    """Bring titles by a feed: the series of each, and whether it is asked about."""
    feed = int(await database.write(lambda conn: conn.value(SUBSCRIBE)))
    intake = CatalogIntake(database)
    for start in range(0, len(titles), AT_ONCE):
        items = tuple(
            FeedItem(title=title, download_url=f"https://feeds.example/{start + place}.torrent")
            for place, title in enumerate(titles[start : start + AT_ONCE])
        )
        await intake.receive(FetcherResults(subscription_id=feed, items=items))
    found = await database.read(lambda conn: conn.all(LINKS))
    return {title: (series_id, bool(asked)) for title, series_id, asked in found}


@dataclass
class Score:
    """What came of some titles."""

    rows: Sequence[Gold]
    joinable: int
    split: Mapping[Any, list[Gold]]
    mixed: Mapping[int, list[Gold]]
    asked: Sequence[Gold]
    unread: int


def score(
    rows: Sequence[Gold],
    found: Mapping[str, tuple[int, bool]],
    index: IndexedNames | None = None,
    disputes: Disputes = Disputes(),  # noqa: B008 - frozen
) -> Score:
    """Compare with what the sources say, but what is disputed."""
    shows, marked = Groups(), {mark_of(row.title): row for row in rows}
    for row in rows:
        shows.join(row.names)
    for some in disputes.one_show:
        shows.join([name for mark in some if mark in marked for name in marked[mark].names] or [None])
    groups: dict[Any, list[Gold]] = defaultdict(list)
    for row in rows:
        groups[row.key or shows.find(row.names[0]), row.season].append(row)
    split, joinable = {}, 0
    for key, rows_of_season in groups.items():
        for part in _joined(rows_of_season, index):
            joinable += 1
            series = {found[row.title][0] for row in part if row.title in found and not found[row.title][1]}
            if len(series) > 1:
                split[key, part[0].title] = part
    in_series: dict[int, dict[Any, Gold]] = defaultdict(dict)
    for row in rows:
        series_id, asked = found.get(row.title, (0, True))
        if not asked:
            in_series[series_id].setdefault((row.key or shows.find(row.names[0]), row.season), row)
    mixed = {series_id: list(some.values()) for series_id, some in in_series.items() if len(some) > 1}
    in_doubt = [row for row in rows if row.title in found and found[row.title][1]]
    return Score(rows, joinable, split, mixed, in_doubt, sum(row.title not in found for row in rows))


def _joined(some: Sequence[Gold], index: IndexedNames | None) -> Iterator[list[Gold]]:
    """The titles of a show-season that are spelled differently and that something joins: a title with several names, or the index."""
    names, known = Groups(), {name for row in some for name in row.names}
    spellings = {row.title: spelled(row.written, row.season, known) for row in some}
    for row in some:
        found = {one.name for one in spellings[row.title]} or set(row.names)
        names.join(found)
        for name in found:
            names.join([name, *(index.same_as(Spelling(name, row.season)) if index else ())])
    parts: dict[Any, list[Gold]] = defaultdict(list)
    for row in some:
        parts[names.find(next(iter(spellings[row.title])).name if spellings[row.title] else row.names[0])].append(row)
    return (part for part in parts.values() if len({(row.names, spellings[row.title]) for row in part}) > 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--index", type=Path, help="bangumi-data's data.json")
    parser.add_argument("--disputes", type=Path, help="rows whose gold is wrong, and why")
    parser.add_argument("--show", action="store_true", help="list what was split and mixed")
    options = parser.parse_args()
    for path in options.files:
        rows = list({row.title: row for row in read_gold(path)}.values())
        for index in (None, options.index) if options.index else (None,):
            names = IndexedNames.read(index) if index else None
            about = f"{path.name} {'with' if index else 'without'} index"
            result = score(rows, asyncio.run(series_of(rows, index)), names)
            print(f"{about}: {_said(result)}")
            if options.disputes:
                disputes = read_disputes(options.disputes)
                left = [row for row in rows if mark_of(row.title) not in disputes.left_out]
                result = score(left, asyncio.run(series_of(left, index)), names, disputes)
                print(f"{about}, without what is disputed: {_said(result)}")
            if options.show:
                _show(result)


def _said(result: Score) -> str:
    whole = result.joinable - len(result.split)
    share = whole / result.joinable if result.joinable else 1.0
    return (
        f"{len(result.rows):,} titles, {whole}/{result.joinable} = {share:.1%} of the joinable show-seasons are one series, "
        f"{len(result.mixed)} series mixed, {len(result.asked)} releases asked about, {result.unread} unread"
    )


def _show(result: Score) -> None:
    for (key, _), part in result.split.items():
        print("  split", key, *(f"\n      {row.title}" for row in {row.names: row for row in part}.values()))
    for some in result.mixed.values():
        print("  mixed", *(f"\n      {mark_of(row.title)} {row.names} s{row.season}: {row.title}" for row in some))
    for row in result.asked:
        print("  asked", row.names, row.season, row.title)
    for row in result.rows:
        if any(rest for _, rest in row.written):
            print("  goes on", row.written, row.title)


if __name__ == "__main__":
    main()

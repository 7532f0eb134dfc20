"""Which series releases end in: shows that were split over several series, and series that mixed several shows.

    python benchmarks/identity.py FILE... [--index data.json] [--disputes LIST] [--show]

A FILE is JSON lines of {"title", "expected": {"title", "season"?, "year"?, "country"?}}. The gold names of a line are one name or a
list; names that occur in one list are one show. A show-season counts as joinable when its spellings are connected: by titles that
carry several of its names, or by the index. In doubt is neither split nor mixed: it is counted apart. Where lines have the "key" of
their show-season, that says what is one, and lines that are "unjoined" or in "doubt" are left out.

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
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kurabito.catalog.intake import CatalogIntake
from kurabito.db import Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.feeds.results import FeedItem, FetcherResults
from kurabito.metadata.lookup import read_sequel
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import read_index
from kurabito.titles import fold_title

AT_ONCE = 100
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
        folded, said = _names(listed, season) if key is None else (tuple(filter(None, map(fold_title, listed))), 1)
        marks = tuple(row["expected"].get(mark) for mark in ("year", "country"))
        rows.append(Gold(row["title"], folded, said, marks, key))
    return rows


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

    titles: int
    joinable: int
    split: Mapping[Any, list[Gold]]
    mixed: Mapping[int, list[Gold]]
    asked: Sequence[Gold]
    unread: int


def score(
    rows: Sequence[Gold],
    found: Mapping[str, tuple[int, bool]],
    namesakes: Mapping[str, set[str]],
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
    for key, some in groups.items():
        for part in _joined(some, namesakes):
            if len({row.names for row in part}) < 2:
                continue
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
    return Score(len(rows), joinable, split, mixed, in_doubt, sum(row.title not in found for row in rows))


def _joined(some: Sequence[Gold], namesakes: Mapping[str, set[str]]) -> list[list[Gold]]:
    """The titles of a show-season, in parts that something joins: a title with several names, or the index."""
    names = Groups()
    for row in some:
        names.join(row.names)
        for name in row.names:
            names.join([name, *(other for other in namesakes.get(name, ()))])
    parts: dict[Any, list[Gold]] = defaultdict(list)
    for row in some:
        parts[names.find(row.names[0])].append(row)
    return list(parts.values())


def read_namesakes(index: Path, rows: Sequence[Gold]) -> dict[str, set[str]]:
    """The names that the index knows as one, for the names of the titles."""
    wanted = {name for row in rows for name in row.names}
    entries: dict[str, list[set[str]]] = defaultdict(list)
    for entry in read_index(index.read_bytes()).entries:
        names = {fold_title(title) for title in entry.titles} - {""}
        for name in names & wanted:
            entries[name].append(names)
    return {name: some[0] for name, some in entries.items() if len(some) == 1}


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
            namesakes = read_namesakes(index, rows) if index else {}
            about = f"{path.name} {'with' if index else 'without'} index"
            result = score(rows, asyncio.run(series_of(rows, index)), namesakes)
            print(f"{about}: {_said(result)}")
            if options.disputes:
                disputes = read_disputes(options.disputes)
                left = [row for row in rows if mark_of(row.title) not in disputes.left_out]
                result = score(left, asyncio.run(series_of(left, index)), namesakes, disputes)
                print(f"{about}, without what is disputed: {_said(result)}")
            if options.show:
                _show(result)


def _said(result: Score) -> str:
    whole = result.joinable - len(result.split)
    share = whole / result.joinable if result.joinable else 1.0
    return (
        f"{result.titles:,} titles, {whole}/{result.joinable} = {share:.1%} of the joinable show-seasons are one series, "
        f"{len(result.mixed)} series mixed, {len(result.asked)} releases asked about, {result.unread} unread"
    )


def _show(result: Score) -> None:
    for (key, _), part in result.split.items():
        print("  split", key, *(f"\n      {row.title}" for row in {row.names: row for row in part}.values()))
    for some in result.mixed.values():
        print("  mixed", *(f"\n      {mark_of(row.title)} {row.names} s{row.season}: {row.title}" for row in some))
    for row in result.asked:
        print("  asked", row.names, row.season, row.title)


if __name__ == "__main__":
    main()

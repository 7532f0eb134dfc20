"""What `kurabito import-from` does with what it read: shows it, and takes it over."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from tempfile import TemporaryDirectory

import typer

from kurabito import settings
from kurabito.app.database import is_new
from kurabito.catalog.states import SeriesWish
from kurabito.cli.collection.adopt import want_episodes
from kurabito.cli.databases import product_database
from kurabito.cli.display import safe
from kurabito.db import Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.placements.predecessors import takeover
from kurabito.placements.predecessors.model import TheirCollection
from kurabito.placements.predecessors.takeover import TakenShow


def run(theirs: TheirCollection, *, apply: bool, want: str, feeds: bool, as_json: bool) -> None:
    """Show what would become of everything, and with `apply` do it."""
    added = 0
    given = settings.load()
    with _database(given, create=apply) as database:
        if apply:
            taken = database.write_blocking(lambda conn: takeover.take_over(conn, theirs))
            added = database.write_blocking(lambda conn: takeover.add_feeds(conn, theirs.feeds)) if feeds else 0
        else:
            taken = database.read_blocking(lambda conn: takeover.plan(conn, theirs))
    new = [one.series_id for one in taken if one.fate is not takeover.TakeoverFate.KNOWN and one.series_id is not None]
    if apply and want != SeriesWish.NONE.value and new:
        asyncio.run(want_episodes(given, SeriesWish(want), new))
    if as_json:
        typer.echo(json.dumps(_as_json(theirs, taken, apply=apply, feeds=added), ensure_ascii=False))
    else:
        _print(theirs, taken, apply=apply, feeds=added)


@contextmanager
def _database(given: settings.Settings, *, create: bool) -> Iterator[Database]:
    """The product's database; to look before there is one, an empty one that goes again: nothing is known by it yet."""
    if create or not is_new(given):
        with product_database(given, create=create) as database:
            yield database
        return
    with TemporaryDirectory() as folder, closing(open_database(f"sqlite:///{folder}/kurabito.db")) as database:
        database.open()
        migrate(database, PRODUCT)
        yield database


def _as_json(theirs: TheirCollection, taken: Sequence[TakenShow], *, apply: bool, feeds: int) -> dict[str, object]:
    return {
        "program": theirs.program,
        "version": theirs.version,
        "applied": apply,
        "shows": [
            {**asdict(one.show), "becomes": one.fate.value, "title": one.title, "series_id": one.series_id}
            for one in taken
        ],
        "feeds": [asdict(feed) for feed in theirs.feeds],
        "feeds_added": feeds,
        "folders": list(theirs.folders),
        "unreadable": list(theirs.unreadable),
    }


def _print(theirs: TheirCollection, taken: Sequence[TakenShow], *, apply: bool, feeds: int) -> None:
    typer.echo(safe(f"{theirs.program} {theirs.version or ''}".strip()))
    for one in taken:
        show = one.show
        part = "film" if show.is_film else f"season {show.season}"
        typer.echo(safe(f"{one.fate.value:9} {show.titles[0]} · {part} -> {one.title}"))
        facts = [
            f"{show.files:,} files" if show.files else "",
            show.folder or "",
            "" if show.is_wanted else "not fetched",
        ]
        if text := " · ".join(fact for fact in facts if fact):
            typer.echo(safe(f"          {text}"))
    for feed in theirs.feeds:
        typer.echo(safe(f"feed      {feed.name}: {feed.url}"))
    for folder in theirs.folders:
        typer.echo(safe(f"folder    {folder}"))
    for problem in theirs.unreadable:
        typer.echo(safe(f"unread    {problem}"), err=True)
    counts = Counter(one.fate.value for one in taken)
    typer.echo(", ".join(f"{fate} {count:,}" for fate, count in counts.items()) or "no shows")
    typer.echo(f"Feeds added, switched off: {feeds:,}" if apply else "Nothing was changed. Add --apply to do it.")

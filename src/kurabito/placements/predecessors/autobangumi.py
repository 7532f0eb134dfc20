"""Reads a database file of AutoBangumi, whose tables differ a little from 3.0 to 3.3.

The file is copied first, with its log where it has one: opening a database can write beside it, and it is not ours.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from kurabito.errors import InvalidInput
from kurabito.placements.predecessors.model import TheirCollection, TheirFeed, TheirShow
from kurabito.placements.predecessors.values import (
    LARGEST_NUMBER,
    LARGEST_SEASON,
    LONGEST_TEXT,
    number_of,
    text_of,
    year_of,
)

_HEADER: Final = b"SQLite format 3\x00"
_BESIDE: Final = ("-wal", "-journal")
_LARGEST: Final = 1 << 30
_LONGEST_PATH: Final = 4_096
_LONGEST_LINKS: Final = 100_000
"""Several addresses, of one show."""
_ROWS: Final = {
    "bangumi": "SELECT * FROM bangumi ORDER BY id LIMIT 100000",
    "movie": "SELECT * FROM movie ORDER BY id LIMIT 100000",
    "rssitem": "SELECT * FROM rssitem ORDER BY id LIMIT 100000",
    "torrent": "SELECT * FROM torrent ORDER BY id LIMIT 1000000",
}


def read_autobangumi(path: Path) -> TheirCollection:
    """Everything that a database file says; raises InvalidInput when it is none of AutoBangumi."""
    with _copied(path) as copy, closing(sqlite3.connect(f"{copy.as_uri()}?mode=ro", uri=True)) as raw:
        raw.row_factory = sqlite3.Row
        raw.text_factory = lambda value: value.decode("utf-8", "replace")
        try:
            columns = {name: _columns(raw, name) for name in _ROWS}
            if not {"official_title", "title_raw", "season"} <= columns["bangumi"]:
                raise InvalidInput("path", f"{path} is a database, and none of AutoBangumi")
            return _read(raw, columns)
        except sqlite3.DatabaseError as problem:
            raise InvalidInput("path", f"{path} cannot be read as a database: {problem}") from None


@contextmanager
def _copied(path: Path) -> Iterator[Path]:
    try:
        with path.open("rb") as file:
            header = file.read(len(_HEADER))
        size = path.stat().st_size
    except OSError as problem:
        raise InvalidInput("path", f"{path} cannot be read: {problem.strerror}") from None
    if header != _HEADER or size > _LARGEST:
        raise InvalidInput("path", f"{path} is no SQLite database; AutoBangumi keeps its own in data/data.db")
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "data.db"
        shutil.copyfile(path, copy)
        for ending in _BESIDE:
            if (log := path.with_name(path.name + ending)).is_file():
                shutil.copyfile(log, copy.with_name(copy.name + ending))
        yield copy


def _columns(raw: sqlite3.Connection, table: str) -> set[str]:
    return {row["name"] for row in raw.execute(f"PRAGMA table_info({table})")}


def _rows(raw: sqlite3.Connection, table: str, columns: set[str]) -> list[sqlite3.Row]:
    return raw.execute(_ROWS[table]).fetchall() if columns else []


def _read(raw: sqlite3.Connection, columns: dict[str, set[str]]) -> TheirCollection:
    downloaded: dict[int, int] = {}
    for row in _rows(raw, "torrent", columns["torrent"]):
        of = _value(row, columns["torrent"], "bangumi_id")
        if of is not None and _value(row, columns["torrent"], "downloaded"):
            downloaded[of] = downloaded.get(of, 0) + 1
    shows: list[TheirShow] = []
    problems: list[str] = []
    for table in ("bangumi", "movie"):
        for row in _rows(raw, table, columns[table]):
            if _value(row, columns[table], "deleted"):
                continue
            show = _show(row, columns[table], downloaded.get(row["id"], 0), is_film=table == "movie")
            if isinstance(show, str):
                problems.append(f"{'film' if table == 'movie' else 'show'} {row['id']} has {show}")
            else:
                shows.append(show)
    return TheirCollection(
        program="AutoBangumi",
        version=_version(columns),
        shows=tuple(shows),
        feeds=tuple(_feeds(raw, columns)),
        unreadable=tuple(problems),
    )


def _show(row: sqlite3.Row, columns: set[str], files: int, *, is_film: bool) -> TheirShow | str:
    """The show, or what is wrong with its row."""
    titles = [_value(row, columns, name) for name in ("official_title", "title_raw")]
    titles += _aliases(_value(row, columns, "title_aliases"))
    named = tuple(dict.fromkeys(text for title in titles if (text := text_of(title))))
    if not named:
        return "no title"
    year, folder = year_of(_value(row, columns, "year")), text_of(_value(row, columns, "save_path"), _LONGEST_PATH)
    if is_film or _value(row, columns, "episode_type") == "movie":
        return TheirShow(
            titles=named,
            is_film=True,
            year=year,
            folder=folder or None,
            files=0 if is_film else files,
        )
    # Theirs is added to the number in a title, ours is taken from it.
    offset = _value(row, columns, "episode_offset" if "episode_offset" in columns else "offset")
    season = number_of(_value(row, columns, "season"), 0, LARGEST_SEASON)
    if season is None and _value(row, columns, "season") is not None:
        return f"a season that is no number: {str(_value(row, columns, 'season'))[:20]!r}"
    season = season or 1
    counted = season + (number_of(_value(row, columns, "season_offset"), -LARGEST_SEASON, LARGEST_SEASON) or 0)
    return TheirShow(
        titles=named,
        season=counted if 1 <= counted <= LARGEST_SEASON else season,
        year=year,
        folder=folder or None,
        files=files,
        episode_offset=max(0, -(number_of(offset, -LARGEST_NUMBER, LARGEST_NUMBER) or 0)),
        is_wanted=not _value(row, columns, "archived"),
    )


def _aliases(stored: Any) -> list[str]:
    """Other names that a show had, which are kept as JSON."""
    try:
        found = json.loads(stored or "[]")
    except (TypeError, ValueError, RecursionError):
        return []
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _feeds(raw: sqlite3.Connection, columns: dict[str, set[str]]) -> Iterator[TheirFeed]:
    """The feeds of all shows, and those that shows have of their own."""
    found: dict[str, TheirFeed] = {}
    of_all = columns["rssitem"]
    for row in _rows(raw, "rssitem", of_all):
        url = text_of(_value(row, of_all, "url"), _LONGEST_PATH)
        if url:
            name = text_of(_value(row, of_all, "name")) or url[:LONGEST_TEXT]
            found[url] = TheirFeed(name, url, bool(_value(row, of_all, "enabled")))
    for table in ("bangumi", "movie"):
        for row in _rows(raw, table, columns[table]):
            for url in text_of(_value(row, columns[table], "rss_link"), _LONGEST_LINKS).split(","):
                if (url := url.strip()) and url not in found and not _value(row, columns[table], "deleted"):
                    found[url] = TheirFeed(
                        text_of(_value(row, columns[table], "official_title")) or url[:LONGEST_TEXT], url
                    )
    yield from found.values()


def _version(columns: dict[str, set[str]]) -> str:
    """Which versions have such tables."""
    if columns["movie"] or "episode_type" in columns["bangumi"]:
        return "3.3"
    if "title_aliases" in columns["bangumi"] or "episode_offset" in columns["bangumi"]:
        return "3.2"
    return "3.1" if columns["rssitem"] else "3.0"


def _value(row: sqlite3.Row, columns: set[str], name: str) -> Any:
    return row[name] if name in columns else None

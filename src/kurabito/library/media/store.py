"""What is known of films and sound, what is still to be read, and what data planes brought."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from kurabito.db import Connection, Queries
from kurabito.library.media.facts import MediaFacts, read_media_facts
from kurabito.protocol.leased.inspections import LONGEST_FACTS, MOST_READ

SQL: Final = Queries("kurabito.library.media", "store.sql")
WINDOW: Final = 20_000
"""Ids that are looked through at once: without a long look at all files, however many there are."""
_SUFFIXES: Final = frozenset(
    "3gp aac ac3 aiff ape asf avi dsf dts eac3 flac flv m2ts m4a m4v mka mkv mov mp3 mp4 mpeg mpg mts ogg ogm ogv opus rm rmvb "
    "ts vob wav webm wma wmv wv".split()
)


@dataclass(frozen=True, slots=True)
class MediaReadingOutcome:
    """What is known of a file: its facts, or why they could not be read."""

    facts: MediaFacts | None
    error_code: str | None


class UnreadFile(NamedTuple):
    """A file that is still to be read."""

    id: int
    library_id: int
    relative_path: str


def of_files(conn: Connection, file_ids: Iterable[int]) -> dict[int, MediaReadingOutcome]:
    """What was read of these files as they are now; one that was not read yet is left out."""
    rows = conn.all(SQL.of_files, {"rows": json.dumps(list(file_ids))})
    return {
        file_id: MediaReadingOutcome(None if facts is None else read_media_facts(facts), code)
        for file_id, facts, code in rows
    }


def collect(conn: Connection) -> int:
    """Take over what data planes read, and forget how that was asked for; how many inspections ended."""
    ended = conn.all(SQL.ended)
    for inspection_id, folder, paths, status, code in ended:
        conn.run(SQL.collect, {"id": inspection_id, "folder": folder, "longest": LONGEST_FACTS})
        if status == "failed":
            rows = json.dumps([{"path": path} for path in json.loads(paths or "[]")])
            conn.run(SQL.give_up, {"rows": rows, "folder": folder, "error_code": code})
        conn.run(SQL.forget_inspection, {"id": inspection_id})
    return len(ended)


def count_open(conn: Connection) -> int:
    """How many inspections wait or are under way."""
    return int(conn.value(SQL.count_open))


def last_file(conn: Connection) -> int:
    """The largest id of a file."""
    return int(conn.value(SQL.last_file) or 0)


def unread_after(conn: Connection, after: int) -> tuple[list[UnreadFile], int]:
    """The films and sound behind an id that are still to be read, and how far was looked."""
    until = after + WINDOW
    rows = (UnreadFile(*row) for row in conn.all(SQL.unread, {"after": after, "until": until}))
    return [one for one in rows if is_media(one.relative_path)], until


def request(conn: Connection, library_id: int, paths: list[str]) -> None:
    """Have data planes read these files of a library."""
    conn.run(SQL.request, {"library_id": library_id, "paths": json.dumps(paths[:MOST_READ], ensure_ascii=False)})
    conn.notify()


def forget_gone(conn: Connection, after: int, until: int) -> None:
    """Forget what is known of files that are not known any more, among these ids."""
    conn.run(SQL.forget_gone, {"after": after, "until": until})


def is_media(path: str) -> bool:
    """Whether a file is a film or sound by its name.

    >>> is_media("Show/01.MKV"), is_media("Show/01.ass")
    (True, False)
    """
    stem, _, suffix = path.rpartition("/")[2].rpartition(".")
    return bool(stem) and suffix.lower() in _SUFFIXES

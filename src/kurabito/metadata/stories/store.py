"""Stories as the database keeps them, and which records are due."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final

from kurabito.clock import optional_datetime
from kurabito.db import Connection, Queries
from kurabito.metadata.records import OWN_RECORD, Metadata, record_of

# The ids that a story was asked by; a record that has others by now is due.
_ASKED_BY: Final = (
    "coalesce(metadata.bgm_id, 0) || ' ' || coalesce(metadata.tmdb_kind, '') || ' ' || coalesce(metadata.tmdb_id, 0) "
    "|| ' ' || coalesce(metadata.tmdb_season, 1)"
)
_REMOTE: Final = "backdrop_url IS NOT NULL AND substr(backdrop_url, 1, 9) <> '/posters/'"
_SQL: Final = Queries(
    "kurabito.metadata.stories", "store.sql", record=OWN_RECORD, asked_by=_ASKED_BY, is_remote=_REMOTE
)


@dataclass(frozen=True, slots=True)
class Story:
    """What is told of a record beside its poster and its ids."""

    summaries: Mapping[str, str] = field(default_factory=dict)
    """By language."""
    backdrop_url: str | None = None
    """A path of ours, once the picture was fetched."""
    ended_on: date | None = None
    """The day of its last episode, once that is past."""
    refreshed_at: datetime | None = None

    def summary(self, language: str) -> str | None:
        """What it is about, in this language; None when no source has it in that one."""
        return self.summaries.get(language)


def story_of(conn: Connection, metadata_id: int) -> Story:
    """What is told of a record; nothing before it was asked for."""
    row = conn.one(_SQL.get, {"id": metadata_id})
    if row is None:
        return Story()
    summaries, backdrop_url, ended_on, refreshed_at = row
    return Story(
        json.loads(summaries),
        backdrop_url if backdrop_url and backdrop_url.startswith("/posters/") else None,
        date.fromisoformat(ended_on) if ended_on else None,
        optional_datetime(refreshed_at),
    )


def due_records(conn: Connection, *, after: int, limit: int) -> list[Metadata]:
    """The next records whose sources are to be asked, in the order of their ids."""
    return [record_of(row) for row in conn.all(_SQL.due, {"after": after, "limit": limit})]


def keep_story(
    conn: Connection,
    metadata_id: int,
    *,
    summaries: Mapping[str, str],
    backdrop_url: str | None,
    ended_on: date | None,
    due_at: int,
) -> None:
    """Write down what was told. A backdrop that is here already stays where it is the same."""
    values = {
        "id": metadata_id,
        "summaries": json.dumps(summaries, ensure_ascii=False),
        "backdrop_url": backdrop_url,
        "ended_on": None if ended_on is None else ended_on.isoformat(),
        "due_at": due_at,
    }
    conn.run(_SQL.keep, values)


def note_failure(conn: Connection, metadata_id: int, *, first_after: int, most_after: int) -> None:
    """Put off a record whose source did not answer: longer each time, up to a limit. What is known of it stays."""
    conn.run(_SQL.note_failure, {"id": metadata_id, "first_after": first_after, "most_after": most_after})


def remote_backdrops(conn: Connection, *, after: int, limit: int) -> list[tuple[int, str]]:
    """Records whose backdrop was not fetched yet, with where it is."""
    return [(metadata_id, url) for metadata_id, url in conn.all(_SQL.remote, {"after": after, "limit": limit})]


def keep_backdrop(conn: Connection, metadata_id: int, url: str, path: str | None) -> None:
    """Say where the picture of a URL is now; None when it cannot be fetched."""
    conn.run(_SQL.keep_backdrop, {"id": metadata_id, "url": url, "path": path})

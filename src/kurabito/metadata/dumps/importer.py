"""Imports the file of a dump: reads it, stores what it says, and makes the index again."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from functools import partial

from kurabito.db import Database
from kurabito.errors import InvalidInput
from kurabito.metadata import episodes
from kurabito.metadata.dumps.anidb import read_titles
from kurabito.metadata.dumps.anime_lists import read_offsets
from kurabito.metadata.dumps.archive import read_archive
from kurabito.metadata.dumps.changes import Report, bring_up_to_date, counted, unheard
from kurabito.metadata.dumps.files import DumpFile, lines_in
from kurabito.metadata.dumps.join import Joined
from kurabito.metadata.dumps.model import DumpEntry, DumpSource, SkippedRows
from kurabito.metadata.dumps.offline_database import read_anime, read_lines, rows_of
from kurabito.metadata.dumps.store import BATCH, replace_dump
from kurabito.metadata.episodes import EpisodeSource, KnownEpisode
from kurabito.metadata.sources import offline


@dataclass(slots=True)
class DumpContent:
    """What a file says."""

    source: DumpSource
    entries: list[DumpEntry] = field(default_factory=list)
    episodes: dict[int, list[KnownEpisode]] = field(default_factory=dict)
    skipped: SkippedRows = field(default_factory=SkippedRows)


def read_dump_file(file: DumpFile) -> DumpContent:
    """Read the file of any dump but bangumi-data; raises InvalidInput when nothing in it can be read."""
    content = DumpContent(file.source)
    match file.source:
        case DumpSource.ANIDB:
            content.entries += read_titles(file.stream(), content.skipped)
        case DumpSource.ANIME_LISTS:
            content.entries += read_offsets(file.stream(), content.skipped)
        case DumpSource.ARCHIVE:
            found = read_archive(lambda name: file.lines_of(name, content.skipped), content.skipped)
            content.entries, content.episodes = found.entries, found.episodes
        case _:
            content.entries += _offline_database(file, content.skipped)
    if not content.entries:
        problem = f" ({content.skipped.first})" if content.skipped.first else ""
        raise InvalidInput("file", f"has nothing of {file.source} that can be read{problem}; nothing was changed")
    return content


def import_dump(
    database: Database,
    content: DumpContent,
    file_name: str,
    on_stored: Report = unheard,
    on_joined: Report = unheard,
) -> Joined:
    """Store what a file says in the place of what its project said before, and make the index of it.

    Some rows at a time, so that other writers wait for milliseconds. A kill before all is stored leaves the old content; after
    that, the next start of the server, or the next import, makes the index of the new.
    """
    lists = list(content.episodes.items()) if content.source is DumpSource.ARCHIVE else []
    note = counted(len(lists) + len(content.entries), on_stored)
    for start in range(0, len(lists), BATCH):
        chunk = {str(bgm_id): listed for bgm_id, listed in lists[start : start + BATCH]}
        keep = partial(episodes.keep_lists, source=EpisodeSource.ARCHIVE, lists=chunk)
        database.write_blocking(keep, durable=False)
        note(len(chunk))
    if content.source is DumpSource.ARCHIVE:
        kept = {str(bgm_id) for bgm_id in content.episodes}
        episodes.forget_other_lists(database, EpisodeSource.ARCHIVE, kept)
    replace_dump(database, content.source, content.entries, file_name=file_name, skipped=content.skipped, report=note)
    joined = bring_up_to_date(database, on_joined)
    database.write_blocking(offline.look_again)
    return joined


def _offline_database(file: DumpFile, skipped: SkippedRows) -> list[DumpEntry]:
    content = file.content()
    first, _, rest = content.partition(b"\n")
    try:
        is_lines = bool(rest.strip()) and isinstance(json.loads(first), dict)
    except ValueError:
        is_lines = False
    if is_lines:
        return list(read_anime(read_lines(lines_in(io.BytesIO(content), skipped), skipped), skipped))
    try:
        return list(read_anime(rows_of(json.loads(content)), skipped))
    except (ValueError, RecursionError) as error:
        raise InvalidInput("file", f"is broken: {error}; download it again") from None

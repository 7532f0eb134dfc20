"""The plan for a batch of files, and what another naming would rename in a library: the names alone, and from the database on."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from harness import Options, Outcome, Row, number, run_alone, wait_for_quiet
from kurabito.db import Connection, Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.placements.naming.presets import PRESETS, Preset
from kurabito.placements.naming.renames import FiledFile, plan_renames
from kurabito.placements.naming.tokens import NameFacts
from kurabito.placements.plans import ListedFile, plan_files
from kurabito.placements.plans.model import FileAction
from kurabito.placements.renames import service
from processes import BenchmarkBroken

MOST_SECONDS_TO_PLAN: Final = 0.5
MOST_SECONDS_TO_RENAME: Final = 2.0
_EPISODES: Final = 25
_LIBRARY = (
    "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'files', '/files', :now, :now)"
)
_SERIES = (
    "INSERT INTO series (id, title, kind, year, created_at, updated_at) VALUES (:id, :title, 'tv', 2020, :now, :now)"
)
_FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, device, inode, created_at, updated_at) "
    "VALUES (1, :path, 1, 1, 1, :inode, :now, :now)"
)
_PLACEMENT = (
    "INSERT INTO placements (library_id, mode, source_root, source_path, size_bytes, target_path, status, method, placed_device, "
    "placed_inode, placed_mtime_ns, named_by, created_at, updated_at) "
    "VALUES (1, 'link', '/downloads', :path, 1, :path, 'completed', 'link', 1, :inode, 1, :named_by, :now, :now)"
)


def run(options: Options) -> Outcome:
    """Measure both in turn."""
    batch, filed = make_batch(options.size(1_000, quick=100)), make_library(options.size(50_000, quick=1_000))
    planned = _median(options, lambda: measure_plan(batch))
    renamed = _median(options, lambda: measure_renames(filed))
    with filled_database(filed) as database:
        previewed = _median(options, lambda: measure_preview(database, len(filed)))
    judged = not options.quick
    return Outcome(
        [
            Row(
                f"plan for a batch of {len(batch):,} files",
                number(planned, " s"),
                "-",
                "-",
                f"≤ {MOST_SECONDS_TO_PLAN:g} s",
                planned <= MOST_SECONDS_TO_PLAN if judged else None,
            ),
            Row(
                f"rename preview of {len(filed):,} files",
                number(renamed, " s"),
                "-",
                "-",
                f"≤ {MOST_SECONDS_TO_RENAME:g} s",
                renamed <= MOST_SECONDS_TO_RENAME if judged else None,
            ),
            Row(
                f"the same, from the database on: {len(filed) // _EPISODES:,} series",
                number(previewed, " s"),
                "-",
                "-",
                f"≤ {MOST_SECONDS_TO_RENAME:g} s",
                previewed <= MOST_SECONDS_TO_RENAME if judged else None,
            ),
        ],
        ["a batch has episodes with subtitles, openings, scans and music; the names of the library are Japanese"],
    )


def make_batch(files: int) -> list[ListedFile]:
    """Shows as a group releases them, each in its folder."""
    found: list[ListedFile] = []
    for show in range(files):
        folder = f"[Kura-Studio] Show {show} [Ma10p_1080p]"
        for episode in range(1, _EPISODES + 1):
            stem = f"{folder}/[Kura-Studio] Show {show} [{episode:02}][Ma10p_1080p][x265_flac]"
            found += [ListedFile(f"{stem}.mkv"), ListedFile(f"{stem}.sc.ass"), ListedFile(f"{stem}.tc.ass")]
        found += [
            ListedFile(f"{folder}/SPs/[Kura-Studio] Show {show} [NCOP][Ma10p_1080p][x265_flac].mkv"),
            ListedFile(f"{folder}/CDs/01. Opening.flac"),
            ListedFile(f"{folder}/Scans/01.webp"),
        ]
        if len(found) >= files:
            break
    return found[:files]


def make_library(files: int) -> list[FiledFile]:
    """Files that have names of another preset."""
    return [
        FiledFile(
            f"夜の蔵人 {show}/夜の蔵人 {show} - {episode:02}.mkv",
            NameFacts(
                title=f"夜の蔵人: {show}", year=2020, season=1, episode=(episode,), tmdb_id=show, resolution=1080
            ),
        )
        for show in range(files // _EPISODES)
        for episode in range(1, _EPISODES + 1)
    ]


def measure_plan(batch: list[ListedFile]) -> float:
    """Seconds for one plan."""
    began = time.perf_counter()
    plan = plan_files(batch)
    taken = time.perf_counter() - began
    if plan.of(FileAction.ASK):
        raise BenchmarkBroken("a batch that is easy to read was asked about")
    return taken


def measure_renames(filed: list[FiledFile]) -> float:
    """Seconds for one preview."""
    began = time.perf_counter()
    plan = plan_renames(filed, PRESETS[Preset.JELLYFIN])
    taken = time.perf_counter() - began
    if len(plan.renames) != len(filed):
        raise BenchmarkBroken(f"{len(filed) - len(plan.renames)} files have no new name")
    return taken


@contextmanager
def filled_database(filed: list[FiledFile]) -> Iterator[Database]:
    """A library in which all of these files were placed."""

    def fill(conn: Connection) -> None:
        conn.run(_LIBRARY)
        for place, file in enumerate(filed):
            title, series, (episode,) = file.facts.title, place // _EPISODES + 1, file.facts.episode
            if episode == 1:
                conn.run(_SERIES, {"id": series, "title": title})
            told = {
                "class": "video",
                "kind": "episode",
                "episodes": [episode],
                "title": title,
                "season": 1,
                "version": 1,
            }
            more = {
                "series_id": series,
                "group": "Kura",
                "resolution": 1080,
                "original": f"[Kura] {episode:02} [1080p]",
            }
            where = {"path": file.path, "inode": place}
            conn.run(_FILE, where)
            conn.run(_PLACEMENT, {**where, "named_by": json.dumps({**told, **more}, ensure_ascii=False)})

    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as scratch:
        database = open_database(f"sqlite:///{scratch}/bench.db")
        database.open()
        migrate(database, PRODUCT)
        database.write_blocking(fill)
        yield database
        database.close()


def measure_preview(database: Database, files: int) -> float:
    """Seconds for one preview, with everything that is read for it."""
    began = time.perf_counter()
    preview, _ = database.read_blocking(lambda conn: service.plan(conn, 1, PRESETS[Preset.JELLYFIN]))
    taken = time.perf_counter() - began
    if len(preview.renames) != files:
        raise BenchmarkBroken(f"{files - len(preview.renames)} files have no new name")
    return taken


def _median(options: Options, measure: Callable[[], float]) -> float:
    taken = []
    for _ in range(options.rounds):
        if not options.quick:
            wait_for_quiet()
        taken.append(measure())
    return sorted(taken)[len(taken) // 2]


if __name__ == "__main__":
    run_alone("plans", run)

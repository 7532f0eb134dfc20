"""The plan for a batch of files, and what another naming would rename in a library."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from harness import Options, Outcome, Row, number, run_alone, wait_for_quiet
from kurabito.placements.naming.presets import PRESETS, Preset
from kurabito.placements.naming.renames import FiledFile, plan_renames
from kurabito.placements.naming.tokens import NameFacts
from kurabito.placements.plans import ListedFile, plan_files
from kurabito.placements.plans.model import FileAction
from processes import BenchmarkBroken

MOST_SECONDS_TO_PLAN: Final = 0.5
MOST_SECONDS_TO_RENAME: Final = 2.0
_EPISODES: Final = 25


def run(options: Options) -> Outcome:
    """Measure both in turn."""
    batch, filed = make_batch(options.size(1_000, quick=100)), make_library(options.size(50_000, quick=1_000))
    planned = _median(options, lambda: measure_plan(batch))
    renamed = _median(options, lambda: measure_renames(filed))
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


def _median(options: Options, measure: Callable[[], float]) -> float:
    taken = []
    for _ in range(options.rounds):
        if not options.quick:
            wait_for_quiet()
        taken.append(measure())
    return sorted(taken)[len(taken) // 2]


if __name__ == "__main__":
    run_alone("plans", run)

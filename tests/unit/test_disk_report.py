"""The disks of folders: each once, looked at now and then, and by many readers at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from kurabito.clock import ManualClock
from kurabito.maintenance.disk_space import DiskReport, DiskSpace, disks


async def test_folders_of_one_disk_are_one_and_one_that_is_not_there_is_left_out(tmp_path: Path) -> None:
    (found,) = await _look_until_known(DiskReport(), [tmp_path, tmp_path.parent, tmp_path / "gone"])
    assert found.folder == tmp_path
    assert 0 < found.free <= found.total


def test_a_file_system_without_a_size_is_not_full(tmp_path: Path) -> None:
    assert [one.folder for one in disks([Path("/proc"), tmp_path])] == [tmp_path]


async def test_readers_at_the_same_time_are_all_answered(tmp_path: Path) -> None:
    clock = ManualClock()
    report = DiskReport(clock)
    for _ in range(3):
        answers = await asyncio.gather(*(_look_until_known(report, [tmp_path]) for _ in range(4)))
        assert [len(found) for found in answers] == [1, 1, 1, 1]
        clock.advance(60)


async def _look_until_known(report: DiskReport, folders: list[Path]) -> Sequence[DiskSpace]:
    """A disk that is slow to answer is known a little later."""
    while not (found := await report.look(folders)):
        pass
    return found

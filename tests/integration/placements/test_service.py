"""Placements are listed, tried again, and resolved when another file has the name."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.dataplane.inspections import InspectionWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.placements.errors import PlacementConflict, PlacementNotFound
from kurabito.placements.filing.service import PlacementChoice
from kurabito.placements.library_naming import LibraryNaming
from kurabito.placements.naming.presets import DEFAULT_NAMING
from kurabito.protocol.leased.retries import FilingStatus

if TYPE_CHECKING:
    from tests.integration.placements.conftest import House

EPISODE = "[Kura] Yoru no Kurabito - 01 [1080p].mkv"
PLACED = "Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01.mkv"


async def taken(house: House) -> int:
    """A placement whose name another file has."""
    house.shelf.put(PLACED, b"of another release")
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"ours"})
    await house.settle()
    (placement,) = await house.placements.page()
    assert (placement.status, placement.error_code) == ("failed", "TARGET_EXISTS")
    assert placement.error_facts["path"].endswith(PLACED)
    assert await house.placements.count_waiting(10) == (1, 0)
    return placement.id


async def test_both_are_kept(house: House) -> None:
    placement = await taken(house)
    resolved = await house.placements.resolve(placement, PlacementChoice.KEEP_BOTH)
    assert (resolved.status, resolved.error_code) == ("pending", None)
    house.plane()
    await house.settle()
    assert house.library() == {PLACED: b"of another release", PLACED.replace(".mkv", " (2).mkv"): b"ours"}
    with pytest.raises(PlacementConflict, match="no other file"):
        await house.placements.resolve(placement, PlacementChoice.KEEP_BOTH)


async def test_the_other_is_left(house: House) -> None:
    placement = await taken(house)
    resolved = await house.placements.resolve(placement, PlacementChoice.LEAVE)
    assert resolved.status is FilingStatus.CANCELLED
    house.plane()
    assert house.library() == {PLACED: b"of another release"}
    assert await house.placements.count_waiting(10) == (0, 0)


async def test_a_file_that_cannot_be_placed_is_left(house: House) -> None:
    """Else it would be named as trouble for ever, though nothing is to be done about it."""
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"ours"})
    await house.loop.step()
    inspect: Runner[Any] = Runner(house.shelf.plane, InspectionWork(), name="plane", heartbeat=60.0)
    while inspect.work():
        pass
    await house.loop.step()
    (placement,) = await house.placements.page()
    with pytest.raises(PlacementConflict, match="nothing is in its way"):
        await house.placements.resolve(placement.id, PlacementChoice.LEAVE)
    ((folder,),) = house.shelf.all("SELECT folder FROM inspections")
    (Path(folder) / EPISODE).unlink()
    house.plane()
    with pytest.raises(PlacementConflict, match="no other file"):
        await house.placements.resolve(placement.id, PlacementChoice.REPLACE)
    resolved = await house.placements.resolve(placement.id, PlacementChoice.LEAVE)
    assert resolved.status is FilingStatus.CANCELLED
    assert await house.placements.count_waiting(10) == (0, 0)
    with pytest.raises(PlacementConflict):
        await house.placements.resolve(placement.id, PlacementChoice.LEAVE)


async def test_a_placement_is_tried_again_once_the_name_is_free(house: House) -> None:
    placement = await taken(house)
    house.shelf.path(PLACED).unlink()
    assert (await house.placements.retry(placement)).status is FilingStatus.PENDING
    house.plane()
    assert house.library() == {PLACED: b"ours"}
    with pytest.raises(PlacementConflict, match="nothing to try again"):
        await house.placements.retry(placement)
    with pytest.raises(PlacementNotFound):
        await house.placements.retry(99)


async def test_placements_are_listed_by_state_and_download_in_pages(house: House) -> None:
    series = house.series("Yoru no Kurabito")
    for number in (1, 2, 3):
        name = EPISODE.replace("01", f"{number:02}", 1)
        house.download(series, name, {name: b"one"}, episodes=(number,))
    await house.settle()
    first = await house.placements.page(limit=2)
    rest = await house.placements.page(limit=2, cursor=first.next_cursor)
    assert [one.id for one in [*first, *rest]] == [3, 2, 1]
    assert rest.next_cursor is None
    assert [one.id for one in await house.placements.page(download_id=2)] == [2]
    assert list(await house.placements.page(status=FilingStatus.FAILED)) == []
    assert len(list(await house.placements.page(status=FilingStatus.COMPLETED, download_id=1))) == 1


async def test_what_waits_for_a_disk_or_a_path_is_counted_and_tried_again_when_asked(house: House) -> None:
    """A wrong path mapping is no failure: it is tried again for ever, and nobody would hear of it."""
    series = house.series("Yoru no Kurabito")
    house.download(series, EPISODE, {EPISODE: b"one"})
    ((folder,),) = house.shelf.all("SELECT save_path FROM downloads")
    Path(folder).rename(f"{folder} elsewhere")
    await house.settle()
    # Once may be a moment: a downloader moves its files when it is complete.
    assert await house.placements.count_held_up(10) == 0
    house.shelf.clock.advance(3600)
    house.plane()
    assert await house.placements.count_held_up(10) == 1
    assert await house.placements.count_waiting(10) == (0, 0)

    Path(f"{folder} elsewhere").rename(folder)
    house.plane()
    assert house.library() == {}
    assert await house.placements.retry_failed() == 0
    house.plane()
    assert await house.placements.count_held_up(10) == 0
    library = house.shelf.path("")
    library.rename(f"{library} elsewhere")
    await house.settle()
    house.shelf.clock.advance(3600)
    house.plane()
    assert await house.placements.count_held_up(10) == 1
    Path(f"{library} elsewhere").rename(library)
    await house.placements.retry_failed()
    house.plane()
    await house.settle()
    assert house.library() == {PLACED: b"one"}
    assert await house.placements.count_held_up(10) == 0


async def refused(house: House, code: str, *numbers: int) -> int:
    """Placements of one download that failed for this; the id of the first."""
    names = [EPISODE.replace("01", f"{number:02}", 1) for number in numbers]
    house.download(
        house.series("Yoru no Kurabito"), "Yoru no Kurabito", {name: name.encode() for name in names}, episodes=numbers
    )
    await house.settle()
    found = [(one.id, one.status, one.error_code) for one in await house.placements.page()]
    assert {(status, why) for _, status, why in found} == {("failed", code)}
    return min(placement for placement, _, _ in found)


@pytest.mark.parametrize("asked", ["one", "all"])
async def test_a_name_that_was_too_long_is_made_by_the_naming_of_now(
    house: House, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """eCryptfs, which encrypts the shares of a NAS, has names of up to 143 bytes. Its folder is named anew, too."""
    limit, make, link = 40, os.mkdir, os.link

    def short(act: Callable[..., None], name: str, *given: Any, **options: Any) -> None:
        if len(os.fsencode(Path(os.fsdecode(name)).name)) > limit:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        act(name, *given, **options)

    monkeypatch.setattr(os, "mkdir", lambda name, *given, **options: short(make, name, *given, **options))
    monkeypatch.setattr(
        os, "link", lambda source, name, **options: short(lambda to, **how: link(source, to, **how), name, **options)
    )
    naming = LibraryNaming(house.shelf.database)
    await naming.change(1, replace(DEFAULT_NAMING, series_folder="{title} of the house at the river, as it was shown"))
    first = await refused(house, "NAME_TOO_LONG", 1, 2)
    assert house.library() == {}
    await naming.change(1, DEFAULT_NAMING)
    await (house.placements.retry(first) if asked == "one" else house.placements.retry_failed())
    house.plane()
    await house.settle()
    second = PLACED.replace("E01", "E02")
    assert house.library().keys() == ({PLACED} if asked == "one" else {PLACED, second})
    await house.placements.retry_failed()
    house.plane()
    await house.settle()
    assert house.library().keys() == {PLACED, second}
    assert house.states(1) == {1: "have", 2: "have"}


@pytest.mark.parametrize("asked", ["one", "all"])
async def test_a_library_that_copies_meanwhile_has_what_could_not_be_linked_copied(
    house: House, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    def other_disk(*_: Any, **__: Any) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    house.shelf.run("UPDATE library_roots SET placement_modes = :modes", modes='["link"]')
    with monkeypatch.context() as apart:
        apart.setattr(os, "link", other_disk)
        placement = await refused(house, "OTHER_FILE_SYSTEM", 1)
    house.shelf.run("UPDATE library_roots SET placement_modes = :modes", modes='["copy"]')
    await (house.placements.retry(placement) if asked == "one" else house.placements.retry_failed())
    house.plane()
    await house.settle()
    (found,) = await house.placements.page()
    assert (found.status, found.method, found.modes) == ("completed", "copy", ("copy",))
    assert house.library() == {PLACED: EPISODE.encode()}


async def test_what_waits_for_room_goes_on_when_less_has_to_stay_free(house: House) -> None:
    everything = house.loop_with(1 << 60)
    house.shelf.run("UPDATE library_roots SET placement_modes = :modes", modes='["copy"]')
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one"})
    while await everything.step():
        house.plane()
    (placement,) = await house.placements.page()
    assert (placement.status, placement.error_code) == ("pending", "DISK_FULL")
    await house.settle()
    house.shelf.clock.advance(3600)
    house.plane()
    assert house.library() == {PLACED: b"one"}

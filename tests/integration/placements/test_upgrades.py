"""A better release takes the place of a file that Kurabito put there, as far as the library says; the old one is in the trash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kurabito.dataplane.deletion.job import delete
from kurabito.dataplane.jobs import JobWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.library.deletion.trash import Trash
from kurabito.placements.errors import PlacementConflict
from kurabito.placements.filing.service import PlacementChoice
from kurabito.protocol.enums import JobKind

if TYPE_CHECKING:
    from tests.integration.placements.conftest import House

FIRST = "[Kura] Yoru no Kurabito - 01 [720p].mkv"
SECOND = "[Kura] Yoru no Kurabito - 01v2 [720p].mkv"
BETTER = "[Other] Yoru no Kurabito - 01 [1080p].mkv"
PLACED = "Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01.mkv"
SUBTITLE = PLACED.replace(".mkv", ".zh-Hans.ass")
TRASHED = "SELECT relative_path, successor_path FROM trash_entries WHERE left_at IS NULL ORDER BY relative_path"


def shown(house: House) -> dict[str, bytes]:
    return {path: content for path, content in house.library().items() if not path.startswith(".kurabito-trash")}


async def bring(house: House, series: int, name: str, content: bytes, subtitle: bytes | None = None) -> None:
    files = {name: content} | ({} if subtitle is None else {name.replace(".mkv", ".sc.ass"): subtitle})
    house.download(series, name, files)
    await house.settle()


@pytest.mark.parametrize(
    ("upgrades", "name", "is_taken"),
    [
        ("same_group", SECOND, True),
        ("same_group", BETTER, False),
        ("anything", BETTER, True),
        ("none", SECOND, False),
    ],
)
async def test_what_takes_the_place_of_a_file(house: House, upgrades: str, name: str, is_taken: bool) -> None:
    house.shelf.run("UPDATE library_roots SET upgrades = :upgrades", upgrades=upgrades)
    series = house.series("Yoru no Kurabito")
    await bring(house, series, FIRST, b"first", b"old subtitle")
    await bring(house, series, name, b"second", b"new subtitle")
    if is_taken:
        assert shown(house) == {PLACED: b"second", SUBTITLE: b"new subtitle"}
        assert house.shelf.all(TRASHED) == [(PLACED, PLACED), (SUBTITLE, SUBTITLE)]
    else:
        assert shown(house) == {PLACED: b"first", SUBTITLE: b"old subtitle"}
        assert house.shelf.all(TRASHED) == []
    assert house.states(series) == {1: "have"}


async def test_an_upgrade_can_be_undone_once(house: House) -> None:
    series = house.series("Yoru no Kurabito")
    await bring(house, series, FIRST, b"first")
    await bring(house, series, SECOND, b"second")
    newest, *_ = await house.placements.page()
    assert (newest.replaces_path, newest.is_undoable) == (PLACED, True)
    await house.placements.undo(newest.id)
    with pytest.raises(PlacementConflict):
        await house.placements.undo(newest.id)
    house.plane()
    await house.settle()
    assert shown(house) == {PLACED: b"first"}
    assert house.states(series) == {1: "have"}


async def test_a_file_that_was_found_there_is_replaced_only_when_its_keeper_says_so(house: House) -> None:
    house.shelf.run("UPDATE library_roots SET upgrades = 'anything'")
    house.shelf.put(PLACED, b"found there")
    await bring(house, house.series("Yoru no Kurabito"), BETTER, b"better")
    (placement,) = await house.placements.page()
    assert placement.error_code == "TARGET_EXISTS"
    resolved = await house.placements.resolve(placement.id, PlacementChoice.REPLACE)
    assert resolved.replaces_path == PLACED
    house.plane()
    await house.settle()
    assert shown(house) == {PLACED: b"better"}
    assert house.shelf.all(TRASHED) == [(PLACED, PLACED)]


async def test_what_was_replaced_is_purged_only_while_its_successor_is_there(house: House) -> None:
    series = house.series("Yoru no Kurabito")
    await bring(house, series, FIRST, b"first")
    await bring(house, series, SECOND, b"second")
    trash = Trash(house.shelf.database, days=0, may_purge=True)
    aside = house.shelf.path(PLACED).rename(house.shelf.path("aside.mkv"))
    await purge(house, trash)
    assert len(house.shelf.all(TRASHED)) == 1
    aside.rename(house.shelf.path(PLACED))
    await purge(house, trash)
    assert house.library() == {PLACED: b"second"}


async def purge(house: House, trash: Trash) -> None:
    house.shelf.clock.advance(60)
    assert (await trash.purge()).entries == 1
    work = JobWork({JobKind.DELETE: delete})
    assert Runner(house.shelf.plane, work, name="plane", heartbeat=60.0).work()

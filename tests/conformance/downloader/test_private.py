"""A private torrent is given to every program as the file that it is, and its passkey stays between that and the tracker."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING

import pytest
from tests.support.waiting import PATIENCE

from kurabito.downloads.items import DownloadItem, ItemStatus

if TYPE_CHECKING:
    from tests.conformance.downloader.conftest import EveryProgram, Release, Rig

pytestmark = pytest.mark.asyncio(loop_scope="module")


def private_release(rig: Rig, name: str, *, refused: bool = False) -> tuple[Release, str]:
    """A private torrent, and the passkey in the address of its tracker."""
    passkey = hashlib.sha256(f"{rig.program.name.value} {name}".encode()).hexdigest()[:32]
    if refused:
        rig.swarm.refusals[f"announce/{passkey}"] = f"unknown passkey {passkey}"
    # Nothing but its tracker leads to peers.
    release = rig.swarm.release(name, passkey=passkey, seeded=not refused)
    release.dials = False
    return release, passkey


async def until_asked(rig: Rig, passkey: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while f"announce/{passkey}" not in rig.swarm.asked:
            await asyncio.sleep(0.05)


async def test_a_private_torrent_is_downloaded_from_its_own_tracker_alone(every_program: EveryProgram) -> None:
    async def promise(rig: Rig) -> None:
        release, passkey = private_release(rig, "Kura - 01.mkv")
        item = DownloadItem(f"torrent:{release.hash}", rig.save_path("1"), torrent=release.torrent)
        (result,) = await rig.client.add_torrents([item])
        assert (result.status, result.hash, result.url) == (ItemStatus.ACCEPTED, release.hash, item.url)

        (status,) = await rig.until_complete(release)
        await until_asked(rig, passkey)

        assert rig.saved(f"1/{release.name}").read_bytes() == release.content
        assert await rig.program.trackers(release) == [rig.swarm.url(f"announce/{passkey}")]
        assert passkey not in f"{item} {result} {status}"

    await every_program.keeps(promise)


async def test_a_tracker_that_refuses_is_told_without_the_passkey(every_program: EveryProgram) -> None:
    async def promise(rig: Rig) -> None:
        release, passkey = private_release(rig, "Kura - 02.mkv", refused=True)
        item = DownloadItem(f"torrent:{release.hash}", rig.save_path("2"), torrent=release.torrent)
        (result,) = await rig.client.add_torrents([item])
        assert result.status is ItemStatus.ACCEPTED

        await until_asked(rig, passkey)

        assert passkey not in str(await rig.until(release))

    await every_program.keeps(promise)


async def test_a_private_torrent_whose_file_is_no_longer_stored_is_refused(every_program: EveryProgram) -> None:
    async def promise(rig: Rig) -> None:
        items = [
            DownloadItem(f"torrent:{'0' * 40}", rig.save_path("3")),
            DownloadItem(f"torrent:{'1' * 40}", rig.save_path("4"), torrent=b"<html>"),
        ]
        gone, broken = await rig.client.add_torrents(items)
        assert (gone.status, gone.hash) == (ItemStatus.REJECTED, None)
        assert "no longer stored" in str(gone.reason)
        assert (broken.status, broken.hash) == (ItemStatus.REJECTED, None)

    await every_program.keeps(promise)

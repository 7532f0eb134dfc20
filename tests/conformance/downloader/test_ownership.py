"""What the user of a program added is the user's: every client watches it and leaves it alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.downloads.clients.factory import ClientName, open_client
from kurabito.downloads.clients.transport import Calls
from kurabito.downloads.errors import TransferNotOurs
from kurabito.downloads.items import CancelStatus, DownloadItem, ItemStatus, Owner, TransferFile, TransferStatus

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.conformance.downloader.conftest import EveryProgram, Release, Rig

    from kurabito.downloads.client import DownloaderClient

pytestmark = pytest.mark.asyncio(loop_scope="module")
ADDS = ("torrents/add", "torrent-add", "aria2.add")


class Died(Exception):
    """What becomes of a client whose process is killed."""


async def with_user(every_program: EveryProgram, promise: Callable[[Rig], Coroutine[Any, Any, None]]) -> None:
    """Have each program keep a promise that has a user beside us; the embedded one has none."""
    every_program.rigs = [rig for rig in every_program.rigs if rig.program.name is not ClientName.EMBEDDED]
    await every_program.keeps(promise)


@asynccontextmanager
async def another_client(rig: Rig, notes: Path, mark: str) -> AsyncIterator[DownloaderClient]:
    async with open_client(rig.program.name, rig.program.url, notes, rig.outbound, mark=mark) as opened:
        await opened.client.login("kura", "s3cret-of-the-test")
        yield opened.client


def own_folder(rig: Rig, release: Release, *, whole: bool = True) -> Path:
    """A folder of the user's own, with what the user has of it."""
    folder = rig.folder.parent / "mine" / release.hash[:8]
    folder.mkdir(parents=True)
    if whole:
        (folder / release.name).write_bytes(release.content)
    return folder


async def untouched(rig: Rig, release: Release, folder: Path) -> None:
    """The user finds everything as it was."""
    seen = await rig.program.seen_by_hand(release)
    assert seen is not None, "it is gone"
    assert (Path(seen.folder), seen.is_paused) == (folder, False)
    assert (folder / release.name).read_bytes() == release.content
    assert not any(rig.folder.rglob(release.name)), "there is a second copy"


async def try_everything(client: DownloaderClient, release: Release) -> None:
    """All that could be done to a download, which is refused."""
    (result,) = await client.cancel_torrents([release.hash])
    assert result.status is CancelStatus.NOT_FOUND
    for attempt in (
        client.pause_torrent(release.hash),
        client.resume_torrent(release.hash),
        client.delete_torrent(release.hash, False),
        client.delete_torrent(release.hash, True),
    ):
        with pytest.raises(TransferNotOurs, match="is yours"):
            await attempt


async def test_what_was_there_before_is_accepted_and_only_watched(every_program: EveryProgram) -> None:
    async def promise(rig: Rig) -> None:
        release = rig.swarm.release("Kura - 01.mkv")
        folder = own_folder(rig, release)
        await rig.program.add_by_hand(release, folder)
        urls = [release.magnet, rig.swarm.put("1.torrent", release.torrent)]

        results = await rig.client.add_torrents([DownloadItem(url, rig.save_path("1")) for url in urls])

        assert [(one.status, one.hash, one.owner) for one in results] == [
            (ItemStatus.ACCEPTED, release.hash, Owner.USER)
        ] * 2
        there = await rig.until(release, status=TransferStatus.COMPLETED)
        assert there.owner is Owner.USER
        # It lies where the user put it, and not where we would have.
        assert Path(str(there.content_path)) == folder
        assert there.files == (TransferFile(release.name, len(release.content), is_complete=True),)
        await try_everything(rig.client, release)
        await untouched(rig, release, folder)
        await rig.program.remove_by_hand(release)

    await with_user(every_program, promise)


async def test_what_the_user_is_still_downloading_is_not_cancelled(every_program: EveryProgram) -> None:
    async def promise(rig: Rig) -> None:
        release = rig.swarm.release("Kura - 02.mkv", seeded=False)
        folder = own_folder(rig, release, whole=False)
        await rig.program.add_by_hand(release, folder)
        await rig.client.add_torrents([DownloadItem(release.magnet, rig.save_path("2"))])
        assert (await rig.until(release, status=TransferStatus.DOWNLOADING)).owner is Owner.USER

        await try_everything(rig.client, release)

        release.seed()
        await rig.until_complete(release)
        await untouched(rig, release, folder)
        await rig.program.remove_by_hand(release)

    await with_user(every_program, promise)


def late(patch: pytest.MonkeyPatch, before: Callable[[Calls], Awaitable[None]]) -> None:
    """Have something happen between the look of a client and the request that adds."""
    send = Calls.send

    async def delayed(self: Calls, method: str, path: str, **rest: Any) -> Any:
        if path.endswith(ADDS) or str(rest.get("json", {}).get("method", "")).startswith(ADDS):
            await before(self)
        return await send(self, method, path, **rest)

    patch.setattr(Calls, "send", delayed)


async def test_what_the_user_adds_in_the_moment_before_ours_is_the_users(
    every_program: EveryProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile: dict[str, Callable[[], Awaitable[None]]] = {}

    async def user_is_faster(calls: Calls) -> None:
        if (add := meanwhile.pop(calls.url, None)) is not None:
            await add()

    late(monkeypatch, user_is_faster)

    async def promise(rig: Rig) -> None:
        release = rig.swarm.release("Kura - 03.mkv")
        folder = own_folder(rig, release)
        meanwhile[rig.program.url] = lambda: rig.program.add_by_hand(release, folder)
        torrent = rig.swarm.put("3.torrent", release.torrent)

        await rig.client.add_torrents([DownloadItem(torrent, rig.save_path("3"))])

        assert rig.program.url not in meanwhile
        await rig.until(release, status=TransferStatus.COMPLETED, owner=Owner.USER)
        await try_everything(rig.client, release)
        await untouched(rig, release, folder)
        await rig.program.remove_by_hand(release)

    await with_user(every_program, promise)


async def test_what_was_added_before_a_crash_is_known_as_ours(
    every_program: EveryProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, dying = Calls.send, set[str]()

    async def die(self: Calls, method: str, path: str, **rest: Any) -> Any:
        answer = await send(self, method, path, **rest)
        if self.url in dying and (path.endswith(ADDS) or str(rest.get("json", {}).get("method", "")).startswith(ADDS)):
            dying.remove(self.url)
            raise Died
        return answer

    monkeypatch.setattr(Calls, "send", die)

    async def promise(rig: Rig) -> None:
        release = rig.swarm.release("Kura - 04.mkv", seeded=False)
        item = DownloadItem(rig.swarm.put("4.torrent", release.torrent), rig.save_path("4"))
        dying.add(rig.program.url)
        async with rig.program.client(rig.outbound) as killed:
            await killed.login("kura", "s3cret-of-the-test")
            with pytest.raises(Died):
                await killed.add_torrents([item])
        # The next life has the notes of the one before, and finds what that one added.
        assert (await rig.until(release, status=TransferStatus.DOWNLOADING)).owner is Owner.KURABITO
        (result,) = await rig.client.add_torrents([item])
        assert (result.status, result.owner) == (ItemStatus.ACCEPTED, Owner.KURABITO)
        (cancelled,) = await rig.client.cancel_torrents([release.hash])
        assert cancelled.status is CancelStatus.CANCELLED
        assert await rig.status(release.hash) is None

    await with_user(every_program, promise)


async def test_two_services_at_one_program_leave_each_others_downloads_alone(every_program: EveryProgram) -> None:
    async def promise(rig: Rig) -> None:
        release = rig.swarm.release("Kura - 05.mkv", seeded=False)
        notes = rig.folder.parent / "other-notes"
        await asyncio.to_thread(notes.mkdir, parents=True)
        item = DownloadItem(release.magnet, rig.save_path("5"))
        async with another_client(rig, notes, "kurabito-other") as other:
            (first,) = await other.add_torrents([item])
            (second,) = await rig.client.add_torrents([DownloadItem(release.magnet, rig.save_path("6"))])
            assert (first.owner, second.owner) == (Owner.KURABITO, Owner.USER)
            await try_everything(rig.client, release)
            assert (await other.cancel_torrents([release.hash]))[0].status is CancelStatus.CANCELLED

    await with_user(every_program, promise)


async def test_what_is_added_carries_the_mark_and_is_the_users_once_it_is_taken_off(
    every_program: EveryProgram,
) -> None:
    async def promise(rig: Rig) -> None:
        if rig.program.name is ClientName.ARIA2:
            return
        release = rig.swarm.release("Kura - 06.mkv", seeded=False)
        await rig.client.add_torrents([DownloadItem(release.magnet, rig.save_path("7"))])
        assert (await rig.until(release)).owner is Owner.KURABITO
        program: Any = rig.program
        if rig.program.name is ClientName.QBITTORRENT:
            ((found),) = await program.call("torrents/info", {"hashes": release.hash})
            assert found["tags"] == "kurabito"
            await program.call("torrents/removeTags", {"hashes": release.hash, "tags": "kurabito"})
        else:
            found = await program.call("torrent-get", ids=[release.hash], fields=["labels"])
            assert found["torrents"] == [{"labels": ["kurabito"]}]
            await program.call("torrent-set", ids=[release.hash], labels=[])
        await rig.until(release, owner=Owner.USER)
        await try_everything(rig.client, release)
        await rig.program.remove_by_hand(release)

    await with_user(every_program, promise)

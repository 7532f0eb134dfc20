"""Every client keeps the same promises, whatever the program behind it calls things."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kurabito.downloads.clients.factory import ClientName
from kurabito.downloads.clients.sources import hash_of_url
from kurabito.downloads.errors import DownloaderLoginRefused, TransferNotFound
from kurabito.downloads.items import CancelStatus, DownloadItem, ItemStatus, TransferFile, TransferStatus

if TYPE_CHECKING:
    from tests.conformance.downloader.conftest import EveryProgram, Rig

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOBODY = "0123456789abcdef0123456789abcdef01234567"


async def test_what_is_taken_arrives_and_what_cannot_be_taken_is_refused_with_a_reason(
    every_program: EveryProgram,
) -> None:
    async def promise(rig: Rig) -> None:
        first, second = rig.swarm.release("Kura - 01.mkv"), rig.swarm.release("Kura - 02.mkv")
        first.dials = second.dials = False
        torrent = rig.swarm.put("2.torrent", second.torrent)
        plain = rig.swarm.put("Kura - 03.mkv", b"plain" * 10_000)
        items = [
            DownloadItem(first.magnet, rig.save_path("1")),
            DownloadItem(torrent, rig.save_path("2")),
            DownloadItem(plain, rig.save_path("3")),
            DownloadItem(rig.swarm.put("garbage.torrent", b"<html>not found</html>"), rig.save_path("4")),
            DownloadItem(rig.swarm.url("missing.torrent"), rig.save_path("5")),
            DownloadItem("magnet:?dn=nothing", rig.save_path("6")),
            DownloadItem("ftp://127.0.0.1/a.mkv", rig.save_path("7")),
        ]

        results = await rig.client.add_torrents(items)

        assert [result.url for result in results] == [item.url for item in items]
        takes_plain = ItemStatus.ACCEPTED if rig.program.takes_http else ItemStatus.REJECTED
        assert [result.status for result in results] == [
            ItemStatus.ACCEPTED, ItemStatus.ACCEPTED, takes_plain, *[ItemStatus.REJECTED] * 4,
        ]  # fmt: skip
        assert [result.hash for result in results[:2]] == [first.hash, second.hash]
        assert all(result.reason and result.hash is None for result in results if result.status is ItemStatus.REJECTED)
        statuses = await rig.until_complete(first, second)
        for number, (release, status) in enumerate(zip([first, second], statuses, strict=True), start=1):
            assert (status.progress, status.size) == (1.0, len(release.content))
            assert rig.saved(f"{number}/{release.name}").read_bytes() == release.content
        if rig.program.takes_http:
            assert results[2].hash == hash_of_url(plain)
            (status,) = await rig.until_complete(hash_of_url(plain))
            assert status.size == 50_000
            assert rig.saved("3/Kura - 03.mkv").read_bytes() == b"plain" * 10_000
        else:
            assert "unsupported" in str(results[2].reason)
        assert await rig.client.query_status([NOBODY]) == []

    await every_program.keeps(promise)


async def test_a_torrent_is_seeded_as_long_as_it_is_asked_for_with(every_program: EveryProgram) -> None:
    async def promise(rig: Rig) -> None:
        release = rig.swarm.release("Kura - 01.mkv")
        item = DownloadItem(rig.swarm.put("1.torrent", release.torrent), rig.save_path("1"), 2.5, 90)
        (result,) = await rig.client.add_torrents([item])
        assert result.status is ItemStatus.ACCEPTED
        assert await rig.program.seed_goal(release) == rig.program.goal_of(2.5, 90)

    await every_program.keeps(promise)


async def test_what_is_there_already_is_accepted_and_stays_as_it_is(every_program: EveryProgram) -> None:
    async def promise(rig: Rig) -> None:
        release = rig.swarm.release("Kura - 01.mkv", seeded=False)
        torrent = rig.swarm.put("1.torrent", release.torrent)
        upper = release.magnet.replace(release.hash, release.hash.upper())
        asked = [DownloadItem(url, rig.save_path(where)) for url, where in [(release.magnet, "1"), (torrent, "2")]]

        for items in (asked, asked[::-1], [DownloadItem(upper, rig.save_path("3"))]):
            results = await rig.client.add_torrents(items)
            assert {(result.status, result.hash) for result in results} == {(ItemStatus.ACCEPTED, release.hash)}

        release.seed()
        await rig.until_complete(release)
        places = [path.parent.name for path in rig.folder.rglob(release.name)]
        assert len(places) == 1
        assert await rig.client.cancel_torrents([release.hash]) != []
        assert await rig.status(release.hash) is None

    await every_program.keeps(promise)


async def test_a_download_rests_goes_on_and_is_deleted_with_its_files_only_when_so_wished(
    every_program: EveryProgram,
) -> None:
    async def promise(rig: Rig) -> None:
        release = rig.swarm.release("Kura - 01.mkv", seeded=False)
        item = DownloadItem(rig.swarm.put("1.torrent", release.torrent), rig.save_path("1"))
        await rig.client.add_torrents([item])
        await rig.until(release, status=TransferStatus.DOWNLOADING)

        await rig.client.pause_torrent(release.hash)
        assert (await rig.until(release, detail="paused")).status is TransferStatus.DOWNLOADING
        await rig.client.pause_torrent(release.hash)
        release.seed()
        assert (await rig.until(release, detail="paused")).progress == 0
        await rig.client.resume_torrent(release.hash)
        await rig.until_complete(release)

        await rig.client.delete_torrent(release.hash, False)
        assert await rig.status(release.hash) is None
        assert rig.saved(f"1/{release.name}").read_bytes() == release.content

        await rig.client.add_torrents([item])
        await rig.until_complete(release)
        await rig.client.delete_torrent(release.hash, True)
        assert await rig.status(release.hash) is None
        await rig.gone(f"1/{release.name}")

        for ask in (rig.client.pause_torrent, rig.client.resume_torrent):
            with pytest.raises(TransferNotFound):
                await ask(release.hash)
        with pytest.raises(TransferNotFound):
            await rig.client.delete_torrent(release.hash, True)

    await every_program.keeps(promise)


async def test_what_is_cancelled_leaves_nothing_half_done_and_keeps_what_is_complete(
    every_program: EveryProgram,
) -> None:
    async def promise(rig: Rig) -> None:
        whole = rig.swarm.release("Kura - 01.mkv")
        half = rig.swarm.release("Kura - 02.mkv", seeded=False)
        torrent = rig.swarm.put("1.torrent", whole.torrent)
        await rig.client.add_torrents(
            [DownloadItem(torrent, rig.save_path("1")), DownloadItem(half.magnet, rig.save_path("2"))]
        )
        await rig.until_complete(whole)
        await rig.until(half, status=TransferStatus.DOWNLOADING)

        results = await rig.client.cancel_torrents([whole.hash, NOBODY, half.hash])

        assert [(result.hash, result.status) for result in results] == [
            (whole.hash, CancelStatus.CANCELLED), (NOBODY, CancelStatus.NOT_FOUND), (half.hash, CancelStatus.CANCELLED),
        ]  # fmt: skip
        assert await rig.client.query_status([whole.hash, half.hash]) == []
        assert rig.saved(f"1/{whole.name}").read_bytes() == whole.content
        await rig.gone(f"2/{half.name}")

    await every_program.keeps(promise)


async def test_names_in_a_torrent_never_lead_out_of_the_folder_it_is_saved_to(every_program: EveryProgram) -> None:
    async def promise(rig: Rig) -> None:
        evil = rig.swarm.release("evil", path=("..", "..", "..", "escaped.mkv"))
        results = await rig.client.add_torrents(
            [
                DownloadItem(rig.swarm.put("evil.torrent", evil.torrent), rig.save_path("deep/1")),
                DownloadItem(evil.magnet, rig.save_path("deep/1")),
            ]
        )
        assert [result.status for result in results] == [ItemStatus.REJECTED, ItemStatus.ACCEPTED]
        assert "leads out of its folder" in str(results[0].reason)
        # Some take it under other names, some give up on it when they see the names.
        await rig.until_settled(evil)
        escaped = [path for path in rig.folder.parent.rglob("*escaped.mkv") if rig.swarm.folder not in path.parents]
        assert all(rig.saved("deep/1") in path.parents for path in escaped)

    await every_program.keeps(promise)


async def test_a_program_that_was_away_is_found_again_with_everything_it_had(every_program: EveryProgram) -> None:
    async def promise(rig: Rig) -> None:
        release = rig.swarm.release("Kura - 01.mkv")
        waiting = [rig.swarm.release(f"Kura - {number:02}.mkv", seeded=False) for number in (2, 3)]
        torrent = rig.swarm.put("3.torrent", waiting[1].torrent)
        urls = [release.magnet, waiting[0].magnet, torrent]
        await rig.client.add_torrents(
            [DownloadItem(url, rig.save_path(str(number))) for number, url in enumerate(urls, start=1)]
        )
        await rig.until_complete(release)

        await rig.restart()

        await rig.until_complete(release)
        for late in waiting:
            await rig.until(late, status=TransferStatus.DOWNLOADING)
            late.seed()
        await rig.until_complete(*waiting)
        for number, late in enumerate(waiting, start=2):
            assert rig.saved(f"{number}/{late.name}").read_bytes() == late.content
            await rig.client.delete_torrent(late.hash, True)
            await rig.gone(f"{number}/{late.name}")
        assert [path for path in rig.folder.rglob("*.torrent") if path.is_file()] == []

    await every_program.keeps(promise)


async def test_what_is_complete_says_where_it_is_and_of_which_files(every_program: EveryProgram) -> None:
    async def promise(rig: Rig) -> None:
        single = rig.swarm.release("Kura - 01.mkv")
        nested = rig.swarm.release("Kura", path=("Season 1", "Kura - 02.mkv"))
        waiting = rig.swarm.release("Kura - 03.mkv", seeded=False)
        torrent = rig.swarm.put("3.torrent", waiting.torrent)
        urls = {"1": single.magnet, "2": nested.magnet, "3": torrent}
        await rig.client.add_torrents([DownloadItem(url, rig.save_path(name)) for name, url in urls.items()])

        first, second = await rig.until_complete(single, nested)

        for status, where, path in ((first, "1", single.name), (second, "2", "Kura/Season 1/Kura - 02.mkv")):
            assert status.content_path is not None
            assert status.files == (TransferFile(path, 40_000, is_wanted=True, is_complete=True),)
            assert Path(status.content_path) == rig.saved(where)
            assert (Path(status.content_path) / path).stat().st_size == 40_000
        # The files of what is under way are not asked for again and again.
        assert (await rig.until(waiting, status=TransferStatus.DOWNLOADING)).files is None
        # A second URL of the same torrent adds nothing, and lies where the first put it.
        await rig.client.add_torrents(
            [DownloadItem(rig.swarm.put("1.torrent", single.torrent), rig.save_path("elsewhere"))]
        )
        again = await rig.status(single.hash)
        assert again is not None
        assert (again.content_path, again.files) == (first.content_path, first.files)
        for release in (single, nested, waiting):
            await rig.client.delete_torrent(release.hash, True)

    await every_program.keeps(promise)


async def test_a_program_that_crashed_tells_where_it_has_a_download_now(every_program: EveryProgram) -> None:
    async def promise(rig: Rig) -> None:
        release = rig.swarm.release("Kura - 04.mkv")
        item = DownloadItem(rig.swarm.put("4.torrent", release.torrent), rig.save_path("4"))
        await rig.client.add_torrents([item])
        await rig.until_complete(release)

        await rig.program.crash()

        # Transmission forgets the folder and uses its own, aria2 forgets the download.
        if await rig.status(release.hash) is None:
            await rig.client.add_torrents([item])
        (there,) = await rig.until_complete(release)
        assert there.content_path is not None
        assert there.files is not None
        assert (Path(there.content_path) / there.files[0].path).read_bytes() == release.content

    every_program.rigs = [rig for rig in every_program.rigs if rig.program.name is not ClientName.EMBEDDED]
    await every_program.keeps(promise)


async def test_a_wrong_password_is_refused_and_said_nowhere(every_program: EveryProgram) -> None:
    async def promise(rig: Rig) -> None:
        if rig.program.name is ClientName.EMBEDDED:
            return
        async with rig.program.client(rig.outbound) as client:
            with pytest.raises(DownloaderLoginRefused) as refused:
                await client.login("kura", "not-the-secret")
            assert "not-the-secret" not in str(refused.value)
            with pytest.raises(DownloaderLoginRefused):
                await client.add_torrents([DownloadItem(f"magnet:?xt=urn:btih:{NOBODY}", "/nowhere")])
            await client.login("kura", "s3cret-of-the-test")
            assert await client.query_status([NOBODY]) == []

    await every_program.keeps(promise)

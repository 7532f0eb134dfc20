"""The history of releases and files: every kind, its filters, and pages that neither lose nor repeat an entry."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.integration.downloads.conftest import Core, StandIn, hash_of

from kurabito.clock import to_datetime
from kurabito.db import Dialect
from kurabito.downloads.history import store
from kurabito.downloads.history.entry import HistoryFilter, HistoryKind, Source
from kurabito.downloads.history.service import History
from kurabito.downloads.reasons import DownloadReason
from kurabito.errors import InvalidInput

ONE = ("[Kura] Yoru no Kurabito - 01 [1080p]", f"magnet:?xt=urn:btih:{1:040x}")
TWO = ("[Kura] Yoru no Kurabito - 02 [1080p]", f"magnet:?xt=urn:btih:{2:040x}")
THREE = ("[Kura] Yoru no Kurabito - 03 [1080p]", f"magnet:?xt=urn:btih:{4:040x}")
BATCH = ("[Kura] Asa no Kura 01-12 [1080p][Batch]", f"magnet:?xt=urn:btih:{3:040x}")


async def kinds(history: History, wanted: HistoryFilter | None = None) -> list[str]:
    return [f"{one.kind}" for one in await history.page(wanted or HistoryFilter(), limit=200)]


async def lived(core: Core, a: StandIn) -> None:
    """One episode from the feed to its library and on to the trash, one that fails, and a batch."""
    await core.register(a)
    for number, item in enumerate((ONE, TWO, BATCH)):
        core.clock.advance(60)
        await core.bring(item)
        core.clock.advance(60)
        await core.work()
        core.clock.advance(60)
        if number == 1:
            a.say(hash_of(item[1]), "error", detail="content_refused")
        else:
            a.say(hash_of(item[1]), "completed", progress=1.0)
        await core.poll()
    core.clock.advance(60)
    await place(core)


async def place(core: Core) -> None:
    """What a data plane writes of a file that is placed, replaced by a better one, and moved to the trash in the end."""
    await core.run(
        "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'Anime', '/anime', :now, :now)"
    )
    for number, replaces in ((1, None), (2, "Yoru/01.mkv")):
        core.clock.advance(60)
        await core.run(
            "INSERT INTO placements (id, download_id, library_id, mode, size_bytes, target_path, status, replaces_path, created_at,"
            " updated_at, finished_at) VALUES (:id, 1, 1, 'link', 7, 'Yoru/01.mkv', 'completed', :replaces, :now, :now, :now)",
            id=number,
            replaces=replaces,
        )
        await core.run(
            "INSERT INTO placement_episodes (placement_id, episode_id) SELECT :id, episode_id FROM anime_links WHERE title = :title",
            id=number,
            title=ONE[0],
        )
    core.clock.advance(60)
    for name, successor in (("a" * 32, "Yoru/01.mkv"), ("b" * 32, None)):
        await core.run(
            "INSERT INTO trash_entries (id, file_id, library_id, relative_path, trash_path, size_bytes, hash_algorithm,"
            " content_hash, trashed_at, successor_path) VALUES (:id, 1, 1, 'Yoru/01.mkv', :trash, 7, 'blake3', :hash, :now, :next)",
            id=name,
            trash=f".kurabito-trash/{name}/01.mkv",
            hash=b"1" * 32,
            next=successor,
        )


async def test_everything_that_happens_is_told_once_and_in_order(core: Core, a: StandIn) -> None:
    history = History(core.queue.database)
    await lived(core, a)
    assert await kinds(history) == [
        *("deleted", "upgraded", "placed"),
        *("completed", "sent", "taken", "seen"),
        *("failed", "sent", "taken", "seen"),
        *("completed", "sent", "taken", "seen"),
    ]
    (batch,) = await history.page(HistoryFilter(kinds=(HistoryKind.TAKEN,), text="asa NO"))
    assert (batch.series, batch.episodes, batch.episode, batch.downloader) == ("Asa no Kura", 12, None, "A")
    (failed,) = await history.page(HistoryFilter(kinds=(HistoryKind.FAILED,)))
    assert failed.reason is not None
    assert (failed.reason.code, failed.episode) == (DownloadReason.TRANSFER, 2.0)
    (deleted,) = await history.page(HistoryFilter(kinds=(HistoryKind.DELETED,)))
    assert (deleted.series, deleted.path) == ("Yoru no Kurabito", "Yoru/01.mkv")


async def test_a_page_goes_on_where_the_one_before_ended(core: Core, a: StandIn) -> None:
    history = History(core.queue.database)
    await lived(core, a)
    await core.downloads.downloads.remove(1)
    await core.bring(THREE)
    await core.downloads.downloads.cancel((await core.all("SELECT max(id) FROM downloads"))[0][0])
    whole = [(one.source, one.key) for one in await history.page(limit=200)]
    assert {one for one, _ in whole} == set(Source)
    single, cursor = [], None
    while True:
        page = await history.page(limit=1, cursor=cursor)
        single += [(one.source, one.key) for one in page]
        if (cursor := page.next_cursor) is None:
            break
    assert single == whole
    assert [(one.source, one.key) async for one in history.everything()] == whole


async def test_the_history_of_one_show_one_downloader_and_one_time(core: Core, a: StandIn) -> None:
    history = History(core.queue.database)
    begun = to_datetime(core.clock.now())
    await lived(core, a)
    ((series_id,),) = await core.all("SELECT id FROM series WHERE title = 'Yoru no Kurabito'")
    everything = await history.page(limit=200)
    of_show = await history.page(HistoryFilter(series_id=series_id), limit=200)
    assert [one.cursor for one in of_show] == [one.cursor for one in everything if one.series_id == series_id]
    ((module_id,),) = await core.all("SELECT module_id FROM service_modules")
    assert set(await kinds(history, HistoryFilter(module_id=module_id))) == {
        *("taken", "sent", "completed", "failed", "placed", "upgraded")
    }
    assert await kinds(history, HistoryFilter(module_id=module_id + 1)) == []
    early = HistoryFilter(until=begun + timedelta(seconds=121))
    late = HistoryFilter(since=begun + timedelta(seconds=121))
    assert await kinds(history, early) == ["sent", "taken", "seen"]
    assert len(await kinds(history, late)) == len(everything) - 3


async def test_a_text_is_found_however_many_releases_have_it(
    core: Core, a: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(core.queue.database)
    await lived(core, a)
    for text in ("YORU", "batch", "01.mkv", "nowhere"):
        few = [one.cursor for one in await history.page(HistoryFilter(text=text), limit=200)]
        with monkeypatch.context() as patched:
            patched.setattr(store, "_FEW", 0)
            many = [one.cursor for one in await history.page(HistoryFilter(text=text), limit=200)]
        assert few == many
        assert bool(few) is (text != "nowhere")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_the_newest_entries_are_read_in_their_order_without_sorting_the_rest(core: Core) -> None:
    values = {"at": 9, "id": 9, "since": 0, "text": "", "module_id": None, "limit": 5}
    for (source, scope), query in store.QUERIES.items():
        if scope is store.HistoryScope.ALL:
            plan = str(await core.all(f"EXPLAIN QUERY PLAN {query.text(Dialect.SQLITE)}", **values))
            assert "FOR ORDER BY" not in plan, source


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_cursor_that_no_page_gave_is_refused(core: Core) -> None:
    history = History(core.queue.database)
    for cursor in ("", "1", "1-seen", "1-read-1", "1-seen-ff", "x-seen-1", f"1-seen-{10**19}"):
        with pytest.raises(InvalidInput):
            await history.page(cursor=cursor)
    assert not (await history.page(cursor=f"1-trashed-{'f' * 32}")).items

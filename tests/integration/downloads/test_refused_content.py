"""A download that brought programs has failed and is not taken again; what a library has is never lacking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kurabito.downloads import store
from kurabito.downloads.errors import DownloadConflict
from kurabito.downloads.health.progress import actions_for
from kurabito.downloads.tasks import DownloadTasks
from kurabito.downloads.want_again import ContentRefusals, give_back

if TYPE_CHECKING:
    from tests.integration.downloads.conftest import Core, StandIn

FIRST = ("[Kura] Koji - 01 [1080p]", "magnet:?xt=urn:btih:" + "1" * 40)
SECOND = ("[Other] Koji - 01 [720p]", "magnet:?xt=urn:btih:" + "2" * 40)
COMPLETE = "UPDATE downloads SET status = 'completed' WHERE status = 'pending'"
FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
    "VALUES (1, 'Koji.mkv', 1, 1, 1, 1)"
)
LIBRARY = "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'l', '/l', 1, 1)"
HAD = "INSERT INTO episode_files (episode_id, file_id, created_at) SELECT episodes.id, library_files.id, 1 FROM episodes, library_files"


async def completed(core: Core) -> int:
    await core.bring(FIRST, SECOND)
    await core.run(COMPLETE)
    ((download,),) = await core.all("SELECT id FROM downloads")
    await core.run("UPDATE episodes SET state = 'have'")
    return int(download)


async def test_the_next_release_is_taken_and_the_bad_one_never_again(core: Core) -> None:
    download = await completed(core)
    refuse = ContentRefusals(core.downloads.grabber, DownloadTasks(core.queue)).refuse
    await core.queue.database.write(lambda conn: refuse(conn, download, ["Koji - 01.mkv.exe"]))
    assert await core.told("SELECT status, reason FROM downloads WHERE id = :id", id=download) == [
        (
            "failed",
            "it brought programs where videos should be: Koji - 01.mkv.exe; it stays at its downloader until you remove it there",
        )
    ]
    titles = await core.all(
        "SELECT link.title, download.status FROM downloads AS download JOIN anime_links AS link ON link.id = download.link_id "
        "WHERE download.id <> :id",
        id=download,
    )
    assert titles == [(SECOND[0], "pending")]
    assert await core.episodes() == ["downloading"]
    # The next one is no better, and then there is none.
    await core.run(COMPLETE)
    ((other,),) = await core.all("SELECT id FROM downloads WHERE status = 'completed'")
    await core.queue.database.write(lambda conn: refuse(conn, other, ["a.scr"]))
    assert await core.statuses() == ["failed", "failed"]
    assert await core.episodes() == ["wanted"]
    # Nor by hand, by itself or together with what else failed.
    assert await core.downloads.downloads.count_failed(10) == 0
    assert await core.downloads.downloads.retry_failed() == 0
    for known in (download, int(other)):
        with pytest.raises(DownloadConflict, match="not downloaded again"):
            await core.downloads.downloads.retry(known)
        shown, is_stalled, _ = await core.downloads.downloads.get(known)
        assert (actions_for(shown), is_stalled) == ([], False)
    assert await core.statuses() == ["failed", "failed"]


@pytest.mark.parametrize("by_hand", [False, True])
async def test_what_kurabito_added_is_deleted_and_what_its_user_added_stays(
    core: Core, a: StandIn, *, by_hand: bool
) -> None:
    a.tells = True
    await core.register(a)
    if by_hand:
        a.has_by_hand("1" * 40)
    await core.bring(FIRST, SECOND)
    await core.work()
    a.say("1" * 40, "completed", content_path="/downloads/x", files=[{"path": "Koji.exe", "size": 1, "complete": True}])
    await core.poll()
    refuse = ContentRefusals(core.downloads.grabber, DownloadTasks(core.queue)).refuse
    await core.queue.database.write(lambda conn: refuse(conn, 1, ["Koji.exe"]))
    await core.work()
    deleted = [(one.path, one.query) for one in a.asked if one.method == "DELETE"]
    ((reason,),) = await core.told("SELECT reason FROM downloads WHERE id = 1")
    if by_hand:
        assert deleted == []
        assert str(reason).endswith("it stays at its downloader until you remove it there")
    else:
        assert deleted == [(f"/downloads/{'1' * 40}", "delete_files=true")]
        assert str(reason).endswith("it is deleted at its downloader with its files")
    # The next release came, and the bad one never does again.
    assert ("2" * 40 in a.has, "1" * 40 in a.has) == (True, by_hand)
    assert await core.all("SELECT release_key, blocked_until FROM release_blocklist") == [("1" * 40, None)]


async def test_an_episode_whose_file_is_in_a_library_is_not_lacking(core: Core) -> None:
    download = await completed(core)
    for sql in (LIBRARY, FILE, HAD):
        await core.run(sql)
    await core.queue.database.write(lambda conn: give_back(conn, [download]))
    assert await core.episodes() == ["have"]
    await core.run("UPDATE episodes SET state = 'downloading'")
    await core.run("UPDATE downloads SET status = 'failed'")
    await core.queue.database.write(lambda conn: store.restate_episodes(conn, [download]))
    assert await core.episodes() == ["have"]
    # A file that is gone is another matter.
    await core.run("UPDATE library_files SET is_missing = 1")
    await core.run("UPDATE episodes SET state = 'downloading'")
    await core.queue.database.write(lambda conn: store.restate_episodes(conn, [download]))
    assert await core.episodes() == ["wanted"]

"""A download says where its content really is, and of which files it is made."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.downloads.items import TransferFile
from kurabito.http import Limits
from kurabito.modules import service_client

if TYPE_CHECKING:
    from tests.integration.downloads.conftest import Core, StandIn

ONE, TWO = (f"{number:040x}" for number in (1, 2))
FILES = [
    {"path": "Dawn/Dawn - 01.mkv", "size": 1000, "wanted": True, "complete": True},
    {"path": "Dawn/sample.mkv", "size": 10, "wanted": False, "complete": False},
]
STORED = [TransferFile("Dawn/Dawn - 01.mkv", 1000, True, True), TransferFile("Dawn/sample.mkv", 10, False, False)]


def magnet(number: int, more: str = "") -> tuple[str, str]:
    return f"[Kura] Dawn - {number:02} [1080p]", f"magnet:?xt=urn:btih:{number:040x}{more}"


async def paths(core: Core) -> list[str]:
    return [path for (path,) in await core.all("SELECT save_path FROM downloads ORDER BY id")]


async def test_the_path_is_the_one_that_the_downloader_tells(core: Core, a: StandIn) -> None:
    await core.register(a)
    await core.bring(magnet(1), magnet(2))
    await core.work()
    assert await paths(core) == ["/downloads/Dawn/1", "/downloads/Dawn/2"]
    a.say(ONE, "downloading", content_path="/home/me/incoming")
    a.say(TWO, "completed", progress=1.0, content_path="/var/lib/default", files=FILES)
    await core.poll()
    assert await paths(core) == ["/home/me/incoming", "/var/lib/default"]
    # It came back in another folder.
    a.say(ONE, "completed", progress=1.0, content_path="/var/lib/default", files=FILES[:1])
    await core.poll()
    assert await core.statuses() == ["completed"] * 2
    assert await paths(core) == ["/var/lib/default"] * 2
    assert await core.downloads.downloads.files(1) == STORED[:1]
    assert await core.downloads.downloads.files(2) == STORED


async def test_a_second_link_of_the_same_content_has_its_path_and_its_files(core: Core, a: StandIn) -> None:
    await core.register(a)
    await core.bring(("[Kura] Dawn - 01-02 [1080p]", magnet(1)[1]))
    await core.work()
    await core.run("UPDATE downloads SET status = 'cancelled' WHERE id = 2")
    a.say(ONE, "completed", progress=1.0, content_path="/home/me/incoming", files=FILES)
    await core.poll()
    again = await core.downloads.downloads.retry(2)
    await core.work()
    joined, _, _ = await core.downloads.downloads.get(again.id)
    assert (joined.status, joined.save_path) == ("completed", "/home/me/incoming")
    assert await core.downloads.downloads.files(again.id) == STORED


async def test_a_second_torrent_file_of_the_same_torrent_lies_where_the_first_put_it(core: Core, a: StandIn) -> None:
    await core.register(a)

    def same(asked: Any, answer: Any) -> Any:
        for one in answer.get("results", ()):
            one["hash"] = ONE
        return answer

    a.spoils = same
    for number in (1, 2):
        await core.bring((magnet(number)[0], f"https://feeds.example/{number}.torrent"))
        await core.work()
    assert await paths(core) == ["/downloads/Dawn/1"] * 2


NONSENSE: tuple[Any, ...] = (
    "all of them",
    [],
    [7],
    [{"path": "/etc/passwd", "size": 1}],
    [{"path": "a/../../b", "size": 1}],
    [*FILES, {"path": "c"}],
    [{"path": "a\0b", "size": 1}],
    [{"path": "\udcff", "size": 1}],
)


def said(files: Any, _asked: Any, answer: Any) -> Any:
    for one in answer.get("statuses", ()):
        one |= {"files": files, "content_path": 5}
    return answer


@pytest.mark.parametrize("files", NONSENSE, ids=range(len(NONSENSE)))
async def test_a_list_of_files_that_makes_no_sense_counts_for_nothing(core: Core, a: StandIn, files: Any) -> None:
    await core.register(a)
    await core.bring(magnet(1))
    await core.work()
    a.spoils = partial(said, files)
    a.say(ONE, "completed", progress=1.0)
    await core.poll()
    assert (await core.statuses(), await paths(core)) == (["completed"], ["/downloads/Dawn/1"])
    assert await core.downloads.downloads.files(1) == []


async def test_lists_that_are_too_long_for_one_answer_are_asked_for_in_parts(
    core: Core, a: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    await core.register(a)
    await core.bring(*[magnet(number) for number in range(1, 9)])
    await core.work()
    for number in range(1, 9):
        files = [{"path": f"{number}/{part}.mkv", "size": part} for part in range(100)]
        a.say(f"{number:040x}", "completed", progress=1.0, files=files)
    monkeypatch.setattr(service_client, "_CALL", Limits(redirects=0, attempts=1, max_bytes=15_000))
    polled = await core.poll()
    assert (polled.offline, await core.statuses()) == (0, ["completed"] * 8)
    assert await core.all("SELECT count(*) FROM download_files") == [(800,)]

"""A private torrent of an indexer goes to the downloader as its file, whoever takes it and however often."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.integration.downloads.conftest import TLS, Asked, Core
from tests.integration.downloads.conftest import StandIn as Downloader
from tests.support.indexers import KEY, Answered, StandIn, caps, channel, private_item, private_torrent, standing_in

from kurabito.downloads.errors import NothingPasted
from kurabito.downloads.search.grab import ReleaseGrabs
from kurabito.downloads.search.pasted_links import PastedLinks
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.http import Outbound
from kurabito.indexers.definitions import SiteDefinitions
from kurabito.indexers.model import IndexerKind, IndexerSettings
from kurabito.indexers.port import SearchQuery
from kurabito.indexers.service import Indexers

DAY = 24 * 3600
FIRST, SECOND = "0a1b2c3d4e5f60718293a4b5c6d7e8f9", "9f8e7d6c5b4a39281706f5e4d3c2b1a0"


@dataclass
class Members:
    """A core, and an indexer for members that has episodes 7 and 8."""

    core: Core
    search: ReleaseSearch
    grabs: ReleaseGrabs
    server: StandIn
    passkey: str = FIRST
    keys: dict[float, str] = field(default_factory=dict)

    async def look(self, text: str = "Yoru no Kurabito") -> None:
        async for found in self.search.search(SearchQuery(text=text)):
            self.keys = {one.release.episodes[0]: one.key for one in found.releases if one.release}

    async def grab(self, *episodes: int) -> None:
        for episode in episodes:
            await self.grabs.grab(self.keys[episode])
        await self.core.work()


@pytest.fixture
async def members(core: Core) -> AsyncIterator[Members]:
    made: list[Members] = []

    def respond(path: str, query: dict[str, str]) -> Answered:
        if path.startswith("/dl/"):
            return Answered(private_torrent(made[0].passkey, int(query["path"][-1]))[0])
        items = (private_item(server.url(), 7), private_item(server.url(), 8))
        return Answered(caps() if query["t"] == "caps" else channel(*items))

    database = core.queue.database
    async with standing_in(respond) as server, Outbound(tls=TLS) as outbound:
        indexers = Indexers(database, outbound, SiteDefinitions())
        url = server.url(f"/api?apikey={KEY}")
        await indexers.add(IndexerSettings(kind=IndexerKind.TORZNAB, name="Members", url=url, allows_private=True))
        search = ReleaseSearch(database, indexers, PastedLinks(outbound))
        made.append(Members(core, search, ReleaseGrabs(database, indexers, search, core.downloads.grabber), server))
        await made[0].look()
        yield made[0]


def offered(downloader: Downloader) -> list[tuple[str, bytes | None]]:
    """What a downloader was offered, request by request: the URL, and the torrent file beside it."""
    items = [item for post in downloader.posts() for item in post.body["items"]]
    return [(item["url"], _file(item)) for item in items]


def _file(item: dict[str, Any]) -> bytes | None:
    return base64.b64decode(item["torrent"]) if "torrent" in item else None


async def test_a_downloader_gets_the_file_and_others_none(members: Members, a: Downloader) -> None:
    await members.core.register(a)
    await members.core.bring(("[Kura] Yoru no Kurabito - 09", f"magnet:?xt=urn:btih:{9:040x}"))
    await members.grab(7, 8)
    files = {f"torrent:{known}": content for content, known in (private_torrent(FIRST, one) for one in (7, 8))}
    assert dict(offered(a)) == {f"magnet:?xt=urn:btih:{9:040x}": None, **files}
    # One that knows no such field refuses the request that has it, and nothing else.
    assert all(len(post.body["items"]) == 1 for post in a.posts() if "torrent" in post.body["items"][0])


async def test_a_downloader_of_an_earlier_version_leaves_it_to_the_next(
    members: Members, a: Downloader, b: Downloader
) -> None:
    def refuse(asked: Asked, answer: Any) -> Any:
        return 422 if "torrent" in str(asked.body) and asked.method == "POST" else answer

    a.spoils = refuse
    await members.core.register(a, priority=90)
    await members.core.register(b)
    await members.grab(7)
    content, known = private_torrent(FIRST)
    assert offered(b) == [(f"torrent:{known}", content)]
    assert await members.core.statuses() == ["downloading"]


async def test_the_newest_passkey_counts(members: Members, a: Downloader) -> None:
    await members.grab(7)
    members.passkey = SECOND
    await members.grab(7)
    await members.core.register(a)
    await members.core.work()
    assert [content for _, content in offered(a)] == [private_torrent(SECOND)[0]]


async def test_files_that_are_of_no_more_use_are_deleted(members: Members, a: Downloader) -> None:
    await members.grab(7)
    members.core.clock.advance(100 * DAY)
    await members.look()
    await members.grab(8)
    # The first one still waits for a downloader.
    assert await members.core.all("SELECT count(*) FROM private_torrents") == [(2,)]
    await members.core.run("UPDATE downloads SET status = 'completed'")
    members.core.clock.advance(100 * DAY)
    await members.search.take_file(private_torrent(FIRST, 9)[0])
    assert await members.core.all("SELECT count(*) FROM private_torrents") == [(1,)]


async def test_a_private_file_that_is_uploaded_is_grabbed_as_it_is(members: Members, a: Downloader) -> None:
    await members.core.register(a)
    content, known = private_torrent(FIRST, 9)
    link = await members.search.take_file(content)
    assert link == f"torrent:{known}"
    await members.look(link)
    await members.grab(9)
    assert offered(a) == [(link, content)]
    with pytest.raises(NothingPasted, match="upload it again"):
        await members.look(f"torrent:{'0' * 40}")


async def test_what_a_downloader_says_of_a_tracker_has_no_passkey(members: Members, a: Downloader) -> None:
    await members.core.register(a)
    await members.grab(7)
    told = f"no answer from https://members.example/announce/{FIRST} or udp://t.example/a?passkey={SECOND}"
    for status in ("downloading", "error"):
        a.say(next(iter(a.has)), status, detail=told)
        await members.core.poll()
        (row,) = await members.core.all("SELECT status, detail, reason FROM downloads")
        assert "https://members.example/announce/" in str(row)
        assert FIRST not in str(row)
        assert SECOND not in str(row)

"""What is placed is told to media servers: once for each folder and burst, again after a failure, and never without end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, cast

import httpcore2
import pytest
from tests.support.media_servers import TOKEN, MediaServerStandIn, standing_in
from tests.support.waiting import PATIENCE

from kurabito.clock import ManualClock
from kurabito.http import Outbound
from kurabito.http.errors import BadStatus
from kurabito.media_servers.model import MediaServerKind, MediaServerSettings
from kurabito.media_servers.notices import TELL, MediaServerNotices, TellTask
from kurabito.media_servers.service import MediaServers
from kurabito.modules.path_maps import PathMap
from kurabito.runtime import PermanentError, Registry, Snooze, TaskContext, Worker
from kurabito.runtime.sql.queue import SqlQueue

TLS = httpcore2.default_ssl_context()
ADD_LIBRARY = """
INSERT INTO library_roots (id, name, root_path, watched, algorithm, hash_policy, ignored, created_at, updated_at)
VALUES (1, 'media', '/srv/media', 0, 'blake3', 'candidates', '[]', :now, :now)
"""
ADD_PLACEMENT = """
INSERT INTO placements (library_id, mode, source_path, size_bytes, target_path, status, method, created_at, updated_at)
VALUES (1, :mode, :source, 1, :target, 'completed', :method, :now, :now) RETURNING id
"""


@dataclass
class Attempt:
    """As much of a task's context as is asked for."""

    attempt: int = 1


class Filing:
    """Files that come into a library, and a media server that is to hear of them."""

    def __init__(self, queue: SqlQueue, outbound: Outbound, clock: ManualClock, server: MediaServerStandIn) -> None:
        self.queue = queue
        self.notices = MediaServerNotices(queue, outbound)
        self.servers = MediaServers(queue.database, outbound)
        self.clock = clock
        self.server = server

    async def add(self, kind: MediaServerKind = MediaServerKind.JELLYFIN, **others: Any) -> int:
        settings = MediaServerSettings(
            kind=kind,
            name=kind.value,
            url=self.server.url,
            token=TOKEN,
            **{"path_maps": (PathMap("/srv/media", "/media"),), **others},
        )
        return (await self.servers.add(settings)).id

    async def place(
        self, target: str, mode: str = "link", source: str | None = None, method: str | None = None
    ) -> None:
        def write(conn: Any) -> None:
            made = conn.value(
                ADD_PLACEMENT, {"mode": mode, "method": method or mode, "source": source, "target": target}
            )
            self.notices.note_placed(conn, [made])

        await self.queue.database.write(write)

    async def tell(self, server_id: int, attempt: int = 1) -> int:
        return await self.notices.tell(TellTask(server_id), cast("TaskContext", Attempt(attempt)))

    async def tasks(self) -> int:
        return len((await self.queue.list(task_type=TELL)).items)


@pytest.fixture
async def filing(queue: SqlQueue, clock: ManualClock) -> AsyncIterator[Filing]:
    await queue.database.write(lambda conn: conn.run(ADD_LIBRARY))
    async with standing_in() as server, Outbound(tls=TLS) as outbound:
        yield Filing(queue, outbound, clock, server)


async def test_a_burst_is_told_once_for_each_folder(filing: Filing) -> None:
    server = await filing.add()
    for number in range(12):
        await filing.place(f"Show/Season 01/{number}.mkv")
    assert await filing.tasks() == 1
    with pytest.raises(Snooze):
        await filing.tell(server)
    await filing.place("Show/Season 02/1.mkv", "rename", "Show/Season 01/13.mkv")
    filing.clock.advance(6)
    registry = Registry()
    filing.notices.join(registry)
    async with Worker(filing.queue, registry):
        (task,) = await filing.queue.list(task_type=TELL)
        assert (await filing.queue.wait(task.id, timeout=PATIENCE)).state == "succeeded"
    assert filing.server.told == ["/media/Show/Season 01", "/media/Show/Season 02"]
    (found,) = await filing.servers.everything()
    assert (found.health, found.status.failures) == ("healthy", 0)
    # What comes afterwards begins with another task.
    await filing.place("Ikiru.mkv")
    assert await filing.tasks() == 2
    filing.clock.advance(6)
    await filing.tell(server)
    assert filing.server.told[2:] == ["/media"]


async def test_what_goes_on_for_a_minute_is_told_meanwhile(filing: Filing) -> None:
    server = await filing.add()
    await filing.place("Show/1.mkv")
    filing.clock.advance(61)
    await filing.place("Other/1.mkv")
    assert await filing.tell(server) == 2


async def test_a_failure_keeps_what_is_to_be_told_and_the_last_one_gives_it_up(filing: Filing) -> None:
    server = await filing.add()
    await filing.place("Show/1.mkv")
    filing.clock.advance(6)
    filing.server.status = "500 Internal Server Error"
    with pytest.raises(BadStatus):
        await filing.tell(server)
    (found,) = await filing.servers.everything()
    assert (found.health, found.status.failures, found.status.error_code) == ("failing", 1, "bad_status")
    # Nothing more is enqueued while a task is under way.
    await filing.place("Show/2.mkv")
    assert await filing.tasks() == 1
    filing.clock.advance(6)
    with pytest.raises(BadStatus):
        await filing.tell(server, attempt=7)
    filing.server.status = None
    assert await filing.tell(server) == 0
    await filing.place("Show/3.mkv")
    assert await filing.tasks() == 2
    filing.clock.advance(6)
    assert await filing.tell(server) == 1


async def test_a_folder_that_plex_does_not_have_is_not_tried_again(filing: Filing) -> None:
    server = await filing.add(MediaServerKind.PLEX, path_maps=())
    await filing.place("Show/1.mkv")
    filing.clock.advance(6)
    with pytest.raises(PermanentError, match="path mapping"):
        await filing.tell(server)
    (found,) = await filing.servers.everything()
    assert found.status.error_code == "media_server_folder_unknown"
    assert await filing.tell(server) == 0


async def test_a_server_that_is_off_or_gone_hears_nothing(filing: Filing) -> None:
    server = await filing.add()
    await filing.place("Show/1.mkv")
    await filing.servers.change(server, {"is_enabled": False})
    await filing.place("Show/2.mkv")
    filing.clock.advance(6)
    assert await filing.tell(server) == 0
    await filing.servers.remove(server)
    assert await filing.tell(server) == 0
    assert filing.server.calls == 0


async def test_a_file_that_was_there_already_is_no_news(filing: Filing) -> None:
    await filing.add()
    await filing.place("Show/1.mkv", "copy", method="found")
    assert await filing.tasks() == 0

"""Wanting an episode again that was in the library: its files are gone, or are no good."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from kurabito.catalog.linker import lock_catalog
from kurabito.db import Connection, Database, Queries
from kurabito.downloads import store
from kurabito.downloads.choice import Choice
from kurabito.downloads.dispatch import attempts
from kurabito.downloads.dispatch.attempts import given_ids
from kurabito.downloads.dispatch.remote import Downloaders
from kurabito.downloads.errors import DownloadConflict, EpisodeNotFound
from kurabito.downloads.grabber import Grabber
from kurabito.downloads.items import Owner
from kurabito.downloads.reasons import DispatchCause, DownloadReason, because
from kurabito.downloads.release_options import choose_among
from kurabito.downloads.states import CleanupKind, Status
from kurabito.downloads.store import Download
from kurabito.downloads.tasks import DownloadTasks
from kurabito.modules import services
from kurabito.modules.services import Service

_SQL: Final = Queries("kurabito.downloads", "want_again.sql")
_MOST_FILES: Final = 10


@dataclass(frozen=True, slots=True)
class WantedAgain:
    """What came of wanting an episode again."""

    downloads: tuple[Download, ...]
    """What was begun; none where no release is known that could be taken."""
    is_asked: bool
    """A release has to be chosen first."""


def give_back(conn: Connection, download_ids: Sequence[int], *, even_filed: bool = False) -> None:
    """Have completed downloads count no longer; episodes that nothing else makes had are wanted again.

    `even_filed`: those whose file is in a library, too.
    """
    conn.run(_SQL.give_back, given_ids(download_ids))
    store.restate_episodes(conn, download_ids)
    want_lacking(conn, download_ids, even_filed=even_filed)


def want_lacking(conn: Connection, download_ids: Sequence[int], *, even_filed: bool = False) -> None:
    """Want those episodes of downloads that do not count any more which nothing else makes had."""
    found = conn.all(_SQL.episodes_of, {**given_ids(download_ids), "even_filed": int(even_filed)})
    conn.run(_SQL.want, given_ids([episode_id for (episode_id,) in found]))


def forgotten_with(conn: Connection, download_id: int) -> list[int]:
    """A completed download that was forgotten, and those of the same content that were before, such as the rest of a batch."""
    return [found for (found,) in conn.all(_SQL.forgotten_with, {"id": download_id})]


class ContentRefusals:
    """Has downloads fail for what they brought."""

    def __init__(self, grabber: Grabber, tasks: DownloadTasks) -> None:
        self._grabber = grabber
        self._tasks = tasks

    def refuse(self, conn: Connection, download_id: int, files: Sequence[str]) -> None:
        """Fail a completed download, and all with the same content, and take other releases of their episodes.

        What Kurabito added is deleted at its downloader with its files, so that programs are neither kept nor passed on. What its
        user added stays, and so does what a downloader has that does not tell whose it is.
        """
        lock_catalog(conn)
        ids = store.sharing(conn, download_id)
        is_ours = {owner for (owner,) in conn.all(_SQL.owners, given_ids(ids))} == {Owner.KURABITO}
        code = DownloadReason.UNSAFE_REMOVED if is_ours else DownloadReason.UNSAFE_FILES
        reason = because(code, files=list(files[:_MOST_FILES]))
        links = [link for (link,) in conn.all(_SQL.fail, {**given_ids(ids), "reason": reason.stored()})]
        if is_ours:
            self._tasks.clear(conn, attempts.request_cleanup(conn, ids, CleanupKind.DELETE_FILES))
        want_lacking(conn, ids)
        store.restate_episodes(conn, ids)
        self._grabber.take_next(conn, links)


class Wanting:
    """Gives episodes back, and takes the best release there is."""

    def __init__(self, database: Database, downloaders: Downloaders, grabber: Grabber) -> None:
        self._database = database
        self._downloaders = downloaders
        self._grabber = grabber

    async def want_again(self, episode_id: int, *, without: Collection[int] = ()) -> WantedAgain:
        """Want an episode again; raises EpisodeNotFound, DownloadConflict, or OutboundError when the downloader that has the
        release does not answer. `without` are links that are not to be taken again. What lies on the disk stays there.
        """

        def write(conn: Connection) -> Choice:
            lock_catalog(conn)
            _refuse_under_way(conn, episode_id)
            conn.run(_SQL.mark_unwanted, {"episode_id": episode_id, "is_unwanted": 0})
            give_back(conn, [one for (one,) in conn.all(_SQL.complete, {"episode_id": episode_id})], even_filed=True)
            conn.run(_SQL.want, given_ids([episode_id]))
            return _choice(conn, episode_id, without)

        choice = await self._database.write(write)
        await self._clear(choice.dispatch)

        def begin(conn: Connection) -> WantedAgain:
            lock_catalog(conn)
            chosen = _choice(conn, episode_id, without)
            self._grabber.carry_out(conn, chosen, DispatchCause.WANTED_AGAIN)
            begun = store.of_links(conn, chosen.dispatch)
            return WantedAgain(tuple(store.find(conn, one) for one, _ in begun.values()), bool(chosen.ask))

        return await self._database.write(begin)

    async def not_wanted(self, episode_id: int) -> None:
        """Want an episode no longer: nothing is searched or taken for it, and what its library has stays.

        Raises EpisodeNotFound, and DownloadConflict while it is being downloaded.
        """

        def write(conn: Connection) -> None:
            lock_catalog(conn)
            _refuse_under_way(conn, episode_id)
            conn.run(_SQL.mark_unwanted, {"episode_id": episode_id, "is_unwanted": 1})

        await self._database.write(write)

    async def mark_unwanted(self, episode_ids: Collection[int], *, is_unwanted: bool) -> list[int]:
        """Want several episodes no longer, or as before; those that changed. What is under way stays as it is."""
        values = {**given_ids(episode_ids), "is_unwanted": int(is_unwanted)}

        def write(conn: Connection) -> list[int]:
            lock_catalog(conn)
            return sorted(episode_id for (episode_id,) in conn.all(_SQL.mark_several, values))

        return await self._database.write(write)

    async def want_download_again(self, download_id: int, *, other_release: bool = False) -> WantedAgain:
        """Want the episode of a completed download again, as this release or only as another one."""
        found = await self._database.read(lambda conn: store.find(conn, download_id))
        if found.status is not Status.COMPLETED:
            raise DownloadConflict(f"download {download_id} is {found.status}; only what is complete is wanted again")
        if found.episode_id is None:
            raise DownloadConflict(f"download {download_id} names no episode that could be wanted; retry its link")
        return await self.want_again(found.episode_id, without=[found.link_id] if other_release else ())

    async def _clear(self, link_ids: Collection[int]) -> None:
        """Have downloaders forget what they had of these, so that they look at the disk when they get it again."""

        def look(conn: Connection) -> list[tuple[Service, str]]:
            there = conn.all(_SQL.still_there, given_ids(link_ids))
            return [(services.find(conn, module_id), hash_) for module_id, hash_ in there]

        for service, hash_ in await self._database.read(look):
            await self._downloaders.delete(service, hash_, delete_files=False)


def _refuse_under_way(conn: Connection, episode_id: int) -> None:
    state = conn.value(_SQL.state, {"episode_id": episode_id})
    if state is None:
        raise EpisodeNotFound(f"no episode has the id {episode_id}")
    if state == "downloading":
        raise DownloadConflict(f"episode {episode_id} is being downloaded already; cancel that first")


def _choice(conn: Connection, episode_id: int, without: Collection[int]) -> Choice:
    known = [one for (one,) in conn.all(_SQL.releases, {"episode_id": episode_id})]
    return choose_among(conn, [one for one in known if one not in without], waits=False)

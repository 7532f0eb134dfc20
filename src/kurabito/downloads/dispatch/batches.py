"""Batches: the downloads that one downloader is offered at once. Written before they are sent, settled by its answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kurabito.db import Connection
from kurabito.downloads.dispatch import attempts, outbox, private_torrents
from kurabito.downloads.dispatch import save_path as places
from kurabito.downloads.dispatch.attempts import DispatchRound
from kurabito.downloads.dispatch.outbox import DownloadRequest, Ending
from kurabito.downloads.dispatch.outcomes import AnswerOutcome, hash_of, outcome_of
from kurabito.downloads.dispatch.remote import OfferReply
from kurabito.downloads.dispatch.room import no_room
from kurabito.downloads.items import DownloadItem, DownloadItemResult, Owner
from kurabito.downloads.reasons import DownloadReason, because
from kurabito.downloads.states import CleanupKind, Outcome, Status
from kurabito.downloads.tasks import DownloadTasks
from kurabito.modules.services import Service
from kurabito.reasons import Reason


@dataclass(frozen=True, slots=True)
class Batch:
    """What is about to be sent to one downloader."""

    service: Service
    by_url: Mapping[str, Sequence[DownloadRequest]]
    items: Mapping[str, DownloadItem]
    no_room_for: Mapping[int, Reason[DownloadReason]]
    """Downloads for which there is no room, and why."""
    doubtful: Collection[int]
    """Downloads that may be there already."""
    unwanted: Collection[int]
    """Downloads that were cancelled meanwhile."""
    foreign: Collection[int]
    """Downloads that are there already, and not because of us."""

    @property
    def hashes(self) -> dict[str, str]:
        """What is offered and has a name already, by URL."""
        return {url: requests[0].hash for url, requests in self.by_url.items() if requests[0].hash is not None}


def prepare(
    conn: Connection, service: Service, requests: Sequence[DownloadRequest], root: Path, free: int | None
) -> Batch:
    """Write that these are about to be sent, but for what was cancelled meanwhile and what has no room.

    They go below `root`, where so many bytes are `free`; None is not known.
    """
    wanted = outbox.requests(conn, (request.id for request in requests))
    outbox.touch(conn, (request.id for request in wanted))
    by_url: dict[str, list[DownloadRequest]] = defaultdict(list)
    for request in wanted:
        by_url[request.url].append(request)
    torrents = private_torrents.contents(conn, (one.hash for one in wanted if one.hash is not None))
    items = {url: _item(root, service, of_url[0], torrents) for url, of_url in by_url.items()}
    earlier = attempts.begin(
        conn, service, [{"id": one.id, "hash": one.hash, "save_path": items[one.url].save_path} for one in wanted]
    )
    no_room_for: dict[int, Reason[DownloadReason]] = {}
    if free is not None:
        # What may be there already needs no room.
        new = {url: of_url for url, of_url in by_url.items() if of_url[0].id not in earlier.doubtful}
        no_room_for = _without_room(new, free - outbox.promised(conn))
    if no_room_for:
        unsent = [{"id": one, "outcome": Outcome.UNREACHABLE, "reason": why} for one, why in no_room_for.items()]
        attempts.record_answers(conn, service.id, unsent)
    roomy = {url: of_url for url, of_url in by_url.items() if of_url[0].id not in no_room_for}
    return Batch(
        service,
        by_url=roomy,
        items={url: items[url] for url in roomy},
        no_room_for=no_room_for,
        doubtful=earlier.doubtful,
        unwanted={one.id for one in requests} - {one.id for one in wanted},
        foreign=earlier.foreign,
    )


def note_foreign(conn: Connection, batch: Batch, there: Collection[str]) -> Batch:
    """Write, before anything is offered, what a downloader has that it was never asked for: that is its user's.

    For downloaders that do not tell. A crash afterwards cannot make it ours.
    """
    found = {
        request.id: request.hash
        for requests in batch.by_url.values()
        for request in requests
        if request.hash is not None and request.hash in there and request.id not in batch.doubtful
    }
    brought = attempts.ours(conn, batch.service.id, found) if found else set()
    foreign = {download_id for download_id, known in found.items() if known not in brought}
    if foreign:
        attempts.set_owners(conn, batch.service.id, dict.fromkeys(foreign, Owner.USER))
    return replace(batch, foreign={*batch.foreign, *foreign})


def settle(
    conn: Connection, tasks: DownloadTasks, batch: Batch, reply: OfferReply, rounds: Mapping[int, DispatchRound]
) -> set[int]:
    """Write what the downloader answered, also into the rounds; the downloads that need no other downloader."""
    service = batch.service
    name = service.registration.service_name
    accepted: list[dict[str, Any]] = []
    unnamed: list[Ending] = []
    answered: list[dict[str, Any]] = []
    for request, result, known in _outcomes(batch, reply):
        answer = reply.results.get(request.url)
        may_pass = answer is not None and answer.may_pass
        owner = _owner(batch, request, answer)
        facts = {"hash": known, "owner": owner, "may_pass": int(may_pass)}
        answered.append({"id": request.id, **result._asdict(), **facts})
        if result.outcome is not Outcome.ACCEPTED:
            rounds[request.id].note(service.id, name, result.outcome, result.reason, may_pass=may_pass)
        elif known is None:
            unnamed.append(Ending(request.id, Status.FAILED, because(DownloadReason.NO_HASH, downloader=name)))
        else:
            save_path = batch.items[request.url].save_path
            accepted.append(
                {"id": request.id, "hash": known, "module_id": service.id, "save_path": save_path, "owner": owner}
            )
    # What another link brought there lies where that one put it.
    held = outbox.held(conn, (row["hash"] for row in accepted))
    for row in accepted:
        if (first := held.get(row["hash"])) is not None and first["module_id"] == service.id:
            row["save_path"] = first["save_path"]
    taken = outbox.accept(conn, accepted) if accepted else set()
    attempts.look_elsewhere(conn, service.id, accepted)
    if unnamed:
        outbox.conclude(conn, unnamed)
    unwanted = {row["id"] for row in accepted} - taken
    attempts.record_answers(
        conn,
        service.id,
        [{**row, "cleanup": CleanupKind.CANCEL} if row["id"] in unwanted else row for row in answered],
    )
    if unwanted:
        tasks.clear(conn, [service.id])
    return taken | unwanted | {ending.id for ending in unnamed}


def _outcomes(batch: Batch, reply: OfferReply) -> Iterator[tuple[DownloadRequest, AnswerOutcome, str | None]]:
    """What became of each request, and what it is called there."""
    for url, requests in batch.by_url.items():
        answer = reply.results.get(url)
        result = outcome_of(answer, reply.problem)
        if requests[0].id in batch.doubtful and result.outcome in (Outcome.UNREACHABLE, Outcome.REJECTED):
            # That it cannot be asked now, or does not want more of it, does not tell what it got before.
            is_refused = result.outcome is Outcome.REJECTED
            result = AnswerOutcome(Outcome.REJECTED if is_refused else Outcome.UNCLEAR, result.reason, CleanupKind.LOOK)
        for request in requests:
            yield request, result, hash_of(request, answer)


def _owner(batch: Batch, request: DownloadRequest, answer: DownloadItemResult | None) -> Owner | None:
    """Whose it is: the downloader's word counts, else what was seen there before it was offered."""
    answered = answer.owner if answer is not None else None
    return answered or (Owner.USER if request.id in batch.foreign else None)


def _item(root: Path, service: Service, request: DownloadRequest, torrents: Mapping[str, bytes]) -> DownloadItem:
    place = places.save_path(root, service.path_maps, request.series, request.series_id, request.link_id)
    torrent = torrents.get(request.hash or "")
    return DownloadItem(request.url, place, request.seed_ratio, request.seed_minutes, torrent)


def _without_room(by_url: Mapping[str, Sequence[DownloadRequest]], left: int) -> dict[int, Reason[DownloadReason]]:
    """The downloads that do not fit any more when those before them are there. What has no known size is tried."""
    no_room_for: dict[int, Reason[DownloadReason]] = {}
    for requests in by_url.values():
        # The links of a batch say each how large all of it is.
        needed = max(request.size_bytes or 0 for request in requests)
        if needed > left:
            no_room_for |= {request.id: no_room(needed, left) for request in requests}
        else:
            left -= needed
    return no_room_for

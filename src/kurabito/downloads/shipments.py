"""Shipments: what goes to one downloader at once. Written before it is sent, settled with what the downloader said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from kurabito.db import Connection
from kurabito.downloads import attempts, places, rows
from kurabito.downloads.answers import ItemAnswer
from kurabito.downloads.attempts import Round
from kurabito.downloads.items import Owner
from kurabito.downloads.orders import Orders
from kurabito.downloads.room import no_room
from kurabito.downloads.rows import Ending, Parcel
from kurabito.downloads.states import Outcome, Owed, Status
from kurabito.downloads.verdicts import Verdict, hash_of, judge
from kurabito.downloads.wire import Heard, Item
from kurabito.modules.services import Service

NO_HASH: Final = "{} took it and did not say its hash"


@dataclass(frozen=True, slots=True)
class Shipment:
    """What is about to be sent to one downloader."""

    service: Service
    by_url: Mapping[str, Sequence[Parcel]]
    items: Mapping[str, Item]
    cramped: Mapping[int, str]
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
        return {url: parcels[0].hash for url, parcels in self.by_url.items() if parcels[0].hash is not None}


def prepare(conn: Connection, service: Service, parcels: Sequence[Parcel], root: Path, free: int | None) -> Shipment:
    """Write that these are about to be sent, but for what was cancelled meanwhile and what has no room.

    They go below `root`, where so many bytes are `free`; None is not known.
    """
    wanted = rows.parcels(conn, (parcel.id for parcel in parcels))
    rows.touch(conn, (parcel.id for parcel in wanted))
    by_url: dict[str, list[Parcel]] = defaultdict(list)
    for parcel in wanted:
        by_url[parcel.url].append(parcel)
    items = {url: Item(url, _place(root, service, of_url[0])) for url, of_url in by_url.items()}
    earlier = attempts.write(
        conn, service, [{"id": one.id, "hash": one.hash, "save_path": items[one.url].save_path} for one in wanted]
    )
    cramped: dict[int, str] = {}
    if free is not None:
        # What may be there already needs no room.
        new = {url: of_url for url, of_url in by_url.items() if of_url[0].id not in earlier.doubtful}
        cramped = _without_room(new, free - rows.promised(conn))
    if cramped:
        told = [{"id": one, "outcome": Outcome.UNREACHABLE, "reason": why} for one, why in cramped.items()]
        attempts.answer(conn, service.id, told)
    roomy = {url: of_url for url, of_url in by_url.items() if of_url[0].id not in cramped}
    return Shipment(
        service,
        by_url=roomy,
        items={url: items[url] for url in roomy},
        cramped=cramped,
        doubtful=earlier.doubtful,
        unwanted={one.id for one in parcels} - {one.id for one in wanted},
        foreign=earlier.foreign,
    )


def note_foreign(conn: Connection, shipment: Shipment, there: Collection[str]) -> Shipment:
    """Write, before anything is offered, what a downloader has that it was never asked for: that is its user's.

    For downloaders that do not tell. A crash afterwards cannot make it ours.
    """
    found = {
        parcel.id: parcel.hash
        for parcels in shipment.by_url.values()
        for parcel in parcels
        if parcel.hash is not None and parcel.hash in there and parcel.id not in shipment.doubtful
    }
    brought = attempts.ours(conn, shipment.service.id, found) if found else set()
    foreign = {download_id for download_id, known in found.items() if known not in brought}
    if foreign:
        attempts.own(conn, shipment.service.id, dict.fromkeys(foreign, Owner.USER))
    return replace(shipment, foreign={*shipment.foreign, *foreign})


def settle(conn: Connection, orders: Orders, shipment: Shipment, heard: Heard, rounds: Mapping[int, Round]) -> set[int]:
    """Write what the downloader said, also into the rounds; the downloads that need no other downloader."""
    service = shipment.service
    name = service.registration.service_name
    accepted: list[dict[str, Any]] = []
    unnamed: list[Ending] = []
    answered: list[dict[str, Any]] = []
    for parcel, verdict, known in _verdicts(shipment, heard):
        answer = heard.answers.get(parcel.url)
        may_pass = answer is not None and answer.may_pass
        owner = _owner(shipment, parcel, answer)
        told = {"hash": known, "owner": owner, "may_pass": int(may_pass)}
        answered.append({"id": parcel.id, **verdict._asdict(), **told})
        if verdict.outcome is not Outcome.ACCEPTED:
            rounds[parcel.id].note(service.id, name, verdict.outcome, verdict.reason, may_pass=may_pass)
        elif known is None:
            unnamed.append(Ending(parcel.id, Status.FAILED, NO_HASH.format(name)))
        else:
            save_path = shipment.items[parcel.url].save_path
            accepted.append(
                {"id": parcel.id, "hash": known, "module_id": service.id, "save_path": save_path, "owner": owner}
            )
    # What another link brought there lies where that one put it.
    held = rows.held(conn, (row["hash"] for row in accepted))
    for row in accepted:
        if (first := held.get(row["hash"])) is not None and first["module_id"] == service.id:
            row["save_path"] = first["save_path"]
    taken = rows.accept(conn, accepted) if accepted else set()
    attempts.doubt(conn, service.id, accepted)
    if unnamed:
        rows.conclude(conn, unnamed)
    unwanted = {row["id"] for row in accepted} - taken
    attempts.answer(
        conn,
        service.id,
        [{**row, "owed": Owed.CANCEL} if row["id"] in unwanted else row for row in answered],
    )
    if unwanted:
        orders.clear(conn, [service.id])
    return taken | unwanted | {ending.id for ending in unnamed}


def _verdicts(shipment: Shipment, heard: Heard) -> Iterator[tuple[Parcel, Verdict, str | None]]:
    """What became of each parcel, and what it is called there."""
    for url, parcels in shipment.by_url.items():
        answer = heard.answers.get(url)
        verdict = judge(answer, heard.problem)
        if parcels[0].id in shipment.doubtful and verdict.outcome in (Outcome.UNREACHABLE, Outcome.REJECTED):
            # That it cannot be asked now, or does not want more of it, does not tell what it got before.
            is_refused = verdict.outcome is Outcome.REJECTED
            verdict = Verdict(Outcome.REJECTED if is_refused else Outcome.UNCLEAR, verdict.reason, Owed.LOOK)
        for parcel in parcels:
            yield parcel, verdict, hash_of(parcel, answer)


def _owner(shipment: Shipment, parcel: Parcel, answer: ItemAnswer | None) -> Owner | None:
    """Whose it is: the downloader's word counts, else what was seen there before it was offered."""
    told = answer.owner if answer is not None else None
    return told or (Owner.USER if parcel.id in shipment.foreign else None)


def _place(root: Path, service: Service, parcel: Parcel) -> str:
    return places.save_path(root, service.path_maps, parcel.series, parcel.series_id, parcel.link_id)


def _without_room(by_url: Mapping[str, Sequence[Parcel]], left: int) -> dict[int, str]:
    """The downloads that do not fit any more when those before them are there. What has no known size is tried."""
    cramped: dict[int, str] = {}
    for parcels in by_url.values():
        # The links of a batch say each how large all of it is.
        needed = max(parcel.size_bytes or 0 for parcel in parcels)
        if needed > left:
            cramped |= {parcel.id: no_room(needed, left) for parcel in parcels}
        else:
            left -= needed
    return cramped

"""What was offered to which downloader, and what came of it. Written before anything is sent, so that no crash hides it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from kurabito.clock import optional_datetime, to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.rows import ColumnList
from kurabito.downloads.items import Owner
from kurabito.downloads.reasons import DownloadReason, said_by
from kurabito.downloads.states import CleanupKind, Outcome, Status
from kurabito.modules.services import Service
from kurabito.reasons import Reason, read_reason

_CLEANUP: Final = ColumnList(
    "attempt.id, attempt.hash, attempt.owed, attempt.download_id, download.status, link.url, attempt.save_path, "
    """EXISTS (SELECT 1 FROM downloads AS other
               WHERE other.hash = attempt.hash AND other.module_id = attempt.module_id
                   AND other.status IN ('downloading', 'completed', 'downloader_error')
                   AND other.forgotten_at IS NULL AND other.given_back_at IS NULL) AS is_kept, """
    "EXISTS (SELECT 1 FROM downloads AS other WHERE other.link_id = download.link_id AND other.status = 'pending') AS waits, "
    "attempt.missed_polls"
)
_SQL: Final = Queries("kurabito.downloads.dispatch", "attempts.sql", cleanup=_CLEANUP)

GOOD_POLLS: Final = 2
"""So many polls in a row have to agree that something is gone."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One line of a download's history."""

    module_id: int | None
    module_name: str
    outcome: Outcome
    reason: Reason[DownloadReason] | None
    sent_at: datetime
    answered_at: datetime | None


@dataclass(slots=True)
class DispatchRound:
    """What was tried for one download since it was queued."""

    unanswered: set[int] = field(default_factory=set)
    """Downloaders that may have got it before a crash."""
    refused: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Downloaders that refused it: their names and reasons, as a fact."""
    passing: set[int] = field(default_factory=set)
    """Those of them that may take it later."""
    missed: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Downloaders that gave no answer, or none that is clear."""

    def note(
        self,
        module_id: int,
        name: str,
        outcome: Outcome,
        reason: Reason[DownloadReason] | None,
        *,
        may_pass: bool = False,
    ) -> None:
        """Remember what came of offering it to one downloader."""
        why = said_by(name, reason, outcome)
        match outcome:
            case Outcome.SENT:
                self.unanswered.add(module_id)
            case Outcome.REJECTED:
                self.refused[module_id] = why
                if may_pass:
                    self.passing.add(module_id)
            case Outcome.UNREACHABLE | Outcome.UNCLEAR:
                self.missed[module_id] = why
            case Outcome.ACCEPTED:
                pass


class EarlierOffers(NamedTuple):
    """What is known of downloads that are offered to a downloader again."""

    doubtful: frozenset[int]
    """Those that it may have."""
    foreign: frozenset[int]
    """Those that it had before it was ever asked, so they are its user's."""


class PendingCleanup(NamedTuple):
    """Something to remove, or to look up, at a downloader."""

    attempt_id: int
    hash: str | None
    """None where only the downloader knows it."""
    kind: CleanupKind
    download_id: int
    status: Status
    """Of the download that the attempt was for."""
    url: str
    save_path: str | None
    is_kept: bool
    """Another download still has that content there."""
    waits: bool
    """A download of the same link is on its way."""
    missed_polls: int
    """How many polls in a row did not find it."""

    @property
    def is_due(self) -> bool:
        """Whether it is settled who gets the download, so that others can be cleared."""
        is_open = self.kind is CleanupKind.LOOK and self.status in (Status.PENDING, Status.NO_DOWNLOADER)
        return not self.waits and not is_open

    @property
    def is_refuted(self) -> bool:
        """Whether enough polls did not find it. One alone may have asked a program that was still reading its list."""
        return self.missed_polls >= GOOD_POLLS


def begin(conn: Connection, service: Service, rows: Sequence[Mapping[str, Any]]) -> EarlierOffers:
    """Say that these (`id`, `hash`, `save_path`) are about to be offered to a downloader; what is known of them there."""
    given = {"module_id": service.id, "module_name": service.registration.service_name}
    dropped = conn.all(_SQL.drop_unanswered, {**given, "rows": json.dumps(rows)})
    owners = {download_id: owner for download_id, _, owner in dropped}
    owned = json.dumps([{"owner": owners.get(row["id"]), **row} for row in rows])
    conn.run(_SQL.add, {**given, "rows": owned})
    return EarlierOffers(
        frozenset(download_id for download_id, outcome, _ in dropped if outcome != Outcome.UNREACHABLE),
        frozenset(download_id for download_id, owner in owners.items() if owner == Owner.USER),
    )


def ours(conn: Connection, module_id: int, hashes: Mapping[int, str]) -> set[str]:
    """Those of these downloads' hashes that a downloader has because of an attempt of another download."""
    rows = json.dumps([{"id": download_id, "hash": known} for download_id, known in hashes.items()])
    given = {"rows": rows, "module_id": module_id, "good_polls": GOOD_POLLS}
    return {known for (known,) in conn.all(_SQL.ours, given)}


def set_owners(conn: Connection, module_id: int, owners: Mapping[int, Owner]) -> None:
    """Say who added what a downloader has for these downloads."""
    rows = json.dumps([{"id": download_id, "owner": owner} for download_id, owner in owners.items()])
    conn.run(_SQL.set_owners, {"rows": rows, "module_id": module_id})


def record_answers(conn: Connection, module_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Say what came of it: `id`, `outcome`, `reason`, `cleanup`, `hash`, `owner` and `may_pass` of each."""
    stored = [{**row, "reason": _stored(row.get("reason"))} for row in rows]
    conn.run(_SQL.record_answers, {"rows": json.dumps(stored), "module_id": module_id})


def look_elsewhere(conn: Connection, module_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """A downloader took these (`id`, `hash`): have it looked up whether another has them too."""
    conn.run(_SQL.look_elsewhere, {"rows": json.dumps(rows), "module_id": module_id})


def rounds(conn: Connection, download_ids: Iterable[int]) -> dict[int, DispatchRound]:
    """What was tried for these since they were queued."""
    found: dict[int, DispatchRound] = defaultdict(DispatchRound)
    tried = conn.all(_SQL.in_round, given_ids(download_ids))
    for download_id, module_id, outcome, name, reason, may_pass in tried:
        why = read_reason(DownloadReason, reason)
        found[download_id].note(module_id, name, Outcome(outcome), why, may_pass=bool(may_pass))
    return found


def abandon(conn: Connection, download_ids: Iterable[int]) -> None:
    """Have it looked up what became of those that were sent before a crash and are wanted no longer."""
    conn.run(_SQL.abandon, given_ids(download_ids))


def abandon_old(conn: Connection, age: int) -> None:
    """The same for those that were sent so long ago that no task waits for an answer any more."""
    conn.run(_SQL.abandon_old, {"age": age})


def history(conn: Connection, download_id: int) -> list[Attempt]:
    """The attempts of a download, the first at the front."""
    return [
        Attempt(
            module_id,
            name,
            Outcome(outcome),
            read_reason(DownloadReason, reason),
            to_datetime(sent),
            optional_datetime(heard),
        )
        for module_id, name, outcome, reason, sent, heard in conn.all(_SQL.of_download, {"id": download_id})
    ]


def request_cleanup(conn: Connection, download_ids: Iterable[int], kind: CleanupKind) -> set[int]:
    """Have what downloaders have of these downloads cleaned up; the downloaders."""
    asked = conn.all(_SQL.request_cleanup, {**given_ids(download_ids), "kind": kind.value})
    return {module_id for (module_id,) in asked if module_id is not None}


def pending_cleanups(conn: Connection, module_id: int) -> list[PendingCleanup]:
    """The cleanups that are still to be done at a downloader."""
    return [
        PendingCleanup(
            row.id,
            row.hash,
            CleanupKind(row.owed),
            row.download_id,
            Status(row.status),
            row.url,
            row.save_path,
            bool(row.is_kept),
            bool(row.waits),
            row.missed_polls,
        )
        for row in map(_CLEANUP.row, conn.all(_SQL.pending_cleanups, {"module_id": module_id}))
    ]


def set_hashes(conn: Connection, hashes: Mapping[int, str]) -> None:
    """A downloader has what these attempts sent, and calls it so."""
    rows = [{"id": attempt_id, "hash": hash_} for attempt_id, hash_ in hashes.items()]
    conn.run(_SQL.set_hashes, {"rows": json.dumps(rows)})


def count_poll(conn: Connection, *, missed: Iterable[int], found: Iterable[int]) -> None:
    """A good poll did not find what these attempts may have left, and found what those did."""
    conn.run(_SQL.missed, given_ids(missed))
    conn.run(_SQL.found, given_ids(found))


def settle(conn: Connection, attempt_ids: Iterable[int]) -> None:
    """These are cleaned up."""
    conn.run(_SQL.settle, given_ids(attempt_ids))


def revive(conn: Connection, attempt_ids: Iterable[int]) -> None:
    """These were taken after all: the next dispatch asks that downloader first."""
    conn.run(_SQL.revive, given_ids(attempt_ids))


def given_ids(ids: Iterable[int]) -> dict[str, str]:
    """Ids as the rows that a statement is given: `given.value` is the id itself."""
    return {"rows": json.dumps(sorted(set(ids)))}


def _stored(reason: Reason[DownloadReason] | None) -> str | None:
    return None if reason is None else reason.stored()

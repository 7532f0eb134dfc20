"""Libraries: the folders that are kept, their files, and asking for a scan."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Self
from uuid import UUID

from fastapi import Path, Query
from pydantic import BaseModel, Field

from kurabito.api.bodies import ShortText, StrictBody
from kurabito.api.library.scan_tasks import ScanTaskAnswer
from kurabito.api.paging import PAGE_BEFORE, IdCursor, Limit, PageAnswer
from kurabito.library.files import LibraryFile
from kurabito.library.libraries import FILING_MODES, LibrarySettings
from kurabito.library.removal import LibraryRemoval
from kurabito.library.scans.queue import ScanQueueService, TaskPriority
from kurabito.library.service import LONGEST_INTERVAL, SHORTEST_INTERVAL, LibraryService
from kurabito.library.status import LibraryReport, LibraryReports, LibraryStatus
from kurabito.protocol.enums import HashAlgorithm, HashPolicy, LibraryIntake, LibraryUpgrades
from kurabito.protocol.leased.placements import PlacementMode
from kurabito.runtime.errors import TaskNotFound
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

LibraryId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the library's id")]
Interval = Annotated[
    float,
    Field(
        ge=SHORTEST_INTERVAL.total_seconds(),
        le=LONGEST_INTERVAL.total_seconds(),
        allow_inf_nan=False,
        description="seconds between automatic scans; null for none",
    ),
]
Pattern = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"^[^\x00]*$")]
Patterns = Annotated[
    list[Pattern], Field(max_length=200, description="names that a scan passes by, like `@eaDir` or `*.part`")
]
Algorithm = Annotated[HashAlgorithm, Field(strict=False)]
Policy = Annotated[
    HashPolicy, Field(strict=False, description="candidates: only files that may have a duplicate are read")
]

Intake = Annotated[LibraryIntake, Field(strict=False, description="what is filed into it")]
Upgrades = Annotated[
    LibraryUpgrades,
    Field(strict=False, description="which better releases take the place of files that were filed into it"),
]
FilingModes = Annotated[
    list[Annotated[PlacementMode, Field(strict=False)]],
    Field(
        min_length=1,
        max_length=len(FILING_MODES),
        description="how downloads come into it, the best first: link, reflink, copy; `link` alone never copies",
    ),
]
_NFO: Final = "write NFO files beside what is filed into it"
_POSTERS: Final = "write posters beside what is filed into it"
_MODES: Final = (PlacementMode.LINK, PlacementMode.COPY)


class LibraryOrder(StrictBody):
    """A folder to add."""

    name: ShortText
    path: Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^/[^\x00]*$")] = Field(
        description="an absolute path to a folder that is there", examples=["/srv/media"]
    )
    scan_interval: Interval | None = None
    watched: bool = Field(False, description="scan when something changes")
    algorithm: Algorithm = HashAlgorithm.BLAKE3
    hash_policy: Policy = HashPolicy.CANDIDATES
    ignored: Patterns = Field(default_factory=list)
    accepts: Intake = LibraryIntake.ANY
    placement_modes: FilingModes = Field(default_factory=lambda: list(_MODES))
    upgrades: Upgrades = LibraryUpgrades.SAME_GROUP
    writes_nfo: bool = Field(False, description=_NFO)
    writes_posters: bool = Field(False, description=_POSTERS)


class LibraryChange(StrictBody):
    """What is to change; what is not named stays."""

    # Made, not given: the documentation must not name values for what is left out.
    name: ShortText = Field(default_factory=str)
    scan_interval: Interval | None = None
    watched: bool = Field(default_factory=bool)
    algorithm: Algorithm = Field(default_factory=lambda: HashAlgorithm.BLAKE3)
    hash_policy: Policy = Field(default_factory=lambda: HashPolicy.CANDIDATES)
    ignored: Patterns = Field(default_factory=list)
    accepts: Intake = Field(default_factory=lambda: LibraryIntake.ANY)
    placement_modes: FilingModes = Field(default_factory=lambda: list(_MODES))
    upgrades: Upgrades = Field(default_factory=lambda: LibraryUpgrades.SAME_GROUP)
    writes_nfo: bool = Field(default_factory=bool, description=_NFO)
    writes_posters: bool = Field(default_factory=bool, description=_POSTERS)


class LibraryAnswer(BaseModel):
    """A library. Times are UTC."""

    id: int
    name: str
    path: str
    status: LibraryStatus = Field(description="what happens in it now, or what the last scan came to")
    scan_interval: float | None = Field(description="seconds between two scans")
    next_scan_at: datetime | None
    watched: bool
    algorithm: HashAlgorithm
    hash_policy: HashPolicy
    ignored: list[str]
    accepts: LibraryIntake
    placement_modes: list[PlacementMode]
    upgrades: LibraryUpgrades
    writes_nfo: bool
    writes_posters: bool
    file_count: int = Field(description="as of the last scan that came to its end")
    total_size_bytes: int = Field(description="as of the last scan that came to its end")
    created_at: datetime
    updated_at: datetime
    last_scanned_at: datetime | None
    removing_since: datetime | None = Field(description="since when it is being removed; then nothing is begun in it")

    @classmethod
    def of(cls, report: LibraryReport) -> Self:
        summary, library = report.summary, report.summary.library
        settings = library.settings
        return cls(
            id=library.id,
            name=settings.name,
            path=str(library.path),
            status=report.status,
            scan_interval=None if settings.scan_interval is None else settings.scan_interval.total_seconds(),
            next_scan_at=library.next_scan_at,
            watched=settings.watched,
            algorithm=settings.algorithm,
            hash_policy=settings.hash_policy,
            ignored=list(settings.ignored),
            accepts=settings.accepts,
            placement_modes=list(settings.placement_modes),
            upgrades=settings.upgrades,
            writes_nfo=settings.writes_nfo,
            writes_posters=settings.writes_posters,
            file_count=summary.file_count,
            total_size_bytes=summary.total_size_bytes,
            created_at=library.created_at,
            updated_at=library.updated_at,
            last_scanned_at=library.last_scanned_at,
            removing_since=library.removing_since,
        )


class FileAnswer(BaseModel):
    """A file as the last scan and hash knew it."""

    id: int
    relative_path: str
    size_bytes: int
    mtime_ns: int
    is_missing: bool = Field(description="the last scan did not see it")
    needs_hash: bool
    hash_algorithm: HashAlgorithm | None
    content_hash_hex: str | None
    error: str | None = Field(description="why it could not be read the last time")

    @classmethod
    def of(cls, file: LibraryFile) -> Self:
        return cls(
            id=file.id,
            relative_path=file.relative_path,
            size_bytes=file.size_bytes,
            mtime_ns=file.mtime_ns,
            is_missing=file.is_missing,
            needs_hash=file.needs_hash,
            hash_algorithm=file.hash_algorithm,
            content_hash_hex=None if file.content_hash is None else file.content_hash.hex(),
            error=file.error,
        )


class RemovalAccepted(BaseModel):
    """A removal that was asked for; one that is under way already is the answer to a second request."""

    task_id: UUID


class ScanAccepted(BaseModel):
    """A scan that was asked for; one that waits or runs already is the answer to a second request."""

    task_id: UUID
    task: ScanTaskAnswer


def router(
    libraries: LibraryService, removal: LibraryRemoval, scans: ScanQueueService, reports: LibraryReports
) -> Router:
    """The routes of the libraries."""
    routes = Router(prefix="/api/v1/libraries", tags=["libraries"])

    @routes.post("", status_code=201, responses=documented(409, *WITH_BODY))
    async def create_library(order: LibraryOrder) -> LibraryAnswer:
        """Add a folder as a library."""
        made = await libraries.create(order.path, LibrarySettings(**_named_settings(order)))
        return LibraryAnswer.of(await reports.one(made))

    @routes.get("", responses=documented(422))
    async def list_libraries(limit: Limit = 50, cursor: IdCursor = None) -> PageAnswer[LibraryAnswer]:
        """Libraries, a page at a time."""
        page = await libraries.list(limit=limit, cursor=cursor)
        return PageAnswer[LibraryAnswer](
            items=[LibraryAnswer.of(report) for report in await reports.of(page.items)], next_cursor=page.next_cursor
        )

    @routes.get("/{library_id}", responses=documented(404, 422))
    async def get_library(library_id: LibraryId) -> LibraryAnswer:
        """One library."""
        return LibraryAnswer.of(await reports.one(await libraries.get(library_id)))

    @routes.patch("/{library_id}", responses=documented(404, 409, *WITH_BODY))
    async def change_library(library_id: LibraryId, change: LibraryChange) -> LibraryAnswer:
        """Change how a library is looked after. Its folder stays: another folder is another library."""
        changed = await libraries.change(library_id, _named_settings(change))
        return LibraryAnswer.of(await reports.one(changed))

    @routes.delete("/{library_id}", status_code=202, responses=documented(404, 409, 422))
    async def remove_library(
        library_id: LibraryId,
        confirm: Annotated[bool, Query(description="remove it although something is in the way")] = False,
    ) -> RemovalAccepted:
        """Remove a library. What is known of it is forgotten, by a task; its files stay.

        409 with the code `library_in_use` while a scan or hash of it is under way, files of it are being deleted or put
        back, or some are in its trash; the message says which. With `confirm` the scan or hash is cancelled, the task waits
        until nothing is deleted or put back any more, and what is in the trash stays in the folder `.kurabito-trash`.
        """
        return RemovalAccepted(task_id=(await removal.begin(library_id, confirmed=confirm)).id)

    _contents(routes, libraries, scans)
    return routes


def _contents(routes: Router, libraries: LibraryService, scans: ScanQueueService) -> None:
    """The routes of what is in a library: its files, and the scans that find them."""

    @routes.get("/{library_id}/files", responses=documented(404, 422))
    async def list_library_files(
        library_id: LibraryId,
        missing: Annotated[
            bool | None, Query(description="only files that are missing, or only those that are not")
        ] = None,
        contains: Annotated[ShortText | None, Query(description="only paths with this text in them")] = None,
        limit: Limit = 100,
        cursor: Annotated[str | None, Query(max_length=20_000, description=PAGE_BEFORE)] = None,
    ) -> PageAnswer[FileAnswer]:
        """The files of a library, in the order of their paths, a page at a time."""
        page = await libraries.files(library_id, missing=missing, contains=contains, limit=limit, cursor=cursor)
        return PageAnswer[FileAnswer].of(page, FileAnswer.of)

    @routes.post("/{library_id}/scan", status_code=202, responses=documented(404, 409, 422))
    async def scan_library(library_id: LibraryId) -> ScanAccepted:
        """Request a scan. It goes before automatic ones, and runs as soon as its turn comes."""
        await libraries.get_staying(library_id)
        task_id = await scans.submit_task(library_id, TaskPriority.HIGH)
        task = await scans.get_task(task_id)
        assert task is not None
        return ScanAccepted(task_id=task_id, task=ScanTaskAnswer.of(task))

    @routes.get("/{library_id}/scan-task", responses=documented(404, 422))
    async def get_library_scan_task(library_id: LibraryId) -> ScanTaskAnswer:
        """The scan of this library that waits or runs; 404 when there is none."""
        await libraries.get(library_id)
        task = await scans.get_library_task(library_id)
        if task is None:
            raise TaskNotFound(f"no scan of library {library_id} waits or runs; ask for one")
        return ScanTaskAnswer.of(task)


def _named_settings(body: LibraryOrder | LibraryChange) -> dict[str, Any]:
    """The fields of `LibrarySettings` that a body names."""
    named = body.model_dump(exclude={"path"}, exclude_unset=True)
    if "scan_interval" in named and named["scan_interval"] is not None:
        named["scan_interval"] = timedelta(seconds=named["scan_interval"])
    for field in ("ignored", "placement_modes"):
        if field in named:
            named[field] = tuple(named[field])
    return named

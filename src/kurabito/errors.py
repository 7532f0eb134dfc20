"""Everything Kurabito raises on purpose.

    KurabitoError
    ├── InvalidInput            a value was refused; names the field        (also ValueError)
    │   └── PayloadTooLarge     a payload or result over the size limit
    ├── ConfigError             settings that cannot be used
    │   └── MissingExtra        a part of Kurabito that was not installed
    ├── StateInUse              another process has the state folder
    ├── DatabaseError
    │   ├── DatabaseUnavailable cannot be opened or reached
    │   │   └── EarlierDatabase one of the earlier system, not taken over yet
    │   ├── NotADatabase        the file is something else
    │   ├── DatabaseTooNew      written by a newer version of the program
    │   ├── MigrationChanged    an applied migration no longer matches its file
    │   ├── ForeignTables       another program's tables have the names of ours
    │   ├── RowsWouldBeLost     a migration was undone because rows would have gone
    │   └── UniqueConflict      another row has that unique value
    ├── TaskError
    │   ├── TaskNotFound        no task has that id                         (also LookupError)
    │   ├── TaskFinished        the task is over and cannot be cancelled
    │   ├── TaskConflict        the move is not possible in this state
    │   └── LeaseLost           the worker no longer owns the row
    ├── WorkerFailed            the worker cannot go on and has ended
    ├── AccessError
    │   ├── KeyNotFound         no API key has that id                      (also LookupError)
    │   ├── NotAuthenticated    neither a session nor a key that is good
    │   ├── GuessedTooOften     too many wrong keys came from there
    │   ├── ScopeMissing        known, and not allowed to do this
    │   ├── UnknownHost         the request is for a name that is not ours
    │   └── ForeignOrigin       a page of another site sent the request
    ├── LibraryError
    │   ├── LibraryNotFound     no library has that id                      (also LookupError)
    │   ├── FolderNotFound      no file is known in that folder             (also LookupError)
    │   ├── LibraryConflict     its name or folder is taken, or it is at work
    │   ├── LibraryInUse        something would be lost with it; asks for a confirmation
    │   ├── JobNotFound         no job has that id                          (also LookupError)
    │   └── JobConflict         the slot is taken, or the move is not possible in this state
    ├── DiskError
    │   ├── PathEscapes         a path that does not stay below its root    (also ValueError)
    │   └── RootUnavailable     the folder of a library cannot be read
    ├── DeletionError
    │   ├── PlanNotFound        no deletion plan has that id                (also LookupError)
    │   ├── PlanApplied         the plan was applied already
    │   ├── DeletionNotAllowed  the setting allow_delete is off
    │   ├── TrashNotFound       no entry of the trash has that id           (also LookupError)
    │   └── TrashConflict       the entry left the trash, or is about to
    ├── ThumbnailError
    │   ├── ThumbnailNotFound   no thumbnail has that key                   (also LookupError)
    │   ├── ThumbnailNotReady   it is not drawn yet, or could not be
    │   ├── FileNotKnown        no file has that id, or it is missing       (also LookupError)
    │   ├── NothingToDraw       the file is neither an image nor a video
    │   └── ThumbnailsFull      as many thumbnails wait as may
    ├── MaintenanceError
    │   ├── NoWal               only SQLite has a log to checkpoint
    │   ├── CheckpointNotAllowed the log may not be truncated here
    │   ├── CheckpointTooSoon   the last checkpoint has only just ended
    │   └── CheckpointNotFound  no checkpoint was asked for yet             (also LookupError)
    ├── FeedError
    │   ├── FeedUnreadable      what came is not a feed
    │   ├── FetcherRefused      the service that should read a feed did not take it
    │   ├── SubscriptionNotFound no subscription has that id                (also LookupError)
    │   └── SubscriptionConflict another subscription follows that URL
    ├── DownloadError
    │   ├── DownloadNotFound    no download has that id                     (also LookupError)
    │   ├── DownloadConflict    the move is not possible in this state
    │   ├── EpisodeNotFound     no episode has that id                      (also LookupError)
    │   ├── FilterRuleNotFound  no filter rule has that id                  (also LookupError)
    │   ├── ConflictNotFound    no conflict has that id                     (also LookupError)
    │   └── ConflictResolved    a release was chosen already
    ├── ModuleError
    │   ├── ModuleNotFound      no service has that id                      (also LookupError)
    │   ├── ModuleConflict      another instance has the name, and it answers
    │   └── KeyOfAnotherModule  a key speaks for one module, and a module has one key
    ├── CatalogError
    │   ├── SeriesNotFound      no series has that id                       (also LookupError)
    │   ├── SeriesConflict      another series has that name and season
    │   ├── TitleRuleNotFound   no title rule has that id                   (also LookupError)
    │   ├── TitleRuleConflict   another title rule has that name
    │   └── MatchNotFound       no folder that was matched has that id      (also LookupError)
    ├── DownloaderError
    │   ├── DownloaderUnavailable the program that downloads does not answer
    │   ├── DownloaderLoginRefused it does not know the name or the password
    │   └── TransferNotFound    the program has no download of that hash    (also LookupError)
    │       └── TransferNotOurs it has one, which its user added
    ├── OutboundError           something outside could not be fetched
    │   ├── UrlNotAllowed       neither http nor https, or not the URL of a host
    │   │   └── HostNotAllowed  the host is inside our own network and nobody allowed it
    │   ├── Unreachable         no connection
    │   │   └── ConnectionBroke there was one, and it broke
    │   ├── TimedOut            the answer took too long
    │   ├── TooLarge            the answer is larger than whoever asked can take
    │   ├── BadStatus           the answer is not one of success
    │   └── BadAnswer           the answer makes no sense
    ├── MetadataError
    │   ├── MetadataNotFound    no record has that id                       (also LookupError)
    │   ├── MetadataConflict    another record stands for the same entry of bgm.tv
    │   ├── MetadataStopped     what fills in metadata was told to stop
    │   ├── BgmtvError          bgm.tv did not say what was asked
    │   ├── TmdbError           TMDB did not say what was asked
    │   └── PosterError         a poster could not be had
    │       ├── PosterUnreachable  no answer, or one that broke
    │       ├── PosterNotStored    the disk refused it
    │       ├── PosterNameInvalid  not the name of a poster of ours         (also LookupError)
    │       ├── PosterBadStatus    the answer is not one of success
    │       └── PosterRefused      not taken: where it is, how large it is, or no picture
    ├── BodyTooSlow             the rest of a request did not come in time
    ├── BodyCutShort            the client left before all of a request had come
    └── PermanentError          raised by a handler: do not retry

Each message says what happened, to what, and what to do. `code` is stable and is what an interface translates;
`status` is how HTTP calls it, on the page and in the API alike.
"""

from __future__ import annotations

import math
from typing import ClassVar


class KurabitoError(Exception):
    """The root of every error that Kurabito raises on purpose."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500


class InvalidInput(KurabitoError, ValueError):
    """A value was refused before anything was written."""

    code = "invalid_input"
    status = 422

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem

    def __reduce__(self) -> tuple[type[InvalidInput], tuple[str, str]]:
        return type(self), (self.field, self.problem)


class PayloadTooLarge(InvalidInput):
    """A payload or a result is larger than the queue stores, or a request larger than is read."""

    code = "payload_too_large"
    status = 413


class ConfigError(KurabitoError):
    """A setting has a value that cannot be used."""

    code = "config"


class MissingExtra(ConfigError):
    """What was asked for needs packages that were not installed."""

    code = "missing_extra"

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed; run: pip install 'kurabito[{extra}]'")


class StateInUse(KurabitoError):
    """Another process has the state folder."""

    code = "state_in_use"


class DatabaseError(KurabitoError):
    """The database could not do what was asked."""

    code = "database"


class DatabaseUnavailable(DatabaseError):
    """The database cannot be opened or reached."""

    code = "database_unavailable"
    status = 503


class EarlierDatabase(DatabaseUnavailable):
    """The database is one of the earlier system, and was not taken over yet."""

    code = "earlier_database"


class NotADatabase(DatabaseError):
    """The file exists and is not a SQLite database."""

    code = "not_a_database"


class DatabaseTooNew(DatabaseError):
    """The database was migrated by a newer version of this program."""

    code = "database_too_new"


class MigrationChanged(DatabaseError):
    """A migration that was already applied differs from its file."""

    code = "migration_changed"


class ForeignTables(DatabaseError):
    """The database has tables of another program with the names that ours would get."""

    code = "foreign_tables"


class RowsWouldBeLost(DatabaseError):
    """A migration was undone, because rows would have gone that it was not to remove."""

    code = "rows_would_be_lost"


class UniqueConflict(DatabaseError):
    """Another row has the value that must be unique."""

    code = "unique_conflict"


class TaskError(KurabitoError):
    """A task could not be moved as asked."""

    code = "task"


class TaskNotFound(TaskError, LookupError):
    """No task has that id."""

    code = "task_not_found"
    status = 404


class TaskFinished(TaskError):
    """The task is over: there is nothing left to cancel."""

    code = "task_finished"
    status = 400


class TaskConflict(TaskError):
    """The task cannot make that move now."""

    code = "task_conflict"
    status = 409


class LeaseLost(TaskError):
    """The worker's lease was taken over or ended, so its write changed nothing."""

    code = "lease_lost"
    status = 409


class WorkerFailed(KurabitoError):
    """A worker cannot go on, and has ended: its tasks go to another."""

    code = "worker_failed"


class AccessError(KurabitoError):
    """Something about keys, passwords or sessions could not be done."""

    code = "access"


class KeyNotFound(AccessError, LookupError):
    """No API key has that id."""

    code = "key_not_found"
    status = 404


class NotAuthenticated(AccessError):
    """Whoever asks has neither a session nor a key that is good."""

    code = "not_authenticated"
    status = 401


class GuessedTooOften(AccessError):
    """Too many wrong keys came from one address."""

    code = "guessed_too_often"
    status = 429

    def __init__(self, seconds: float) -> None:
        self.seconds = math.ceil(seconds)
        super().__init__(
            f"too many wrong keys came from this address: try again in {self.seconds} s, with one that is good"
        )


class ScopeMissing(AccessError):
    """Whoever asks is known, and may not do this."""

    code = "scope_missing"
    status = 403


class UnknownHost(AccessError):
    """The request is for a name that is not ours."""

    code = "unknown_host"
    status = 421


class ForeignOrigin(AccessError):
    """A page of another site sent the request."""

    code = "foreign_origin"
    status = 403


class FeedError(KurabitoError):
    """Something about a feed that is followed could not be done."""

    code = "feed"


class FeedUnreadable(FeedError):
    """What came is not a feed."""

    code = "feed_unreadable"
    status = 502


class FetcherRefused(FeedError):
    """The service that should read a feed did not take it."""

    code = "fetcher_refused"
    status = 502


class SubscriptionNotFound(FeedError, LookupError):
    """No subscription has that id."""

    code = "subscription_not_found"
    status = 404


class SubscriptionConflict(FeedError):
    """Another subscription follows that URL."""

    code = "subscription_conflict"
    status = 409


class ModuleError(KurabitoError):
    """Something about registered services could not be done."""

    code = "module"


class ModuleNotFound(ModuleError, LookupError):
    """No service has that id."""

    code = "module_not_found"
    status = 404


class ModuleConflict(ModuleError):
    """Another instance has that name, and it answers."""

    code = "module_conflict"
    status = 409


class KeyOfAnotherModule(ModuleError):
    """A key speaks for the module that it registered first, and for that module no other key does."""

    code = "key_of_another_module"
    status = 403


class CatalogError(KurabitoError):
    """Something about series, or about how titles are read, could not be done."""

    code = "catalog"


class SeriesNotFound(CatalogError, LookupError):
    """No series has that id."""

    code = "series_not_found"
    status = 404


class SeriesConflict(CatalogError):
    """Another series has that name in that season."""

    code = "series_conflict"
    status = 409


class TitleRuleNotFound(CatalogError, LookupError):
    """No title rule has that id."""

    code = "title_rule_not_found"
    status = 404


class TitleRuleConflict(CatalogError):
    """Another title rule has that name."""

    code = "title_rule_conflict"
    status = 409


class MatchNotFound(CatalogError, LookupError):
    """No folder that was matched has that id."""

    code = "match_not_found"
    status = 404


class DownloaderError(KurabitoError):
    """Something about a program that downloads could not be done."""

    code = "downloader"
    status = 502


class DownloaderUnavailable(DownloaderError):
    """The program that downloads does not answer, or not as it should."""

    code = "downloader_unavailable"
    status = 503


class DownloaderLoginRefused(DownloaderError):
    """The program that downloads does not know the name or the password."""

    code = "downloader_login_refused"


class TransferNotFound(DownloaderError, LookupError):
    """The program that downloads has no download of that hash."""

    code = "transfer_not_found"
    status = 404


class TransferNotOurs(TransferNotFound):
    """The program has a download of that hash, and it was not Kurabito that added it."""

    code = "transfer_not_ours"

    def __init__(self, program: str, info_hash: str) -> None:
        super().__init__(
            f"{info_hash} is yours, because Kurabito did not add it to {program}: it is only watched; do this in {program}"
        )


class OutboundError(KurabitoError):
    """Something outside could not be fetched."""

    code = "outbound"
    status = 502


class UrlNotAllowed(OutboundError):
    """The URL is not one that is ever fetched: neither http nor https, or without a host."""

    code = "url_not_allowed"
    status = 422


class HostNotAllowed(UrlNotAllowed):
    """The host is inside our own network, and nobody said that this is meant."""

    code = "host_not_allowed"

    def __init__(self, message: str, host: str) -> None:
        super().__init__(message)
        self.host = host

    def __reduce__(self) -> tuple[type[HostNotAllowed], tuple[str, str]]:
        return type(self), (str(self), self.host)


class Unreachable(OutboundError):
    """There was no connection, or it broke."""

    code = "unreachable"


class ConnectionBroke(Unreachable):
    """There was a connection, and it broke: nobody knows whether the request was read."""


class TimedOut(OutboundError):
    """The answer took too long."""

    code = "timed_out"
    status = 504


class TooLarge(OutboundError):
    """The answer is larger than whoever asked can take."""

    code = "too_large"


class BadStatus(OutboundError):
    """The answer came, and is not one of success."""

    code = "bad_status"

    def __init__(self, message: str, answered: int, retry_after: float | None = None, content: bytes = b"") -> None:
        super().__init__(message)
        self.answered = answered
        """The status that was answered; `status` is how we say so to our own clients."""
        self.retry_after = retry_after
        """Seconds after which the host wants to be asked again, if it said so."""
        self.content = content
        """What the host said about it, where the request asked for that."""

    def __reduce__(self) -> tuple[type[BadStatus], tuple[str, int, float | None, bytes]]:
        return type(self), (str(self), self.answered, self.retry_after, self.content)


class BadAnswer(OutboundError):
    """The answer makes no sense: redirects without an end, broken compression, something else than JSON."""

    code = "bad_answer"


class MetadataError(KurabitoError):
    """Something about metadata could not be done."""

    code = "metadata"


class MetadataNotFound(MetadataError, LookupError):
    """No metadata record has that id."""

    code = "metadata_not_found"
    status = 404


class MetadataConflict(MetadataError):
    """Another record stands for the same entry of bgm.tv."""

    code = "metadata_conflict"
    status = 409


class MetadataStopped(MetadataError):
    """What fills in metadata was told to stop, and takes nothing more."""

    code = "metadata_stopped"
    status = 503


class BgmtvError(MetadataError):
    """bgm.tv did not say what was asked."""

    code = "bgmtv"
    status = 502


class TmdbError(MetadataError):
    """TMDB did not say what was asked."""

    code = "tmdb"
    status = 502


class PosterError(MetadataError):
    """A poster could not be had."""

    code = "poster"
    status = 502


class PosterUnreachable(PosterError):
    """There was no answer, or it broke, or it took too long."""

    code = "poster_unreachable"


class PosterNotStored(PosterError):
    """The disk refused it."""

    code = "poster_not_stored"
    status = 500

    def __init__(self, operation: str, path: str, problem: str) -> None:
        super().__init__(f"{path}: cannot {operation} the poster: {problem}; check the state folder and its disk")
        self.operation = operation
        self.path = path
        self.problem = problem

    def __reduce__(self) -> tuple[type[PosterNotStored], tuple[str, str, str]]:
        return type(self), (self.operation, self.path, self.problem)


class PosterNameInvalid(PosterError, LookupError):
    """This is not the name of a poster that is kept here."""

    code = "poster_not_found"
    status = 404


class PosterBadStatus(PosterError):
    """The answer came, and is not one of success."""

    code = "poster_bad_status"

    def __init__(self, message: str, answered: int) -> None:
        super().__init__(message)
        self.answered = answered

    def __reduce__(self) -> tuple[type[PosterBadStatus], tuple[str, int]]:
        return type(self), (str(self), self.answered)


class PosterRefused(PosterError):
    """It was not taken: its host is not allowed, it is too large, or it is no picture."""

    code = "poster_refused"


class BodyTooSlow(KurabitoError):
    """The rest of a request did not come in time."""

    code = "body_too_slow"
    status = 408


class BodyCutShort(KurabitoError):
    """The client left before the whole body of its request had arrived."""

    code = "body_cut_short"
    status = 400


class LibraryError(KurabitoError):
    """Something about libraries and the jobs that work on them could not be done."""

    code = "library"


class LibraryNotFound(LibraryError, LookupError):
    """No library has that id."""

    code = "library_not_found"
    status = 404


class FolderNotFound(LibraryError, LookupError):
    """No file is known in that folder of a library."""

    code = "folder_not_found"
    status = 404


class LibraryConflict(LibraryError):
    """Another library has that name or folder, or the library is at work."""

    code = "library_conflict"
    status = 409


class LibraryInUse(LibraryError):
    """Something is under way in a library, or would be lost with it: whoever wants it removed has to confirm that."""

    code = "library_in_use"
    status = 409


class JobNotFound(LibraryError, LookupError):
    """No job has that id."""

    code = "job_not_found"
    status = 404


class JobConflict(LibraryError):
    """Another job has the slot, or the job cannot make that move now."""

    code = "job_conflict"
    status = 409


class DiskError(KurabitoError):
    """Something about the files of a library."""

    code = "disk"


class PathEscapes(DiskError, ValueError):
    """A path that does not stay below its root."""

    code = "path_escapes"


class RootUnavailable(DiskError):
    """The folder of a library cannot be read."""

    code = "root_unavailable"


class DeletionError(KurabitoError):
    """Something about plans and the trash could not be done."""

    code = "deletion"


class PlanNotFound(DeletionError, LookupError):
    """No deletion plan has that id."""

    code = "plan_not_found"
    status = 404


class PlanApplied(DeletionError):
    """The plan was applied already; another one has to be made from what is there now."""

    code = "plan_applied"
    status = 409


class DeletionNotAllowed(DeletionError):
    """The setting `allow_delete` is off."""

    code = "deletion_not_allowed"
    status = 403


class TrashNotFound(DeletionError, LookupError):
    """No entry of the trash has that id."""

    code = "trash_not_found"
    status = 404


class TrashConflict(DeletionError):
    """The entry left the trash, or is about to."""

    code = "trash_conflict"
    status = 409


class DownloadError(KurabitoError):
    """Something about downloads and what is taken could not be done."""

    code = "download"


class DownloadNotFound(DownloadError, LookupError):
    """No download has that id."""

    code = "download_not_found"
    status = 404


class DownloadConflict(DownloadError):
    """The download cannot make that move now."""

    code = "download_conflict"
    status = 409


class EpisodeNotFound(DownloadError, LookupError):
    """No episode has that id."""

    code = "episode_not_found"
    status = 404


class FilterRuleNotFound(DownloadError, LookupError):
    """No filter rule has that id."""

    code = "filter_rule_not_found"
    status = 404


class ConflictNotFound(DownloadError, LookupError):
    """No conflict has that id."""

    code = "conflict_not_found"
    status = 404


class ConflictResolved(DownloadError):
    """A release was chosen for the episode already."""

    code = "conflict_resolved"
    status = 409


class ThumbnailError(KurabitoError):
    """Something about thumbnails could not be done."""

    code = "thumbnail"


class ThumbnailNotFound(ThumbnailError, LookupError):
    """No thumbnail has that key."""

    code = "thumbnail_not_found"
    status = 404


class ThumbnailNotReady(ThumbnailError):
    """The thumbnail is not drawn yet, or could not be."""

    code = "thumbnail_not_ready"
    status = 404


class FileNotKnown(ThumbnailError, LookupError):
    """No file has that id, or it is missing."""

    code = "file_not_found"
    status = 404


class NothingToDraw(ThumbnailError):
    """The file is neither an image nor a video."""

    code = "nothing_to_draw"
    status = 409


class ThumbnailsFull(ThumbnailError):
    """As many thumbnails wait as may."""

    code = "thumbnails_full"
    status = 429


class MaintenanceError(KurabitoError):
    """Something about looking after the database could not be done."""

    code = "maintenance"


class NoWal(MaintenanceError):
    """Only SQLite has a log to checkpoint."""

    code = "no_wal"
    status = 409


class CheckpointNotAllowed(MaintenanceError):
    """The setting `wal_truncate` is off."""

    code = "checkpoint_not_allowed"
    status = 409


class CheckpointTooSoon(MaintenanceError):
    """The last checkpoint has only just ended."""

    code = "checkpoint_too_soon"
    status = 429


class CheckpointNotFound(MaintenanceError, LookupError):
    """No checkpoint was asked for yet."""

    code = "checkpoint_not_found"
    status = 404


class PermanentError(KurabitoError):
    """Raise it in a handler when another attempt cannot help: the task is dead at once."""

    code = "permanent"

"""The errors of downloads, and of the programs that download."""

from __future__ import annotations

from kurabito.errors import KurabitoError, NotFound, StateConflict


class DownloaderError(KurabitoError):
    """Something about a program that downloads could not be done."""

    code = "downloader"


class DownloaderUnavailable(DownloaderError):
    """The program that downloads does not answer, or not as it should."""

    code = "downloader_unavailable"


class DownloaderLoginRefused(DownloaderError):
    """The program that downloads does not know the name or the password."""

    code = "downloader_login_refused"


class TransferNotFound(DownloaderError, NotFound):
    """The program that downloads has no download of that hash."""

    code = "transfer_not_found"


class TransferNotOurs(TransferNotFound):
    """The program has a download of that hash, and it was not Kurabito that added it."""

    code = "transfer_not_ours"

    def __init__(self, program: str, info_hash: str) -> None:
        super().__init__(
            f"{info_hash} is yours, because Kurabito did not add it to {program}: it is only watched; do this in {program}"
        )


class DownloadError(KurabitoError):
    """Something about downloads and what is taken could not be done."""

    code = "download"


class DownloadNotFound(DownloadError, NotFound):
    """No download has that id."""

    code = "download_not_found"


class BlockNotFound(DownloadError, NotFound):
    """No blocked release has that id."""

    code = "block_not_found"


class ProfileNotFound(DownloadError, NotFound):
    """No profile has that id."""

    code = "profile_not_found"


class SeriesEditNotFound(DownloadError, NotFound):
    """No edit of several series has that id, or it is forgotten."""

    code = "series_edit_not_found"


class SeriesEditUndone(DownloadError, StateConflict):
    """An edit of several series was undone before."""

    code = "series_edit_undone"


class ProfileConflict(DownloadError, StateConflict):
    """Another profile has that name."""

    code = "profile_conflict"


class NothingPasted(DownloadError):
    """What was pasted into the search leads to nothing that can be downloaded or followed."""

    code = "nothing_pasted"


class FoundReleaseNotFound(DownloadError, NotFound):
    """No search of late found that release."""

    code = "found_release_not_found"


class GrabRefused(DownloadError, StateConflict):
    """The release cannot be downloaded."""

    code = "grab_refused"


class DownloadConflict(DownloadError, StateConflict):
    """The download cannot make that move now."""

    code = "download_conflict"


class EpisodeNotFound(DownloadError, NotFound):
    """No episode has that id."""

    code = "episode_not_found"


class FilterRuleNotFound(DownloadError, NotFound):
    """No filter rule has that id."""

    code = "filter_rule_not_found"


class ConflictNotFound(DownloadError, NotFound):
    """No conflict has that id."""

    code = "conflict_not_found"


class ConflictResolved(DownloadError, StateConflict):
    """A release was chosen for the episode already."""

    code = "conflict_resolved"

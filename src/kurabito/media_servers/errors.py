"""The errors of telling media servers."""

from __future__ import annotations

from kurabito.errors import KurabitoError, NotFound, StateConflict


class MediaServerError(KurabitoError):
    """Something about a media server could not be done."""

    code = "media_server"


class MediaServerNotFound(MediaServerError, NotFound):
    """No media server has that id."""

    code = "media_server_not_found"


class MediaServerConflict(MediaServerError, StateConflict):
    """Another media server has that name."""

    code = "media_server_conflict"


class MediaServerRefused(MediaServerError):
    """A media server answered, and did not do what it was asked."""

    code = "media_server_refused"


class FolderUnknownThere(MediaServerError):
    """A folder is in no library of the media server."""

    code = "media_server_folder_unknown"

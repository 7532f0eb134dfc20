"""The errors of thumbnails."""

from __future__ import annotations

from kurabito.errors import KurabitoError, NotFound, StateConflict


class ThumbnailError(KurabitoError):
    """Something about thumbnails could not be done."""

    code = "thumbnail"


class ThumbnailNotFound(ThumbnailError, NotFound):
    """No thumbnail has that key."""

    code = "thumbnail_not_found"


class ThumbnailNotReady(ThumbnailError):
    """The thumbnail is not drawn yet, or could not be."""

    code = "thumbnail_not_ready"


class FileNotKnown(ThumbnailError, NotFound):
    """No file has that id, or it is missing."""

    code = "file_not_found"


class NothingToDraw(ThumbnailError, StateConflict):
    """The file is neither an image nor a video."""

    code = "nothing_to_draw"


class ThumbnailsFull(ThumbnailError):
    """As many thumbnails wait as may."""

    code = "thumbnails_full"

"""The errors of touching a library's files."""

from __future__ import annotations

from kurabito.errors import KurabitoError


class DiskError(KurabitoError):
    """Something about the files of a library."""

    code = "disk"


class PathEscapes(DiskError, ValueError):
    """A path that does not stay below its root."""

    code = "path_escapes"


class RootUnavailable(DiskError):
    """The folder of a library cannot be read."""

    code = "root_unavailable"


class PatternsUnreadable(DiskError):
    """The names that a library passes over are not written as a list of texts."""

    code = "patterns_unreadable"

"""Why a file does not come into its place, and whether the cause passes."""

from __future__ import annotations

import errno
from typing import Any, Final

from kurabito.dataplane.errors import DiskError
from kurabito.protocol.error_codes import ErrorCode

_PASSING: Final = frozenset(
    {
        ErrorCode.DISK_FULL,
        ErrorCode.READ_ONLY,
        ErrorCode.NOT_PERMITTED,
        ErrorCode.ROOT_UNAVAILABLE,
        ErrorCode.ROOT_EMPTY,
        ErrorCode.DISK_FAILURE,
    }
)
"""Causes that the keeper removes outside of Kurabito, which cannot notice that; so it tries again."""

_CODES: Final = {
    errno.ENOSPC: ErrorCode.DISK_FULL,
    errno.EDQUOT: ErrorCode.DISK_FULL,
    errno.EROFS: ErrorCode.READ_ONLY,
    errno.EACCES: ErrorCode.NOT_PERMITTED,
    errno.EPERM: ErrorCode.NOT_PERMITTED,
    errno.ENAMETOOLONG: ErrorCode.NAME_TOO_LONG,
    errno.EFBIG: ErrorCode.FILE_TOO_LARGE,
    # Each part of a path is opened as a folder, and no link is followed: here is a link, or a file.
    errno.ELOOP: ErrorCode.PATH_ESCAPES,
    errno.ENOTDIR: ErrorCode.PATH_ESCAPES,
}


class PlacementRefused(DiskError):
    """A file did not come into its place, and nothing was changed."""

    code = "placement_refused"

    def __init__(self, code: ErrorCode, **facts: Any) -> None:
        super().__init__(f"{code}: {', '.join(f'{name} {value}' for name, value in facts.items())}")
        self.error_code = code
        self.facts = facts

    @property
    def passes(self) -> bool:
        """Whether it may go well later."""
        return self.error_code in _PASSING


def refusal_of(problem: OSError, path: str) -> PlacementRefused:
    """What an error of the operating system means for what was done to a path."""
    code = _CODES.get(problem.errno or 0, ErrorCode.DISK_FAILURE)
    return PlacementRefused(code, path=path, problem=problem.strerror or str(problem))

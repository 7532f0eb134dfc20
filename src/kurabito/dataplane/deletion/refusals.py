"""What keeps a file where it is, as the refusal that is stored and told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kurabito.dataplane.errors import PathEscapes, RootUnavailable
from kurabito.dataplane.removal.file_refs import RemovalRefused
from kurabito.protocol.error_codes import ErrorCode


@contextmanager
def refusing(refuse: Callable[[RemovalRefused], None], disk: str) -> Iterator[None]:
    """Have every failure of a removal refused for what it is; `disk` says what the disk did not do."""
    try:
        yield
    except RemovalRefused as refused:
        refuse(refused)
    except RootUnavailable as problem:
        refuse(RemovalRefused(ErrorCode.ROOT_UNAVAILABLE, str(problem)))
    except PathEscapes as problem:
        refuse(RemovalRefused(ErrorCode.PATH_ESCAPES, str(problem)))
    except OSError as problem:
        refuse(RemovalRefused(ErrorCode.DISK_FAILURE, f"{disk}: {problem.strerror}"))

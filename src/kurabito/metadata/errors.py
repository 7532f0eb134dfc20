"""The errors of metadata and posters."""

from __future__ import annotations

from kurabito.errors import KurabitoError, NotFound, StateConflict
from kurabito.runtime import PermanentError


class MetadataError(KurabitoError):
    """Something about metadata could not be done."""

    code = "metadata"


class MetadataNotFound(MetadataError, NotFound):
    """No metadata record has that id."""

    code = "metadata_not_found"


class MetadataConflict(MetadataError, StateConflict):
    """Another record stands for the same entry of bgm.tv."""

    code = "metadata_conflict"


class MetadataStopped(MetadataError):
    """What fills in metadata was told to stop, and takes nothing more."""

    code = "metadata_stopped"


class BgmtvError(MetadataError):
    """bgm.tv did not say what was asked."""

    code = "bgmtv"


class TmdbError(MetadataError):
    """TMDB did not say what was asked."""

    code = "tmdb"

    def __init__(self, message: str, *, may_pass: bool = True) -> None:
        super().__init__(message)
        self.may_pass = may_pass
        """Whether the same request may succeed a moment later; not with a refused key, or when a long pause was asked for."""


class NothingAnswered(MetadataError, PermanentError):
    """A sync could ask none of the services that it needed."""

    code = "nothing_answered"


class IndexRefused(MetadataError, StateConflict):
    """An offline index was not imported, because it would replace a better one."""

    code = "index_refused"


class PosterError(MetadataError):
    """A poster could not be fetched."""

    code = "poster"


class PosterUnreachable(PosterError):
    """There was no answer, or it broke, or it took too long."""

    code = "poster_unreachable"


class PosterNotStored(PosterError):
    """The disk refused it."""

    code = "poster_not_stored"

    def __init__(self, operation: str, path: str, problem: str) -> None:
        super().__init__(f"{path}: cannot {operation} the poster: {problem}; check the state folder and its disk")
        self.operation = operation
        self.path = path
        self.problem = problem

    def __reduce__(self) -> tuple[type[PosterNotStored], tuple[str, str, str]]:
        return type(self), (self.operation, self.path, self.problem)


class PosterNameInvalid(PosterError, NotFound):
    """This is not the name of a poster that is kept here."""

    code = "poster_not_found"


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

"""The errors of libraries, their jobs, and deletion."""

from __future__ import annotations

from kurabito.errors import KurabitoError, NotFound, StateConflict


class LibraryError(KurabitoError):
    """Something about libraries and the jobs that work on them could not be done."""

    code = "library"


class LibraryNotFound(LibraryError, NotFound):
    """No library has that id."""

    code = "library_not_found"


class FolderNotFound(LibraryError, NotFound):
    """No file is known in that folder of a library."""

    code = "folder_not_found"


class LibraryConflict(LibraryError, StateConflict):
    """Another library has that name or folder, or the library is at work."""

    code = "library_conflict"


class LibraryInUse(LibraryError, StateConflict):
    """Something is under way in a library, or would be lost with it: its removal has to be confirmed."""

    code = "library_in_use"


class JobNotFound(LibraryError, NotFound):
    """No job has that id."""

    code = "job_not_found"


class JobConflict(LibraryError, StateConflict):
    """Another job has the slot, or the job cannot make that move now."""

    code = "job_conflict"


class DeletionError(KurabitoError):
    """Something about plans and the trash could not be done."""

    code = "deletion"


class PlanNotFound(DeletionError, NotFound):
    """No deletion plan has that id."""

    code = "plan_not_found"


class PlanApplied(DeletionError, StateConflict):
    """The plan was applied already; a new one has to be made from the present files."""

    code = "plan_applied"


class DeletionNotAllowed(DeletionError):
    """The setting `allow_delete` is off."""

    code = "deletion_not_allowed"


class TrashNotFound(DeletionError, NotFound):
    """No entry of the trash has that id."""

    code = "trash_not_found"


class TrashConflict(DeletionError, StateConflict):
    """The entry left the trash, or is about to."""

    code = "trash_conflict"

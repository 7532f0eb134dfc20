"""The errors of registered services."""

from __future__ import annotations

from kurabito.errors import KurabitoError, NotFound, StateConflict


class ModuleError(KurabitoError):
    """Something about registered services could not be done."""

    code = "module"


class ModuleNotFound(ModuleError, NotFound):
    """No service has that id."""

    code = "module_not_found"


class ModuleConflict(ModuleError, StateConflict):
    """Another instance has that name, and it answers."""

    code = "module_conflict"


class KeyOfAnotherModule(ModuleError):
    """A key speaks for the module that it registered first, and for that module no other key does."""

    code = "key_of_another_module"

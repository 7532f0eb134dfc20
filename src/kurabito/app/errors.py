"""The errors of starting the program."""

from __future__ import annotations

from kurabito.errors import KurabitoError


class StateInUse(KurabitoError):
    """Another process has the state folder."""

    code = "state_in_use"

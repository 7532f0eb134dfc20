"""How often one may try a password or a key: a few times freely, then slower and slower."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Final

from kurabito.clock import SECOND, Clock, SystemClock

_FREE: Final = 5
_LONGEST_WAIT: Final = 300 * SECOND
_FORGOTTEN_AFTER: Final = 3600 * SECOND
_REMEMBERED: Final = 10_000
# Guessing from many addresses at once slows down every login, but no session and no key.
_PER_MINUTE: Final = 100


class LoginLimit:
    """Counts failures by address, in memory: a restart forgives, and no table grows. Passwords and keys have one each."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._failures: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._lately: deque[int] = deque(maxlen=_PER_MINUTE)

    def wait(self, address: str) -> float:
        """Seconds until this address may try again; 0 when it may now."""
        now = self._clock.now()
        until = 0
        if len(self._lately) == _PER_MINUTE:
            until = self._lately[0] + 60 * SECOND
        count, last = self._failures.get(address, (0, 0))
        if count >= _FREE:
            until = max(until, last + min(_LONGEST_WAIT, SECOND << min(count - _FREE, 20)))
        return max(0, until - now) / SECOND

    def failed(self, address: str) -> None:
        """A wrong password or key came from this address."""
        now = self._clock.now()
        count, last = self._failures.pop(address, (0, now))
        self._failures[address] = (1 if last < now - _FORGOTTEN_AFTER else count + 1, now)
        self._lately.append(now)
        if len(self._failures) > _REMEMBERED:
            self._failures.popitem(last=False)

    def succeeded(self, address: str) -> None:
        """A login from this address succeeded."""
        self._failures.pop(address, None)

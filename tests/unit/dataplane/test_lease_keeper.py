"""The thread that renews leases goes on whatever one renewal raises: the rows that come next are renewed by it as well."""

from __future__ import annotations

import threading

from tests.support.waiting import PATIENCE

from kurabito.dataplane.leasing.leased_row import LeaseKeeper


def test_a_fault_in_one_renewal_does_not_end_the_others() -> None:
    renewed, tries = threading.Event(), []

    def beat() -> bool:
        tries.append(1)
        if len(tries) == 1:
            raise ProcessLookupError("what it interrupts is gone")
        renewed.set()
        return True

    with LeaseKeeper(0.01) as keeper:
        keeper.keep(beat)
        assert renewed.wait(min(PATIENCE, 20))


def test_a_lease_that_is_lost_is_not_renewed_any_more() -> None:
    tries: list[int] = []
    lost = threading.Event()

    def beat() -> bool:
        tries.append(1)
        lost.set()
        return False

    with LeaseKeeper(0.01) as keeper:
        keeper.keep(beat)
        assert lost.wait(PATIENCE)
        threading.Event().wait(0.05)
    assert len(tries) == 1

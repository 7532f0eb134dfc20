"""One limit for everybody who reads, kept by the database."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import SECOND
from kurabito.dataplane.io_limit import IoLimit

if TYPE_CHECKING:
    from tests.integration.dataplane.thumbs.conftest import Gallery

# Reserves ten seconds of reading together with the others, and says when each read begins.
PROGRAM = """
import json, random, sys
from kurabito.clock import ManualClock
from kurabito.dataplane.io_limit import IoLimit
from kurabito.db import open_database
from kurabito.protocol.rights import DATA_PLANE
url, seed, rate = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
database = open_database(url, create=False, rights=DATA_PLANE, clock=ManualClock())
database.open()
limit, sizes = IoLimit(database, rate), random.Random(seed)
read, begins = [], 0.0
while begins < 10:
    size = sizes.choice((3, 700, 20_000, 200_000))
    # The clock stands still, so a wait is when the read begins; one too small to wait follows the one before it.
    begins = max(begins, limit.reserve(size))
    read.append((begins, size))
print(json.dumps(read))
database.close()
"""


def test_two_processes_together_keep_to_the_limit(gallery: Gallery, url: str) -> None:
    rate = 10_000_000
    processes = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, url, str(seed), str(rate)], stdout=subprocess.PIPE, text=True)
        for seed in (1, 2)
    ]
    read = []
    for process in processes:
        output, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        read.append(json.loads(output))
    assert all(sum(size for _, size in one) > 0 for one in read)
    both = [begins_and_size for one in read for begins_and_size in one]
    for second in range(10):
        within = sum(size for begins, size in both if second <= begins < second + 1)
        assert within == pytest.approx(rate, rel=0.05)


def test_who_comes_late_pays_for_itself_only(gallery: Gallery) -> None:
    limit = IoLimit(gallery.plane, 1000)
    assert limit.reserve(2000) == 0
    assert limit.reserve(500) == 2
    assert IoLimit(gallery.plane, 1000).reserve(500) == 2.5
    gallery.clock.advance(100)
    # Nobody saves up what was not used.
    assert limit.reserve(1000) == 0
    assert limit.reserve(1000) == 1
    assert gallery.ask("SELECT bucket_key, next_available_at_ms, updated_at FROM io_rate_limits") == [
        ("thumbnail_io_global", (gallery.clock.now() + 2 * SECOND) // 1000, gallery.clock.now())
    ]


def test_what_is_too_small_to_count_is_counted_with_the_next(gallery: Gallery) -> None:
    limit = IoLimit(gallery.plane, 1_000_000)
    waits = [limit.reserve(300) for _ in range(100)]
    assert waits[-1] == pytest.approx(0.029, abs=0.001)

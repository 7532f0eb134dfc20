"""Our own data plane with one fault: `python broken_plane.py "never recovers"`. The kit has to name the rule that it breaks."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.conformance.planes.faults import FAULTS

from kurabito.cli import main

FAULTS[sys.argv[1]].cause()
sys.argv[1:] = ["dataplane"]
main()

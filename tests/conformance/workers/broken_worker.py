"""The example of an external worker with one fault: `python broken_worker.py "forgets the result"`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))
sys.path.insert(0, str(Path(__file__).parents[3] / "examples"))

from tests.conformance.workers.faults import FAULTS

agent_worker = import_module("agent_worker")
FAULTS[sys.argv[1]].cause(agent_worker)
sys.argv[1:] = ["work"]
agent_worker.main()

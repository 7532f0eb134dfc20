"""Run the benchmarks, all or those named, and print a table ready for RESULTS.md.

python benchmarks/run.py
python benchmarks/run.py drain_sqlite latency --rounds 5
python benchmarks/run.py claim_at_scale --quick --ours
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import harness
from harness import Options, Outcome

PROGRAMS: Final = (
    "floors",
    "drain_memory",
    "drain_sqlite",
    "drain_postgres",
    "enqueue_postgres",
    "latency",
    "claim_at_scale",
    "counts_at_scale",
    "page_at_scale",
    "duplicates_page",
    "idle_serve",
    "scan_tree",
    "api_latency",
    "dedupe",
    "hash_files",
    "titles",
    "fetcher_results",
    "metadata_sync",
    "offline_ids",
    "dispatch",
    "poll",
    "filter_preview",
    "embedded",
)
RESULTS: Final = Path(__file__).parent / "RESULTS.md"


def main() -> None:
    """Run what the command line asks for; exits with 1 when a target was missed."""
    harness.end_in_good_order()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help=f"one or more of {', '.join(PROGRAMS)} (default all)")
    parser.add_argument("--write", action="store_true", help=f"put the table into {RESULTS.name}")
    harness.add_arguments(parser)
    arguments = parser.parse_args()
    names: list[str] = arguments.names or list(PROGRAMS)
    if unknown := set(names) - set(PROGRAMS):
        parser.error(f"no benchmark is named {', '.join(sorted(unknown))}; there are {', '.join(PROGRAMS)}")
    options = harness.options_from(arguments)
    report = _report(arguments.names, options, {name: _run(name, options) for name in names})
    print(f"\n{report}")
    if arguments.write:
        RESULTS.write_text(report, encoding="utf-8")
    if "**FAIL**" in report:
        sys.exit(1)


def _run(name: str, options: Options) -> Outcome:
    print(f"{name}: {(importlib.import_module(name).__doc__ or '').splitlines()[0]}", flush=True)
    began = time.monotonic()
    outcome: Outcome = importlib.import_module(name).run(options)
    print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    return outcome


def _report(named: list[str], options: Options, outcomes: dict[str, Outcome]) -> str:
    rows = [row for outcome in outcomes.values() for row in outcome.rows]
    notes = [
        f"### {name}\n\n" + "\n".join(f"- {note}" for note in dict.fromkeys(outcome.notes))
        for name, outcome in outcomes.items()
        if outcome.notes
    ]
    how = (
        f"Measured {datetime.now(UTC):%Y-%m-%d} on {harness.environment()}. Each side ran at least "
        f"{options.rounds} times, in turn with the others; the numbers are medians."
    )
    repeat = f"Repeat with `{harness.repeat_command(named, options)}`."
    parts = ["# Results", how, repeat, harness.table(rows), "## Settings and details", *notes]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    main()

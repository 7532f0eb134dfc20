"""Run the benchmarks, all or those named, and print what they found as RESULTS.md has it.

python benchmarks/run.py
python benchmarks/run.py drain_sqlite latency --rounds 5
python benchmarks/run.py claim_at_scale --quick --ours
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path
from typing import Final

import harness
import results
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
    "collection_pages",
    "duplicates_page",
    "idle_serve",
    "scan_tree",
    "api_latency",
    "dedupe",
    "hash_files",
    "guards",
    "thumbnails",
    "titles",
    "fetcher_results",
    "metadata_sync",
    "offline_ids",
    "dump_import",
    "dispatch",
    "poll",
    "filter_preview",
    "relink",
    "plans",
    "placing",
    "embedded",
)
RESULTS: Final = Path(__file__).parent / "RESULTS.md"


def main() -> None:
    """Run what the command line asks for; exits with 1 when a target was missed."""
    harness.end_in_good_order()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help=f"one or more of {', '.join(PROGRAMS)} (default all)")
    parser.add_argument(
        "--write",
        action="store_true",
        help=f"put it into {RESULTS.name}, in place of what was there of the same benchmarks",
    )
    harness.add_arguments(parser)
    arguments = parser.parse_args()
    names: list[str] = arguments.names or list(PROGRAMS)
    if unknown := set(names) - set(PROGRAMS):
        parser.error(f"no benchmark is named {', '.join(sorted(unknown))}; there are {', '.join(PROGRAMS)}")
    options = harness.options_from(arguments)
    sections = {name: results.section(name, _run(name, options), options) for name in names}
    report = results.joined(sections, PROGRAMS)
    print(f"\n{report}")
    if arguments.write:
        old = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
        RESULTS.write_text(results.joined(sections, PROGRAMS, old), encoding="utf-8")
    if "**FAIL**" in report:
        sys.exit(1)


def _run(name: str, options: Options) -> Outcome:
    print(f"{name}: {(importlib.import_module(name).__doc__ or '').splitlines()[0]}", flush=True)
    began = time.monotonic()
    outcome: Outcome = importlib.import_module(name).run(options)
    print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    return outcome


if __name__ == "__main__":
    main()

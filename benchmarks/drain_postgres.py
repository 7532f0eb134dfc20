"""PostgreSQL: drain no-op tasks with two worker processes until every row is settled."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import contenders
import drain
import postgres
from contenders import Contender
from floors import postgres_claim_and_finish
from harness import Options, Outcome, Side, Target, against_floor, compare, interleave, run_alone, settings_of

WORKERS = 2


def run(options: Options) -> Outcome:
    """Compare with pgqueuer, with procrastinate, and with the floor."""
    many, few = options.size(100_000, quick=500), options.size(5_000, quick=100)
    with postgres.server() as server_url:
        # The floor takes its turn in every round too: it is compared with numbers of the same moment.
        floor_side = Side("floor", "", lambda: {"tasks/s": postgres_claim_and_finish(server_url, many, WORKERS)})
        *against_pgqueuer, floor = interleave(
            [*_sides(server_url, contenders.PGQUEUER, many, options), floor_side], options
        )
        # procrastinate takes minutes for a hundred thousand, so both sides drain fewer.
        against_procrastinate = interleave(_sides(server_url, contenders.PROCRASTINATE, few, options), options)
    workload = "PostgreSQL, drain {:,}, 2 processes"
    first = compare(workload.format(many), against_pgqueuer, "tasks/s", "/s", Target(1.0, aim=1.5), options)
    below = against_floor(against_pgqueuer[0], floor, "-")
    second = compare(workload.format(few), against_procrastinate, "tasks/s", "/s", Target(20), options)
    return Outcome([first, below, second], settings_of([*against_pgqueuer, *against_procrastinate[1:]]))


def _sides(server_url: str, peer: Contender, tasks: int, options: Options) -> list[Side]:
    def drained_by(contender: Contender) -> Mapping[str, float]:
        with postgres.fresh_database(server_url) as url:
            return drain.measure(contender, url, tasks, WORKERS, prepare=postgres.settle_down)

    return [
        Side(each.name, each.settings, partial(drained_by, each), each.ours)
        for each in (contenders.OURS, peer)
        if each.ours or not options.ours_only
    ]


if __name__ == "__main__":
    run_alone("drain_postgres", run)

"""What the control plane has to do is not for a data plane to keep: for each of these rules tests of its own are named."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from kurabito.protocol.rules import rules

TESTS = Path(__file__).parents[2]
LOOKED_AT = {
    "CTRL-1": (
        "conformance/scan_queue/test_reconcile.py",
        "test_a_lost_worker_does_not_end_the_scan_and_the_third_does",
    ),
    "CTRL-2": ("conformance/scan_queue/test_reconcile.py", "test_a_hash_makes_way_for_a_scan_that_somebody_asked_for"),
    "CTRL-3": (
        "integration/library/test_planes_not_believed.py",
        "test_the_session_of_a_cancelled_scan_is_ended_by_the_control_plane",
    ),
    "CTRL-4": (
        "integration/library/test_planes_not_believed.py",
        "test_two_hashes_that_settle_nothing_end_their_task",
    ),
    "CTRL-5": ("integration/library/test_planes_not_believed.py", "test_files_of_another_algorithm_are_hashed_again"),
    "CTRL-6": (
        "integration/library/test_deletion_rules.py",
        "test_what_lies_in_a_trash_is_neither_kept_nor_removed",
    ),
    "CTRL-7": (
        "integration/thumbnails/test_admission.py",
        "test_a_failed_one_is_tried_again_when_it_is_asked_for_after_its_time",
    ),
    "CTRL-8": (
        "integration/thumbnails/test_admission.py",
        "test_no_more_are_admitted_by_many_who_ask_at_the_same_moment",
    ),
    "CTRL-9": ("integration/protocol/test_groups.py", "test_the_summary_is_what_counting_gives"),
}


def test_every_rule_of_the_control_plane_is_looked_at() -> None:
    assert list(LOOKED_AT) == [rule for rule in rules() if rule.startswith("CTRL-")]


@pytest.mark.parametrize("rule", LOOKED_AT)
def test_a_test_that_is_named_is_there(rule: str) -> None:
    path, name = LOOKED_AT[rule]
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    assert name in {function.name for function in functions}

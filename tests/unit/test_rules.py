"""The rules of the protocol are data: each has one number that stays, and every number that is named is one of them."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.external import WORKERS
from kurabito.protocol.rulebook import ProtocolRule, RuleBook
from kurabito.protocol.rules import PLANES, SECTIONS, rules, section

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"\b([A-Z]{2,}-[1-9][0-9]*)\b")
# What looks like a number of a rule and is none.
OTHERS = {"UTF-8", "UTF-16"}
NAMED_IN = (
    *(f"src/kurabito/protocol/rules/{name}.md" for name in SECTIONS),
    "docs/protocol.md",
    "docs/how-to/write-a-data-plane.md",
    "examples/foreign_worker.py",
    "examples/plane-node/README.md",
    *(f"examples/plane-node/{path.name}" for path in sorted((ROOT / "examples/plane-node").glob("*.js"))),
    "src/kurabito/db/migrations/sqlite/product/0180_protocol_version.sql",
    "src/kurabito/db/migrations/sqlite/product/0181_guards.sql",
    "src/kurabito/db/migrations/postgres/product/0180_protocol_version.sql",
    "src/kurabito/db/migrations/postgres/product/0181_guards.sql",
)
FOR_WORKERS = (
    "docs/worker-protocol.md",
    "docs/how-to/external-workers.md",
    "examples/agent_worker.py",
)


@pytest.mark.parametrize("name", NAMED_IN)
def test_every_number_that_is_named_is_that_of_a_rule(name: str) -> None:
    named = set(NUMBER.findall((ROOT / name).read_text(encoding="utf-8"))) - OTHERS
    assert named - rules().keys() == set()


@pytest.mark.parametrize("name", FOR_WORKERS)
def test_every_number_that_is_named_for_workers_is_that_of_a_rule(name: str) -> None:
    named = set(NUMBER.findall((ROOT / name).read_text(encoding="utf-8"))) - OTHERS
    assert named
    assert named - WORKERS.rules.keys() == set()


def test_no_number_is_in_two_contracts() -> None:
    def families(book: RuleBook) -> set[str]:
        return {number.partition("-")[0] for number in book.rules}

    assert families(PLANES) & families(WORKERS) == set()


@pytest.mark.parametrize("book", [PLANES, WORKERS], ids=lambda book: book.title)
def test_numbers_follow_each_other_in_each_family(book: RuleBook) -> None:
    families: dict[str, list[int]] = {}
    for number in book.rules:
        family, _, place = number.partition("-")
        families.setdefault(family, []).append(int(place))
    assert families
    assert {family: places for family, places in families.items() if places != list(range(1, len(places) + 1))} == {}


def test_a_rule_is_one_line_with_its_level_and_its_values() -> None:
    rule = rules()["HASH-4"]
    assert (rule.level, rule.section) == ("MUST", "hash")
    assert rule.text.startswith("The sample of a file MUST be the BLAKE3 digest, 32 bytes, of its first 4096 bytes")
    assert "\n" not in rule.text
    assert rules()["PLANE-1"].level == "MUST NOT"
    assert all(isinstance(one, ProtocolRule) for one in rules().values())


@pytest.mark.parametrize("book", [PLANES, WORKERS], ids=lambda book: book.title)
def test_no_section_is_left_out_and_no_value_is_left_open(book: RuleBook) -> None:
    there = {file.name for file in files(book.package).iterdir() if file.name.endswith(".md")}
    assert there == {f"{name}.md" for name in book.sections}
    assert [name for name in book.sections if "{{" in book.section(name)] == []


def test_every_error_code_that_a_plane_writes_is_in_a_rule() -> None:
    told = " ".join(section(name) for name in SECTIONS)
    # What is left is written by a migration.
    assert {code.value for code in ErrorCode if f"`{code}`" not in told} == {"SUPERSEDED"}

"""The rules of the protocol are data: each has one number that stays, and every number that is named is one of them."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from kurabito.protocol import rules as module
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.rules import SECTIONS, ProtocolRule, rules, section

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"\b([A-Z]{2,}-[1-9][0-9]*)\b")
# What looks like a number of a rule and is none.
OTHERS = {"UTF-8", "UTF-16"}
NAMED_IN = (
    *(f"src/kurabito/protocol/rules/{name}.md" for name in SECTIONS),
    "docs/protocol.md",
    "docs/how-to/write-a-data-plane.md",
    "examples/foreign_worker.py",
    "src/kurabito/db/migrations/sqlite/product/0180_protocol_version.sql",
    "src/kurabito/db/migrations/sqlite/product/0181_guards.sql",
    "src/kurabito/db/migrations/postgres/product/0180_protocol_version.sql",
    "src/kurabito/db/migrations/postgres/product/0181_guards.sql",
)


@pytest.mark.parametrize("name", NAMED_IN)
def test_every_number_that_is_named_is_that_of_a_rule(name: str) -> None:
    named = set(NUMBER.findall((ROOT / name).read_text(encoding="utf-8"))) - OTHERS
    assert named - rules().keys() == set()


def test_numbers_follow_each_other_in_each_family() -> None:
    families: dict[str, list[int]] = {}
    for number in rules():
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


def test_no_section_is_left_out_and_no_value_is_left_open() -> None:
    there = {file.name for file in files(module).iterdir() if file.name.endswith(".md")}
    assert there == {f"{name}.md" for name in SECTIONS}
    assert [name for name in SECTIONS if "{{" in section(name)] == []


def test_every_error_code_that_a_plane_writes_is_in_a_rule() -> None:
    told = " ".join(section(name) for name in SECTIONS)
    # What is left is written by a migration.
    assert {code.value for code in ErrorCode if f"`{code}`" not in told} == {"SUPERSEDED"}

"""What became of the rules, for people, as JSON, and as JUnit for a CI system."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from kurabito.conformance.outcomes import RuleOutcome, RuleVerdict
from kurabito.protocol.rulebook import RuleBook
from kurabito.protocol.rules import PLANES


def summary(outcomes: Sequence[RuleOutcome]) -> str:
    """How many rules came out how."""
    counted = Counter(outcome.verdict for outcome in outcomes)
    return ", ".join(f"{counted[verdict]} {verdict}" for verdict in RuleVerdict)


def lines(outcome: RuleOutcome) -> Iterator[str]:
    """One rule for people: its number and verdict, and what there is to know about that."""
    yield f"{outcome.rule:<11} {outcome.verdict}"
    details = outcome.evidence or (outcome.gaps if outcome.verdict is RuleVerdict.NOT_COVERED else [])
    yield from (f"{'':<11}   {one}" for one in dict.fromkeys(details))


def as_json(outcomes: Sequence[RuleOutcome], book: RuleBook = PLANES) -> str:
    """Every rule with its text, verdict and evidence."""
    found = [_row(outcome, book) for outcome in outcomes]
    return json.dumps({"protocol": book.version, "rules": found}, indent=2, ensure_ascii=False)


def _row(outcome: RuleOutcome, book: RuleBook) -> dict[str, Any]:
    rule = book.rules[outcome.rule]
    return {
        "rule": rule.id,
        "level": rule.level,
        "text": rule.text,
        "verdict": outcome.verdict,
        "checked_in": outcome.checked_in,
        "failed_checks": outcome.failed_checks,
        "evidence": outcome.evidence,
        "gaps": list(dict.fromkeys(outcome.gaps)),
    }


def as_junit(outcomes: Sequence[RuleOutcome], book: RuleBook = PLANES) -> str:
    """A test suite in which each rule is a test."""
    counted = Counter(outcome.verdict for outcome in outcomes)
    suite = ET.Element(
        "testsuite",
        name=f"{book.title} {book.version}",
        tests=str(len(outcomes)),
        failures=str(counted[RuleVerdict.FAILED]),
        skipped=str(counted[RuleVerdict.NOT_COVERED]),
    )
    for outcome in outcomes:
        section = book.rules[outcome.rule].section
        classname = f"{book.title.replace(' ', '.')}.{section}"
        case = ET.SubElement(suite, "testcase", name=outcome.rule, classname=classname)
        if outcome.verdict is RuleVerdict.FAILED:
            ET.SubElement(case, "failure", message=outcome.evidence[0]).text = "\n".join(outcome.evidence)
        elif outcome.verdict is RuleVerdict.NOT_COVERED:
            ET.SubElement(case, "skipped", message="; ".join(dict.fromkeys(outcome.gaps)))
    return ET.tostring(suite, encoding="unicode", xml_declaration=True)

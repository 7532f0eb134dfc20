"""A pattern that cannot be used says at which character it is wrong."""

from __future__ import annotations

import pytest

from kurabito.downloads.filters.model import Action, FilterRule
from kurabito.errors import InvalidInput


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("a(b", "missing ) at character 2: (b"),
        (r"\([(](x(y)", r"missing ) at character 6: (x(y)"),
        ("蔵(番)人)", "unexpected ) at character 6: )"),
        ("ab[c", "missing ] at character 3: [c"),
        ("ab**", "bad repetition operator at character 3: **"),
        ("x(?=y)", "invalid perl operator at character 2: (?=y)"),
        ("[z-a]", "invalid character class range at character 2: z-a]"),
        ("ab\\", "trailing \\ at character 3: \\"),
        ("ok x{1001}", "invalid repetition size at character 5: {1001}"),
    ],
)
def test_the_place_of_a_fault_is_named(pattern: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        FilterRule(name="x", action=Action.EXCLUDE, pattern=pattern)
    assert refused.value.problem == f"cannot be used: {said}"

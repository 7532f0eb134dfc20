"""One list over many parts: gravest first, and one that fails hides no other."""

from __future__ import annotations

from collections.abc import Sequence

from kurabito.attention import Attention, AttentionCode, AttentionItem, AttentionSource, Severity
from kurabito.errors import DatabaseUnavailable


def saying(*items: AttentionItem) -> AttentionSource:
    async def look() -> Sequence[AttentionItem]:
        return items

    return look


def failing(problem: Exception) -> AttentionSource:
    async def look() -> Sequence[AttentionItem]:
        raise problem

    return look


NOTICE = AttentionItem(code=AttentionCode.MATCHES_OPEN, severity=Severity.NOTICE, facts={"count": 2})
BROKEN = AttentionItem(code=AttentionCode.PART_FAILED, severity=Severity.BROKEN)


async def test_the_gravest_comes_first() -> None:
    assert list(await Attention({"matches": saying(NOTICE), "process": saying(BROKEN), "feeds": saying()}).list()) == [
        BROKEN,
        NOTICE,
    ]


async def test_a_part_that_cannot_say_how_it_is_is_named_and_hides_no_other() -> None:
    unreachable = DatabaseUnavailable("postgresql://me:hunter2@db/x does not answer")
    found = await Attention(
        {"matches": saying(NOTICE), "feeds": failing(unreachable), "disk": failing(OSError("secret"))}
    ).list()
    assert [(item.code, dict(item.facts)) for item in found] == [
        (AttentionCode.CHECK_FAILED, {"part": "feeds", "why": "postgresql://me:***@db/x does not answer"}),
        (AttentionCode.CHECK_FAILED, {"part": "disk", "why": "OSError"}),
        (AttentionCode.MATCHES_OPEN, {"count": 2}),
    ]

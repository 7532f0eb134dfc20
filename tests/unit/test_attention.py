"""One list over many parts: gravest first, and one that fails hides no other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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


def test_a_key_changes_with_what_is_graver_or_more_and_not_with_every_attempt() -> None:
    full = AttentionItem(code=AttentionCode.DISK_FULL, severity=Severity.WARNING, facts={"folder": "/a", "free": 5})
    assert replace(full, facts={"folder": "/a", "free": 4}).key == full.key
    others = [
        replace(full, facts={"folder": "/b", "free": 5}),
        replace(full, severity=Severity.BROKEN),
        replace(NOTICE, facts={"count": 3}),
    ]
    assert len({full.key, NOTICE.key, *(other.key for other in others)}) == 5

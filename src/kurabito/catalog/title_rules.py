"""The user's rules for titles: kept, tried beforehand, and tried at once on what could not be read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kurabito.catalog import rules
from kurabito.catalog.identity.relink import RelinkTask, Wake
from kurabito.catalog.intake import CatalogIntake
from kurabito.catalog.relinks.scope import RulePatterns
from kurabito.catalog.rules import StoredRule
from kurabito.db import Connection, Database
from kurabito.feeds import raw_items
from kurabito.feeds.raw_items import RawReason, RawStatus
from kurabito.titles import ReleaseTitle, TitleRule, parse_title

PREVIEWED: Final = 50


@dataclass(frozen=True, slots=True)
class TitlePreview:
    """A title, as it is read now and as it would be."""

    title: str
    before: ReleaseTitle
    after: ReleaseTitle


class TitleRules:
    """The user's rules."""

    def __init__(self, database: Database, intake: CatalogIntake, wake: Wake | None = None) -> None:
        self._database = database
        self._intake = intake
        self._wake = wake

    async def everything(self) -> list[StoredRule]:
        """Every rule in the order in which they are tried."""
        return await self._database.read(rules.everything)

    async def add(self, rule: TitleRule, *, is_enabled: bool = True) -> StoredRule:
        """Store a rule; raises TitleRuleConflict when another has its name."""
        stored = await self._database.write(lambda conn: rules.add(conn, rule, is_enabled=is_enabled))
        await self._read_again(stored)
        return stored

    async def change(self, rule_id: int, rule: TitleRule, *, is_enabled: bool = True) -> StoredRule:
        """Put a rule in the place of another; raises TitleRuleNotFound or TitleRuleConflict."""

        def store(conn: Connection) -> tuple[StoredRule, StoredRule]:
            return rules.find(conn, rule_id), rules.change(conn, rule_id, rule, is_enabled=is_enabled)

        before, stored = await self._database.write(store)
        await self._read_again(before, stored)
        return stored

    async def remove(self, rule_id: int) -> None:
        """Forget a rule; what was read by it is read again."""

        def store(conn: Connection) -> StoredRule:
            gone = rules.find(conn, rule_id)
            rules.remove(conn, rule_id)
            return gone

        await self._read_again(await self._database.write(store))

    async def _read_again(self, *changed: StoredRule) -> None:
        """Read what could not be read at once, and in the background what these rules fit; one that is off says nothing."""
        await self._intake.read_again()
        followed = [stored.rule for stored in changed if stored.is_enabled]
        if self._wake is not None and followed:
            await self._wake(RelinkTask(tuple(dict.fromkeys(map(RulePatterns.of, followed)))))

    async def preview(self, rule: TitleRule, titles: Sequence[str] | None = None) -> list[TitlePreview]:
        """What a rule would make of some titles, or of those that could not be read last."""
        failed, others = await self._database.read(lambda conn: (_failed_titles(conn), rules.enabled(conn)))
        others = [other for other in others if other.name != rule.name]
        shown = failed if titles is None else titles
        return await asyncio.to_thread(
            lambda: [
                TitlePreview(title, parse_title(title, rules=others), parse_title(title, rules=[*others, rule]))
                for title in shown
            ]
        )


def _failed_titles(conn: Connection) -> list[str]:
    page = raw_items.page(conn, limit=PREVIEWED, status=RawStatus.FAILED)
    return [item.title for item in page if item.reason is RawReason.NO_TITLE]

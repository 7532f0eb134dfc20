"""Every notice leads somewhere."""

from __future__ import annotations

from kurabito.attention import ActionId, AttentionAction, AttentionCode, AttentionItem, Severity
from kurabito.web.home.remedies import PLACES, place_of


def test_every_action_has_a_place() -> None:
    assert set(PLACES) == set(ActionId)


def test_a_button_leads_to_what_it_is_about() -> None:
    feed = AttentionAction(ActionId.FETCH_FEED, 7)
    failing = AttentionItem(code=AttentionCode.FEED_FAILING, severity=Severity.WARNING, action=feed)
    assert place_of(failing) == "/following/7"
    assert place_of(AttentionItem(code=AttentionCode.CHECK_FAILED, severity=Severity.WARNING)) is None
    unclear = AttentionItem(
        code=AttentionCode.FILES_UNCLEAR,
        severity=Severity.NOTICE,
        action=AttentionAction(ActionId.OPEN_QUESTIONS),
    )
    assert place_of(unclear) == "/downloads/questions"
    unchecked = AttentionAction(ActionId.READ_LOG)
    failed = AttentionItem(code=AttentionCode.CHECK_FAILED, severity=Severity.WARNING, action=unchecked)
    assert place_of(failed) == "/settings/logs"

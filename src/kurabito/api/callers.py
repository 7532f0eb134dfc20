"""Modules that call us: which key they show, and from where."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Depends, Request

from kurabito.access import Principal
from kurabito.access.errors import ScopeMissing
from kurabito.access.keys import SETTINGS_KEY
from kurabito.feeds.service import Subscriptions
from kurabito.modules.identities import Caller
from kurabito.modules.registration import Services

_FIRST: Final = "register it first, with POST /services/register"


def _speaking(request: Request) -> Caller:
    principal: Principal = request.state.principal
    key_id = None if principal.key_id == SETTINGS_KEY else principal.key_id
    return Caller(request.state.client, key_id, principal.name)


Speaking = Annotated[Caller, Depends(_speaking)]


async def check_sender(caller: Caller, subscription_id: int, services: Services, subscriptions: Subscriptions) -> None:
    """Raises ScopeMissing unless the caller speaks for the fetcher that reads this subscription; SubscriptionNotFound."""
    subscription = await subscriptions.get(subscription_id)
    if caller.key_id is None:
        return
    own = await services.of_key(caller.key_id)
    if own is None:
        raise ScopeMissing(f"the key {caller.key_name!r} speaks for no module yet: {_FIRST}")
    if subscription.settings.module_id != own.id:
        raise ScopeMissing(
            f"subscription {subscription_id} is not read by the {own.registration.service_type} "
            f"{own.registration.service_name!r}; choose that fetcher for it first: PATCH "
            f'/api/v1/subscriptions/{subscription_id} with {{"module_id": {own.id}}}'
        )

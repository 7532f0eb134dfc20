"""Addresses for calendars and feed readers: made, renewed and revoked. The secret part is shown once."""

from __future__ import annotations

from typing import Final

from fastapi import Request, Response

from kurabito.access import NewSharedAddress, SharedAddresses
from kurabito.site.routing import Router
from kurabito.web.forms import Form
from kurabito.web.pages import Pages

_PATH: Final = "/history/addresses"


class SharedAddressForm(Form):
    """The name of an address to make."""

    FIELDS = ("name",)


def router(pages: Pages, addresses: SharedAddresses) -> Router:
    """The addresses, and what can be done with them."""
    routes = Router()

    async def show(
        request: Request, form: SharedAddressForm | None = None, new: NewSharedAddress | None = None
    ) -> Response:
        form = form or SharedAddressForm()
        return pages.show(
            request,
            "shared_addresses.html",
            status=form.status,
            addresses=await addresses.all(),
            form=form,
            new=new,
            site=str(request.base_url).rstrip("/"),
        )

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        return await show(request)

    @routes.post(_PATH)
    async def create(request: Request) -> Response:
        made: list[NewSharedAddress] = []

        async def store(form: SharedAddressForm) -> None:
            made.append(await addresses.create(form.value("name")))

        refused = await (await SharedAddressForm.sent(request)).submit(store)
        return await show(request, refused, made[0] if made else None)

    @routes.post(f"{_PATH}/{{address_id}}/renew")
    async def renew(request: Request, address_id: str) -> Response:
        return await show(request, new=await addresses.renew(address_id))

    @routes.post(f"{_PATH}/{{address_id}}/revoke")
    async def revoke(address_id: str) -> Response:
        await addresses.revoke(address_id)
        return pages.go(_PATH)

    return routes

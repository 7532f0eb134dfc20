"""`/api/v1/shared-addresses`: make, list, renew and revoke addresses for calendars and feed readers."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field

from kurabito.access import NewSharedAddress, SharedAddresses
from kurabito.api.paging import PageAnswer
from kurabito.api.system.keys import KEY_NAME
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router


class SharedAddressRequest(BaseModel):
    """An address to make."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="what its owner will recognise it by", examples=["phone"], json_schema_extra=KEY_NAME)


class SharedAddressAnswer(BaseModel):
    """An address without its secret part. Times are UTC."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    created_at: datetime
    renewed_at: datetime | None = Field(description="when it was last given another secret part")
    last_used_at: datetime | None = Field(description="to the minute; null when it was never used")
    revoked_at: datetime | None = Field(description="since when it is refused; null while it is good")


class NewSharedAddressAnswer(BaseModel):
    """An address in the moment it is made or renewed."""

    address: SharedAddressAnswer
    calendar_url: str = Field(description="the calendar; it is not stored and cannot be shown again")
    arrivals_url: str = Field(description="what arrived; it is not stored and cannot be shown again")

    @classmethod
    def of(cls, new: NewSharedAddress, request: Request) -> Self:
        site, address = str(request.base_url).rstrip("/"), SharedAddressAnswer.model_validate(new.address)
        return cls(address=address, calendar_url=site + new.calendar_path, arrivals_url=site + new.arrivals_path)


def router(addresses: SharedAddresses) -> Router:
    """The routes of the shared addresses."""
    routes = Router(prefix="/api/v1/shared-addresses", tags=["shared addresses"])

    @routes.get("", responses=documented())
    async def list_shared_addresses() -> PageAnswer[SharedAddressAnswer]:
        """Every address, revoked ones included."""
        return PageAnswer[SharedAddressAnswer].whole(
            [SharedAddressAnswer.model_validate(one) for one in await addresses.all()]
        )

    @routes.post("", status_code=201, responses=documented(*WITH_BODY))
    async def create_shared_address(request: Request, wanted: SharedAddressRequest) -> NewSharedAddressAnswer:
        """Make an address. Its secret part is in this answer and nowhere else."""
        return NewSharedAddressAnswer.of(await addresses.create(wanted.name), request)

    @routes.post("/{address_id}/renew", responses=documented(404, 422))
    async def renew_shared_address(request: Request, address_id: str) -> NewSharedAddressAnswer:
        """Give an address a new secret part; the old one is refused from now on."""
        return NewSharedAddressAnswer.of(await addresses.renew(address_id), request)

    @routes.delete("/{address_id}", responses=documented(404, 422))
    async def revoke_shared_address(address_id: str) -> SharedAddressAnswer:
        """Have an address refused from now on. It stays in the list."""
        return SharedAddressAnswer.model_validate(await addresses.revoke(address_id))

    return routes

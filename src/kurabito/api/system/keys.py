"""`/api/v1/keys`: make, list and revoke the keys of programs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Self

from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from kurabito.access import ApiKey, Keys, NewKey, Principal, Scope
from kurabito.access.errors import ScopeMissing
from kurabito.api.paging import PageAnswer
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

# The store checks these and says in words what is wrong; they stand here for those who read the OpenAPI document.
KEY_NAME: Final[dict[str, JsonValue]] = {
    "minLength": 1,
    "maxLength": 100,
    "pattern": r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$",
}
_SCOPES: Final[dict[str, JsonValue]] = {"minItems": 1}


class KeyRequest(BaseModel):
    """A key to create."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(
        description="what its owner will recognise it by", examples=["backup script"], json_schema_extra=KEY_NAME
    )
    scopes: list[Scope] = Field(description="what it may do; write includes read", json_schema_extra=_SCOPES)


class KeyAnswer(BaseModel):
    """A key without its secret. Times are UTC."""

    id: str
    name: str
    scopes: list[Scope]
    created_at: datetime
    last_used_at: datetime | None = Field(description="to the minute; null when it was never used")
    revoked_at: datetime | None = Field(description="since when it is refused; null while it is good")

    @classmethod
    def of(cls, key: ApiKey) -> Self:
        return cls(
            id=key.id,
            name=key.name,
            scopes=sorted(key.scopes),
            created_at=key.created_at,
            last_used_at=key.last_used_at,
            revoked_at=key.revoked_at,
        )


class NewKeyAnswer(BaseModel):
    """A key in the moment it is made."""

    key: KeyAnswer
    secret: str = Field(description="send it as X-Api-Key; it is not stored and cannot be shown again")

    @classmethod
    def of(cls, new: NewKey) -> Self:
        return cls(key=KeyAnswer.of(new.key), secret=new.secret)


def _asking(request: Request) -> Principal:
    principal: Principal = request.state.principal
    return principal


Asking = Annotated[Principal, Depends(_asking)]


def router(keys: Keys) -> Router:
    """The routes of the keys."""
    routes = Router(prefix="/api/v1/keys", tags=["access"])

    @routes.get("", responses=documented())
    async def list_keys() -> PageAnswer[KeyAnswer]:
        """Every key, revoked ones included."""
        return PageAnswer[KeyAnswer].whole([KeyAnswer.of(key) for key in await keys.all()])

    @routes.post("", status_code=201, responses=documented(*WITH_BODY))
    async def create_key(wanted: KeyRequest, asking: Asking) -> NewKeyAnswer:
        """Make a key. Its secret is in this answer and nowhere else."""
        _check_grant(asking, wanted.scopes)
        return NewKeyAnswer.of(await keys.create(wanted.name, wanted.scopes))

    @routes.delete("/{key_id}", responses=documented(404, 422))
    async def revoke_key(key_id: str) -> KeyAnswer:
        """Have a key refused from now on. It stays in the list."""
        return KeyAnswer.of(await keys.revoke(key_id))

    return routes


def _check_grant(asking: Principal, scopes: list[Scope]) -> None:
    """Refuse a key that makes one which may do more than itself; a user who is logged in on the page may grant anything."""
    if asking.key_id is None:
        return
    for scope in scopes:
        if not asking.may(scope):
            raise ScopeMissing(f"{asking.name!r} cannot give away the scope {scope}, which it does not have")

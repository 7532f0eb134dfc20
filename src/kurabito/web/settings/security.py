"""The password, the browsers that are logged in, and the keys of programs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from fastapi import Request, Response

from kurabito.access import SESSION_COOKIE, Keys, LoginLimit, NewKey, Passwords, Scope, Sessions
from kurabito.access.reasons import SecurityReason
from kurabito.access.sessions import session_id
from kurabito.errors import InvalidInput
from kurabito.reasons import InputReason, Reason, refused
from kurabito.site.addresses import one_client
from kurabito.site.routing import Router
from kurabito.web.forms import Form
from kurabito.web.pages import Pages, client_of
from kurabito.web.settings.keeper import keeper_only
from kurabito.web.system.login import give_session

_PATH: Final = "/settings/security"


@dataclass(frozen=True, slots=True)
class SecurityParts:
    """Who may come in."""

    keys: Keys
    passwords: Passwords
    sessions: Sessions
    limit: LoginLimit


class PasswordForm(Form):
    """The present password, and the new one twice. Nothing of it is written back."""

    FIELDS = ("present", "password", "repeated")


class KeyForm(Form):
    """A key to make."""

    FIELDS = ("name", "scopes")


class SecurityDesk:
    """Shows the page, and changes the password."""

    def __init__(self, pages: Pages, parts: SecurityParts) -> None:
        self._pages = pages
        self._parts = parts

    async def show(
        self,
        request: Request,
        *,
        password: PasswordForm | None = None,
        key: KeyForm | None = None,
        made: NewKey | None = None,
    ) -> Response:
        """The page."""
        parts, token = self._parts, request.cookies.get(SESSION_COOKIE)
        asked = password or PasswordForm()
        wanted = key or KeyForm()
        return self._pages.show(
            request,
            "security.html",
            status=max(asked.status, wanted.status),
            has_password=await parts.passwords.is_set(),
            is_locked=parts.passwords.is_locked,
            password=asked,
            key=wanted,
            made=made,
            keys=await parts.keys.all(),
            sessions=await parts.sessions.all(),
            this_session=None if token is None else session_id(token),
            scopes=list(Scope),
            is_saved="saved" in request.query_params,
        )

    async def change_password(self, request: Request, form: PasswordForm) -> None:
        """Set the password; raises InvalidInput that names the field."""
        parts = self._parts
        if parts.passwords.is_locked:
            raise InvalidInput("password", "the password file has it", Reason(SecurityReason.PASSWORD_FILE))
        if await parts.passwords.is_set():
            await self._check_present(request, form.value("present"))
        if form.value("password") != form.value("repeated"):
            raise InvalidInput("repeated", "is not the same", Reason(SecurityReason.NOT_THE_SAME))
        await parts.passwords.set(form.value("password"))

    async def _check_present(self, request: Request, typed: str) -> None:
        # A browser that was left open must not be a way to guess it.
        limit, client = self._parts.limit, one_client(client_of(request))
        if wait := math.ceil(limit.wait(client)):
            raise InvalidInput(
                "present", f"try again in {wait} seconds", Reason(SecurityReason.TOO_OFTEN, {"wait_seconds": wait})
            )
        limit.failed(client)
        if not await self._parts.passwords.fits(typed):
            raise InvalidInput("present", "is wrong", Reason(SecurityReason.WRONG_PASSWORD))
        limit.succeeded(client)


def router(pages: Pages, parts: SecurityParts) -> Router:
    """The page, and what is done on it."""
    routes, desk = Router(), SecurityDesk(pages, parts)
    _add_keys(routes, pages, parts, desk)

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        return await desk.show(request)

    @routes.post(f"{_PATH}/password")
    async def change(request: Request) -> Response:
        keeper_only(request)
        refused_form = await (await PasswordForm.sent(request)).submit(lambda form: desk.change_password(request, form))
        if refused_form is not None:
            return await desk.show(request, password=refused_form)
        # Every session ended with the old password; this browser gets another.
        return give_session(pages, request, f"{_PATH}?saved=", await parts.sessions.open())

    @routes.post(f"{_PATH}/sessions/{{known}}/end")
    async def end(request: Request, known: str) -> Response:
        keeper_only(request)
        await parts.sessions.end(known)
        return pages.go(_PATH)

    @routes.post(f"{_PATH}/sessions/end-others")
    async def end_others(request: Request) -> Response:
        keeper_only(request)
        await parts.sessions.end_others(request.cookies.get(SESSION_COOKIE, ""))
        return pages.go(_PATH)

    return routes


def _add_keys(routes: Router, pages: Pages, parts: SecurityParts, desk: SecurityDesk) -> None:
    @routes.get(f"{_PATH}/keys")
    @routes.get(f"{_PATH}/password")
    async def again() -> Response:
        # A reader who changes the language of what was refused comes by here.
        return pages.go(_PATH)

    @routes.post(f"{_PATH}/keys")
    async def make(request: Request) -> Response:
        keeper_only(request)
        made: list[NewKey] = []

        async def store(form: KeyForm) -> None:
            if not form.values("scopes"):
                raise InvalidInput("scopes", "must name at least one", refused(InputReason.NONE_CHOSEN))
            made.append(await parts.keys.create(form.value("name"), form.values("scopes")))

        refused_form = await (await KeyForm.sent(request)).submit(store)
        return await desk.show(request, key=refused_form, made=made[0] if made else None)

    @routes.post(f"{_PATH}/keys/{{key_id}}/revoke")
    async def revoke(request: Request, key_id: str) -> Response:
        keeper_only(request)
        await parts.keys.revoke(key_id)
        return pages.go(_PATH)

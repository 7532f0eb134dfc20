"""Services that register themselves, and what their user decides about them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Self

from fastapi import Path, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from kurabito.api.bodies import WHOLE, StrictBody
from kurabito.api.callers import Speaking
from kurabito.api.paging import PAGE_BEFORE, Limit, PageAnswer
from kurabito.api.reasons import WhyAnswer, in_english
from kurabito.downloads.health.downloaders import DownloaderHealth, DownloaderHealths
from kurabito.downloads.paths.tests import PathReport, PathTests
from kurabito.modules.download_types import DownloadType
from kurabito.modules.path_maps import PathMap
from kurabito.modules.registration import PRIORITIES, Services
from kurabito.modules.services import BIGGEST_MODULE_ID, Capabilities, Registration, Service, ServiceType
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

ServiceId = Annotated[int, Path(ge=1, le=BIGGEST_MODULE_ID, description="the service's id")]
Text = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
Endpoint = Annotated[str, Field(max_length=500, pattern=r"^/[^\x00]*$")]


class CapabilitiesBody(BaseModel):
    """What a service can do. What we do not know is passed over: it may be newer than we are."""

    model_config = ConfigDict(strict=True, extra="ignore")

    fetch_endpoint: Endpoint | None = Field(None, examples=["/fetch"])
    download_endpoint: Endpoint | None = Field(None, examples=["/downloads"])
    sync_endpoint: Endpoint | None = None
    supported_download_types: list[Annotated[DownloadType, Field(strict=False)]] = Field(
        default_factory=list, max_length=50
    )


class RegistrationBody(BaseModel):
    """What a service says of itself."""

    model_config = ConfigDict(strict=True, extra="ignore")

    service_type: Annotated[ServiceType, Field(strict=False)]
    service_name: Text = Field(examples=["mikanani"])
    host: Annotated[str, Field(min_length=1, max_length=253, pattern=r"^[^\x00]*$")] = Field(examples=["127.0.0.1"])
    port: Annotated[int, Field(ge=1, le=65_535), WHOLE]
    instance_id: Text = Field(description="another one means another process")
    token: Annotated[SecretStr, Field(min_length=1, max_length=200)] = Field(
        description="what we show as Bearer when we call it"
    )
    capabilities: CapabilitiesBody = Field(default_factory=CapabilitiesBody)

    def registration(self) -> Registration:
        return Registration(
            service_type=self.service_type,
            service_name=self.service_name,
            host=self.host,
            port=self.port,
            instance_id=self.instance_id,
            token=self.token.get_secret_value(),
            capabilities=Capabilities(
                fetch_endpoint=self.capabilities.fetch_endpoint,
                download_endpoint=self.capabilities.download_endpoint,
                sync_endpoint=self.capabilities.sync_endpoint,
                supported_download_types=tuple(self.capabilities.supported_download_types),
            ),
        )


class Registered(BaseModel):
    """The service is known now."""

    service_id: int
    registered_at: datetime


_TIDIES = "it forgets what is filed once it is done seeding that, and the names of those files go"


class PathMapBody(StrictBody):
    """The same folder as the core and as the service see it."""

    core: Annotated[str, Field(min_length=1, max_length=1_000)] = Field(examples=["/srv/downloads"])
    downloader: Annotated[str, Field(min_length=1, max_length=1_000)] = Field(examples=["/mnt/nas/downloads"])


class ServiceChange(StrictBody):
    """What is to change; what is not named stays."""

    priority: Annotated[int, Field(ge=PRIORITIES[0], le=PRIORITIES[1]), WHOLE] | None = Field(
        None, description="the larger is asked first"
    )
    is_enabled: bool | None = None
    tidies: bool | None = Field(None, description=_TIDIES)
    path_maps: Annotated[list[PathMapBody], Field(max_length=50)] | None = Field(
        None, description="where it sees folders of the core, in the place of those that were set"
    )

    def maps(self) -> list[PathMap] | None:
        return None if self.path_maps is None else [PathMap(one.core, one.downloader) for one in self.path_maps]


class ServiceAnswer(BaseModel):
    """A service, without its token. Times are UTC."""

    id: int
    service_type: ServiceType
    service_name: str
    host: str
    port: int
    fetch_endpoint: str | None
    download_endpoint: str | None
    sync_endpoint: str | None
    supported_download_types: list[DownloadType]
    priority: int
    is_enabled: bool
    tidies: bool = Field(description=_TIDIES)
    health: DownloaderHealth | None = Field(description="whether it answers; null for what is no downloader")
    registered_at: datetime
    last_seen_at: datetime
    path_maps: list[PathMapBody]

    @classmethod
    def of(cls, service: Service, health: DownloaderHealth | None) -> Self:
        registration, capabilities = service.registration, service.registration.capabilities
        return cls(
            id=service.id,
            service_type=registration.service_type,
            service_name=registration.service_name,
            host=registration.host,
            port=registration.port,
            fetch_endpoint=capabilities.fetch_endpoint,
            download_endpoint=capabilities.download_endpoint,
            sync_endpoint=capabilities.sync_endpoint,
            supported_download_types=list(capabilities.supported_download_types),
            priority=service.priority,
            is_enabled=service.is_enabled,
            tidies=service.tidies,
            health=health,
            registered_at=service.registered_at,
            last_seen_at=service.last_seen_at,
            path_maps=[PathMapBody(core=one.core, downloader=one.downloader) for one in service.path_maps],
        )


class PathTestAnswer(BaseModel):
    """Whether a downloader puts things where they are found. Null is what could not be tried."""

    model_config = ConfigDict(from_attributes=True)

    is_good: bool
    core_folder: str
    downloader_folder: str = Field(description="the same folder, as the downloader should see it")
    is_seen_by_downloader: bool | None = Field(description="a file that was written here")
    is_seen_by_core: bool | None = Field(description="a file that the downloader wrote")
    message: Annotated[str, BeforeValidator(in_english)] = Field(
        validation_alias="reason", description="the same in words, and what to do"
    )
    why: WhyAnswer | None = Field(None, description="the message as a code with facts")

    @classmethod
    def of(cls, report: PathReport) -> Self:
        return cls.model_validate(report).model_copy(update={"why": WhyAnswer.of(report.reason)})


def router(services: Services, paths: PathTests, downloaders: DownloaderHealths) -> Router:
    """The routes of the services."""
    routes = Router(tags=["services"])

    async def answers(found: Sequence[Service]) -> list[ServiceAnswer]:
        health = {one.service.id: one.health for one in await downloaders.of(found)}
        return [ServiceAnswer.of(service, health.get(service.id)) for service in found]

    @routes.post("/services/register", status_code=201, responses=documented(403, 409, *WITH_BODY))
    async def register_service(body: RegistrationBody, caller: Speaking) -> Registered:
        """Register, at every start. The first time binds the key to this name and type: it registers no other module, and no
        other key this one (403). 409 while another process of the same name answers; 422 for a host that is not the sender's own
        and that `KURABITO_ALLOW_PRIVATE_HOSTS` does not name.
        """
        service = await services.register(body.registration(), caller)
        return Registered(service_id=service.id, registered_at=service.registered_at)

    @routes.get("/api/v1/services", responses=documented(422))
    async def list_services(
        limit: Limit = 50,
        cursor: Annotated[str | None, Query(pattern=r"^[1-9][0-9]{0,8}$", description=PAGE_BEFORE)] = None,
    ) -> PageAnswer[ServiceAnswer]:
        """Services, a page at a time."""
        page = await services.page(limit=limit, cursor=cursor)
        return PageAnswer[ServiceAnswer](items=await answers(page.items), next_cursor=page.next_cursor)

    @routes.patch("/api/v1/services/{service_id}", responses=documented(404, *WITH_BODY))
    async def change_service(service_id: ServiceId, change: ServiceChange) -> ServiceAnswer:
        """Say how early a service is asked, switch it off, or say where it sees our folders. That stays when it registers again."""
        changed = await services.change(
            service_id,
            priority=change.priority,
            is_enabled=change.is_enabled,
            tidies=change.tidies,
            path_maps=change.maps(),
        )
        (answer,) = await answers([changed])
        return answer

    @routes.post("/api/v1/services/{service_id}/test-paths", responses=documented(404, 422, 502, 504))
    async def test_paths(service_id: ServiceId) -> PathTestAnswer:
        """Try whether a downloader and we see the same folder: each writes a file there, and the other looks for it."""
        return PathTestAnswer.of(await paths.run(service_id))

    @routes.delete("/api/v1/services/{service_id}", status_code=204, responses=documented(404, 422))
    async def delete_service(service_id: ServiceId) -> None:
        """Forget a service. One that lives comes back when it registers again."""
        await services.remove(service_id)

    return routes

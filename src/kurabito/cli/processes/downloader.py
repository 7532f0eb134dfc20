"""`kurabito downloader`: a download client as a service of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kurabito.cli.processes.startup import begin_loading, end_loading

if TYPE_CHECKING:
    from kurabito.downloads.clients.factory import ClientName

ClientOption = Annotated[
    str,
    typer.Option(help="qbittorrent, transmission, aria2, or embedded (which needs no other program).", metavar="NAME"),
]


def downloader(
    client: ClientOption,
    core: Annotated[str, typer.Option(help="Address of Kurabito.", metavar="URL")] = "http://127.0.0.1:8484",
    url: Annotated[
        str | None,
        typer.Option(help="Address of the client; default: its usual port on this machine.", metavar="URL"),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8485,
    username: Annotated[str, typer.Option(help="User name for the client.")] = "",
    name: Annotated[
        str | None, typer.Option(help="Name of this downloader in the core; default: the name of the client.")
    ] = None,
) -> None:
    """Connect a download client to the core, until Ctrl-C or SIGTERM.

    `kurabito serve` has a built-in downloader, which comes last. This command is for a client that you already run, and for
    other machines. It registers with the core, again after the core was away; `GET /api/v1/services` then lists it.

    Two secrets come from the environment and never from the command line: `KURABITO_API_KEY` is the key for the core, one of
    scope `module`; `KURABITO_CLIENT_PASSWORD` is the password of the client, for aria2 its `--rpc-secret`.

    Downloads go to the folder that the core names, as this machine sees it. If `KURABITO_DOWNLOAD_ROOT` is set, nothing is
    saved outside of it. The service stores its state in `downloaders/NAME` of the state folder, so it may be killed at any
    moment.

    Examples:

        kurabito key create nas --scope module

        KURABITO_API_KEY=… KURABITO_CLIENT_PASSWORD=… kurabito downloader --client qbittorrent --username me

        kurabito downloader --client aria2 --url http://nas.local:6800 --core http://127.0.0.1:8484 --name nas

        kurabito downloader --client embedded --host 192.0.2.7 --core http://192.0.2.1:8484
    """
    begin_loading()
    import asyncio
    import os

    from kurabito import logs, settings
    from kurabito.app.downloader import run_downloader

    chosen_client = _client(client)
    # Its own host and port: those of the settings are the core's.
    chosen = settings.load(host=host, port=port)
    logs.configure(format=chosen.log_format, level=chosen.log_level)
    end_loading()
    asyncio.run(
        run_downloader(
            chosen,
            chosen_client,
            url=url,
            core=core,
            name=name or chosen_client.value,
            username=username,
            password=os.environ.get("KURABITO_CLIENT_PASSWORD", ""),
            on_listening=lambda address: typer.echo(f"The downloader {chosen_client.value} listens on {address}"),
        )
    )


def _client(name: str) -> ClientName:
    from kurabito.downloads.clients.factory import ClientName

    try:
        return ClientName(name)
    except ValueError:
        names = ", ".join(known.value for known in ClientName)
        raise typer.BadParameter(f"must be one of {names}", param_hint="--client") from None

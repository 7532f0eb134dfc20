"""`kurabito serve`: the product."""

from __future__ import annotations

from typing import Annotated

import typer


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default="KURABITO_HOST")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on.", show_default="KURABITO_PORT")
    ] = None,
) -> None:
    """Start Kurabito and stay until Ctrl-C or SIGTERM.

    Everything it keeps lies in the state folder (`KURABITO_STATE`), which is created when missing.

    Examples:

        kurabito serve

        KURABITO_STATE=/srv/kurabito kurabito serve --port 9000
    """
    import asyncio

    from kurabito import app, logs, settings

    chosen = settings.load(host=host, port=port)
    logs.configure(format=chosen.log_format, level=chosen.log_level)
    asyncio.run(app.serve(chosen, on_listening=lambda url: typer.echo(f"Kurabito listens on {url}")))

"""`nel endpoint probe`: prints what an endpoint can do as a table or as JSON, and never a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Final

import typer
from pydantic import ValidationError

from nel.apps.probe.capabilities import REQUESTS_MAX, Capabilities
from nel.apps.probe.capabilities import probe as ask_endpoint
from nel.cli.options import ResultAsJson
from nel.cli.table import print_table
from nel.cli.terminal import plain
from nel.config.layers import first_problem
from nel.config.openai_environment import key_variable, taken_from_environment
from nel.config.redaction import read_key
from nel.config.schema import EndpointConfig
from nel.core.event_loop import run
from nel.core.strict_json import dumps
from nel.errors import EXIT_DONE, EXIT_USAGE, ConfigError
from nel.reports.tables.columns import Column, ReportTable
from nel.reports.text import cut

_EVIDENCE_MAX: Final = 150


def probe(
    url: Annotated[str, typer.Argument(help="Base URL or full path of the endpoint.")],
    model: Annotated[str, typer.Option("--model", help="The model's name at the endpoint.")],
    api_key_env: Annotated[
        str | None, typer.Option(help="Name of the variable that holds the key.")
    ] = None,
    header_env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VARIABLE", help="Header and the variable with its value; repeatable."
        ),
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(help="That parameters are tried over; chat if not given.")
    ] = None,
    too_long: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Send a prompt of about N tokens, which should not fit."
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=1, max=86400, help="Seconds that one request may take.")
    ] = 60.0,
    as_json: ResultAsJson = False,
) -> None:
    """Ask an endpoint what it can do, and print a table: yes, no or unknown, each with the
    evidence.

    Sends at most 28 small requests, one after the other, of which each may be answered and billed.
    Exit codes: 0 any protocol was answered; 2 none was.
    """
    settings = {
        "url": url,
        "model": model,
        "api_key_env": api_key_env,
        "total_timeout_seconds": timeout,
    }
    if protocol is not None:
        settings["protocol"] = protocol
    _show(_endpoint(settings, header_env or []), too_long=too_long, as_json=as_json)


def _show(endpoint: EndpointConfig, *, too_long: int | None, as_json: bool) -> None:
    key = read_key(key_variable(endpoint))
    for line in taken_from_environment(endpoint):
        typer.echo(f"nel: {plain(line)}", err=True)
    typer.echo(f"nel: sending at most {REQUESTS_MAX} small requests to {endpoint.url}", err=True)
    capabilities = run(ask_endpoint(endpoint, key, too_long_tokens=too_long))
    if as_json:
        typer.echo(dumps({**asdict(capabilities), "answers": capabilities.answers}))
    else:
        _print(capabilities)
    raise typer.Exit(EXIT_DONE if capabilities.answers else EXIT_USAGE)


def _endpoint(settings: Mapping[str, object], headers: Sequence[str]) -> EndpointConfig:
    headers_env = {}
    for header in headers:
        name, separator, variable = header.partition("=")
        if not separator:
            raise ConfigError(
                f"--header-env {name}: write NAME=VARIABLE, for example api-key=AZURE_KEY"
            )
        headers_env[name] = variable
    try:
        return EndpointConfig.model_validate({**settings, "headers_env": headers_env})
    except ValidationError as error:
        raise ConfigError(f"nel endpoint probe: {first_problem(error)}") from error


def _print(capabilities: Capabilities) -> None:
    title = f"{capabilities.model} at {capabilities.url}"
    typer.echo(plain(f"{title}, parameters over {capabilities.protocol}"))
    columns = (
        Column("name", heading="ability"),
        Column("verdict", heading=" "),
        Column("evidence", of=lambda cell: cut(cell.evidence, _EVIDENCE_MAX)),
    )
    print_table(ReportTable(columns, capabilities.cells))
    typer.echo(f"{capabilities.requests} requests were sent")

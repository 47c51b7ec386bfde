"""`nel endpoint probe`: prints what an endpoint can do as a table or as JSON, and never a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final

import typer
from pydantic import ValidationError

from nel.apps.mock.capabilities import REQUESTS_MAX, Capabilities, probe
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


def show_probe(
    settings: Mapping[str, object], headers: Sequence[str], *, too_long: int | None, as_json: bool
) -> None:
    """Probe an endpoint, print the result on stdout, and exit.

    Raises:
        ConfigError: A setting is wrong, or the variable of a key is not set.
    """
    endpoint = _endpoint(settings, headers)
    key = read_key(key_variable(endpoint))
    for line in taken_from_environment(endpoint):
        typer.echo(f"nel: {plain(line)}", err=True)
    typer.echo(f"nel: sending at most {REQUESTS_MAX} small requests to {endpoint.url}", err=True)
    capabilities = run(probe(endpoint, key, too_long_tokens=too_long))
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
    where = f"{capabilities.model} at {capabilities.url}"
    typer.echo(plain(f"{where}, parameters over {capabilities.protocol}"))
    columns = (
        Column("name", heading="ability"),
        Column("verdict", heading=" "),
        Column("evidence", of=lambda cell: cut(cell.evidence, _EVIDENCE_MAX)),
    )
    print_table(ReportTable(columns, capabilities.cells))
    typer.echo(f"{capabilities.requests} requests were sent")

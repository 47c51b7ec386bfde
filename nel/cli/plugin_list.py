"""`nel list`: the installed plugins of every kind; broken ones are listed with their error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nel import plugins
from nel.cli.completion import kinds_starting
from nel.cli.options import AsJson
from nel.cli.terminal import plain
from nel.core.strict_json import dumps
from nel.discovery.listing import describe_all

if TYPE_CHECKING:
    from nel.plugins import PluginInfo


def list_plugins(
    kind: Annotated[
        str | None,
        typer.Argument(
            help=(
                "benchmarks, bridges, scorers, judges, metrics, reducers, datasets, reports,"
                " importers, executors …"
            ),
            autocompletion=kinds_starting,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List installed plugins: name, kind, provider, description; broken ones with their error."""
    kinds = [kind] if kind else list(plugins.GROUPS)
    refs = [ref for name in kinds for ref in plugins.discover(name)]
    if not kind:
        refs += plugins.discover_unknown()
    infos = describe_all(refs)
    if as_json:
        typer.echo(dumps([_as_json(info) for info in infos]))
        return
    if not infos:
        typer.echo(f"no {kind or 'plugins'} installed")
        return
    rows = [
        (plain(info.ref.name), info.ref.kind, plain(info.ref.provider), plain(_remark(info)))
        for info in infos
    ]
    # The remark is the last column, and is not padded.
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:3]
    for *cells, remark in rows:
        columns = map(str.ljust, cells, widths)
        typer.echo("  ".join([*columns, remark]).rstrip())


def _remark(info: PluginInfo) -> str:
    text = f"BROKEN: {info.error}" if info.error else info.description
    return f"{text} ({info.note})" if info.note else text


def _as_json(info: PluginInfo) -> dict[str, str | None]:
    return {
        "kind": info.ref.kind,
        "name": info.ref.name,
        "distribution": info.ref.distribution,
        "version": info.ref.version,
        "description": info.description,
        "error": info.error,
        "note": info.note,
    }

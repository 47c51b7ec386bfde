"""The work and the output of `nel sandbox`; a fault of the Docker engine is a usage error here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import typer

from nel.core.paths import as_argument
from nel.core.strict_json import dumps
from nel.engine.observability.run_status import is_resumable
from nel.errors import EXIT_USAGE, ConfigError, SandboxError
from nel.sandbox import Sandbox, SandboxSettings
from nel.sandbox.isolation.engine import connect
from nel.sandbox.isolation.images import build, sizes
from nel.sandbox.isolation.languages import Language, find_language, languages
from nel.sandbox.isolation.owners import containers, reap
from nel.sandbox.probes import ProbeResult, python_probes, run_probes, smoke_probes


def build_images(
    names: Sequence[str],
    docker_host: str | None,
    *,
    base: str | None,
    packages: str,
    network: str | None,
    pull: bool,
    force: bool,
    verbose: bool,
) -> None:
    """Build the images of languages that have none yet, or of all with ``force`` or ``packages``.

    Raises:
        ConfigError: The engine does not answer, a build failed, or packages are not for Python.
    """
    with _usage_errors():
        client = connect(docker_host)
        tags = sizes(client)
        if packages and set(names) != {"python"}:
            raise ConfigError("--packages is for the image of Python programs")
        for language in _languages_by_name(names):
            if language.image in tags and not (force or packages):
                typer.echo(f"{language.name:<12} {language.image} exists")
                continue
            typer.echo(f"{language.name:<12} building {language.image} ...")
            size = build(
                client,
                language,
                base=base,
                packages=packages,
                pull=pull,
                network=network,
                log=typer.echo if verbose else lambda _: None,
            )
            typer.echo(f"{language.name:<12} built, {size / 1e6:.0f} MB")


def show_images(docker_host: str | None, *, as_json: bool) -> None:
    """Print the languages with their images, and the running containers."""
    with _usage_errors():
        client = connect(docker_host)
        images = sizes(client)
        running = containers(client)
    rows = [_language_row(language, images) for language in languages().values()]
    if as_json:
        containers_now = [
            {
                "id": container.id,
                "language": container.language,
                "state": container.state,
                "left_over": container.is_left_over,
            }
            for container in running
        ]
        typer.echo(dumps({"languages": rows, "containers": containers_now}))
        return
    for row in rows:
        size_text = f"{row['size_bytes'] / 1e6:.0f} MB" if row["size_bytes"] else ""
        cells = f"{row['language']:<12} {row['title']:<24} {row['state']:<10} {size_text:<8}"
        typer.echo(f"{cells} {row['image']}")
    typer.echo(f"\n{len(running)} container(s)")
    for container in running:
        owner = f"of process {container.pid}"
        if container.is_left_over:
            owner = "leftover; nel sandbox prune removes it"
        typer.echo(
            f"{container.id[:12]:<14} {container.language:<12} {container.state:<10} {owner}"
        )


def _language_row(language: Language, images: Mapping[str, int]) -> dict[str, Any]:
    size = images.get(language.image)
    if size is not None:
        state = "built"
    elif any(tag.startswith(f"nel-sandbox-{language.name}:") for tag in images):
        state = "outdated"
    else:
        state = "not built"
    return {
        "language": language.name,
        "title": language.title,
        "image": language.image,
        "state": state,
        "size_bytes": size,
    }


def show_probes(
    names: Sequence[str], docker_host: str | None, *, runtime: str | None, as_json: bool
) -> None:
    """Print what each probe of the limits finds, and exit with 2 where one does not hold."""
    targets = _languages_by_name(names)
    settings = SandboxSettings(
        workers=1, docker_host=docker_host, runtime=runtime, allow_unlimited=True
    )
    with _usage_errors(), Sandbox(settings) as sandbox:
        info = sandbox.check([language.name for language in targets])
        if not as_json:
            typer.echo(
                f"engine       Docker {info.version}, cgroup {info.cgroup}, {info.operating_system}"
            )
            typer.echo(
                f"             {info.cpus} CPUs, {info.memory_bytes / 1e9:.0f} GB, runtimes"
                f" {', '.join(info.runtimes)}"
            )
        results = []
        missing_limits = (
            ProbeResult(name=f"the engine limits {name}", holds=False, detail="it says it cannot")
            for name in info.lacks
        )
        # One after the other, so that each line is printed as soon as its probe has ended.
        for result in chain(missing_limits, _probe_results(sandbox, targets)):
            results.append(result)
            if not as_json:
                verdict = "ok  " if result.holds else "FAIL"
                detail = f" ({result.detail})" if result.detail else ""
                typer.echo(f"{verdict}         {result.name}{detail}")
    n_holding = sum(result.holds for result in results)
    if as_json:
        typer.echo(dumps({"engine": info.as_json(), "probes": list(map(asdict, results))}))
    else:
        typer.echo(f"\n{n_holding} of {len(results)} hold")
    if n_holding < len(results):
        raise typer.Exit(EXIT_USAGE)


def remove_leftovers(docker_host: str | None) -> None:
    """Remove the containers and snapshots of killed runs, and print how many, and which stay."""
    with _usage_errors():
        reaped = reap(connect(docker_host), is_resumable)
        typer.echo(
            f"removed {len(reaped.containers)} container(s), {len(reaped.snapshots)} snapshot(s)"
        )
        for log, n_snapshots in reaped.needed_by.items():
            command = f"nel eval resume {as_argument(Path(log).parent)}"
            typer.echo(f"kept {n_snapshots} snapshot(s), from which {command} goes on")


def _probe_results(sandbox: Sandbox, targets: Sequence[Language]) -> Iterator[ProbeResult]:
    for language in targets:
        if language.has_zygote:
            yield from run_probes(sandbox, python_probes())
        yield from run_probes(sandbox, smoke_probes(language))


def _languages_by_name(names: Sequence[str]) -> list[Language]:
    if list(names) == ["all"]:
        return list(languages().values())
    return [find_language(name) for name in names]


@contextmanager
def _usage_errors() -> Iterator[None]:
    """Turn a fault of the Docker engine into a usage error: one line, exit code 2."""
    try:
        yield
    except SandboxError as error:
        raise ConfigError(str(error)) from error

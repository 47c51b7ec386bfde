"""``nel sandbox``: builds and lists the images, tests that the limits hold, and removes leftover
containers.

``check`` runs a probe for every limit; it trusts no configuration of the Docker engine.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nel.errors import EXIT_USAGE, ConfigError, SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nel.sandbox import Sandbox
    from nel.sandbox.isolation.engine import EngineInfo
    from nel.sandbox.isolation.languages import Language
    from nel.sandbox.probes import ProbeResult

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Build, check and clean the sandbox that programs run in.",
)

Languages = Annotated[
    list[str] | None, typer.Argument(help="python, javascript, cpp, bash, go, rust, java.")
]
Host = Annotated[
    str | None, typer.Option("--docker-host", help="The Docker engine; DOCKER_HOST by default.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def build(
    languages: Languages = None,
    base: Annotated[
        str | None, typer.Option(help="Base image, where the public one cannot be pulled.")
    ] = None,
    packages: Annotated[
        str, typer.Option(help='For Python, such as "numpy scipy pandas"; implies --force.')
    ] = "",
    network: Annotated[
        str | None,
        typer.Option(
            help="Network that packages come over, such as host; the engine's by default."
        ),
    ] = None,
    pull: Annotated[bool, typer.Option("--pull", help="Pull a newer base image.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Build even if the image exists.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the Docker engine's output.")
    ] = False,
    docker_host: Host = None,
) -> None:
    """Build the images that programs run in; Python's alone where no language is given."""
    from nel.sandbox.isolation.engine import connect  # noqa: PLC0415 - keeps --help fast
    from nel.sandbox.isolation.images import build as build_image  # noqa: PLC0415
    from nel.sandbox.isolation.images import sizes  # noqa: PLC0415

    with _usage_errors():
        client = connect(docker_host)
        there = sizes(client)
        if packages and set(languages or ["python"]) != {"python"}:
            raise ConfigError("--packages is for the image of Python programs")
        for language in _languages_by_name(languages or ["python"]):
            if language.image in there and not (force or packages):
                typer.echo(f"{language.name:<12} {language.image} exists")
                continue
            typer.echo(f"{language.name:<12} building {language.image} ...")
            log = typer.echo if verbose else _silent
            size = build_image(
                client,
                language,
                base=base,
                packages=packages,
                pull=pull,
                network=network,
                log=log,
            )
            typer.echo(f"{language.name:<12} built, {size / 1e6:.0f} MB")


@app.command(name="list")
def list_all(docker_host: Host = None, as_json: AsJson = False) -> None:
    """List the languages, their images, and the running containers."""
    from nel.sandbox.isolation.engine import connect  # noqa: PLC0415 - keeps --help fast
    from nel.sandbox.isolation.images import sizes  # noqa: PLC0415
    from nel.sandbox.isolation.languages import languages as known  # noqa: PLC0415
    from nel.sandbox.isolation.owners import containers  # noqa: PLC0415

    with _usage_errors():
        client = connect(docker_host)
        images = sizes(client)
        running = containers(client)
    rows: list[dict[str, Any]] = []
    for language in known().values():
        size = images.get(language.image)
        is_old = any(tag.startswith(f"nel-sandbox-{language.name}:") for tag in images)
        rows.append(
            {
                "language": language.name,
                "title": language.title,
                "image": language.image,
                "state": "built" if size is not None else "outdated" if is_old else "not built",
                "size_bytes": size,
            }
        )
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
        _echo_json({"languages": rows, "containers": containers_now})
        return
    for row in rows:
        size_text = f"{row['size_bytes'] / 1e6:.0f} MB" if row["size_bytes"] else ""
        cells = f"{row['language']:<12} {row['title']:<24} {row['state']:<10} {size_text:<8}"
        typer.echo(f"{cells} {row['image']}")
    typer.echo(f"\n{len(running)} container(s)")
    for container in running:
        owner = (
            "leftover; nel sandbox prune removes it"
            if container.is_left_over
            else f"of process {container.pid}"
        )
        typer.echo(
            f"{container.id[:12]:<14} {container.language:<12} {container.state:<10} {owner}"
        )


@app.command()
def check(
    languages: Languages = None,
    runtime: Annotated[
        str | None, typer.Option(help="One of the Docker engine's runtimes, such as runsc.")
    ] = None,
    docker_host: Host = None,
    as_json: AsJson = False,
) -> None:
    """Test every limit of the sandbox with a probe; exit code 2 when one does not hold."""
    from nel.sandbox import Sandbox, SandboxSettings  # noqa: PLC0415 - keeps --help fast

    wanted = _languages_by_name(languages or ["python"])
    settings = SandboxSettings(
        workers=1, docker_host=docker_host, runtime=runtime, allow_unlimited=True
    )
    with _usage_errors(), Sandbox(settings) as sandbox:
        info = sandbox.check([language.name for language in wanted])
        if not as_json:
            typer.echo(
                f"engine       Docker {info.version}, cgroup {info.cgroup}, {info.operating_system}"
            )
            typer.echo(
                f"             {info.cpus} CPUs, {info.memory_bytes / 1e9:.0f} GB, runtimes"
                f" {', '.join(info.runtimes)}"
            )
        findings = []
        for finding in chain(_lacking(info), _findings(sandbox, wanted)):
            findings.append(finding)
            if not as_json:
                mark = "ok  " if finding.holds else "FAIL"
                typer.echo(
                    f"{mark}        "
                    f" {finding.name}{f' ({finding.detail})' if finding.detail else ''}"
                )
    failed = [finding for finding in findings if not finding.holds]
    if as_json:
        probes = [
            {"name": probe.name, "holds": probe.holds, "detail": probe.detail} for probe in findings
        ]
        _echo_json({"engine": info.as_json(), "probes": probes})
    else:
        typer.echo(f"\n{len(findings) - len(failed)} of {len(findings)} hold")
    if failed:
        raise typer.Exit(EXIT_USAGE)


@app.command(name="clean", hidden=True)
@app.command()
def prune(docker_host: Host = None) -> None:
    """Remove the leftover containers of killed runs; those of active runs stay."""
    from nel.sandbox.isolation.engine import connect  # noqa: PLC0415 - keeps --help fast
    from nel.sandbox.isolation.owners import reap  # noqa: PLC0415

    with _usage_errors():
        client = connect(docker_host)
        removed = reap(client)
        typer.echo(f"removed {len(removed)} container(s)")


def _lacking(info: EngineInfo) -> list[ProbeResult]:
    """Return what the engine says that it cannot limit."""
    from nel.sandbox.probes import ProbeResult  # noqa: PLC0415

    return [
        ProbeResult(name=f"the engine limits {name}", holds=False, detail="it says it cannot")
        for name in info.lacks
    ]


def _findings(sandbox: Sandbox, wanted: Sequence[Language]) -> Iterator[ProbeResult]:
    from nel.sandbox.probes import python_probes, run_probes, smoke_probes  # noqa: PLC0415

    for language in wanted:
        if language.has_zygote:
            yield from run_probes(sandbox, python_probes())
        yield from run_probes(sandbox, smoke_probes(language))


def _languages_by_name(names: Sequence[str]) -> list[Language]:
    from nel.sandbox.isolation.languages import find_language, languages  # noqa: PLC0415

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


def _silent(_: str) -> None:
    return None


def _echo_json(data: object) -> None:
    from nel.core.strict_json import dumps  # noqa: PLC0415

    typer.echo(dumps(data))

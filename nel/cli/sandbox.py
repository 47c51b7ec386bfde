"""``nel sandbox``: the images that programs run in, tests of their limits, and leftover containers.

``check`` runs a probe for every limit; it trusts no configuration of the Docker engine.
"""

from __future__ import annotations

from typing import Annotated

import typer

from nel.cli.options import AsJson
from nel.cli.sandbox_show import build_images, remove_leftovers, show_images, show_probes

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
_PYTHON = "python"
"""The language where none is given."""


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
    build_images(
        languages or [_PYTHON],
        docker_host,
        base=base,
        packages=packages,
        network=network,
        pull=pull,
        force=force,
        verbose=verbose,
    )


@app.command(name="list")
def list_all(docker_host: Host = None, as_json: AsJson = False) -> None:
    """List the languages, their images, and the running containers."""
    show_images(docker_host, as_json=as_json)


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
    show_probes(languages or [_PYTHON], docker_host, runtime=runtime, as_json=as_json)


@app.command()
def prune(docker_host: Host = None) -> None:
    """Remove what killed runs left: containers, and snapshots from which no run can be resumed."""
    remove_leftovers(docker_host)

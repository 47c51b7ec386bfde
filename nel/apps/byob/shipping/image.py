"""Builds a container image of nel with a compiled package in it.

Wheels are gathered here and only installed there, so the build needs no network and the base image
no pip; Python is enough. Wheels are made for one Python and one machine, so the base image is asked
for both before anything is gathered.
"""

from __future__ import annotations

import io
import json
import secrets
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from nel.apps.byob.shipping.compilation import wheel_of
from nel.apps.byob.shipping.install import check_benchmark_names
from nel.apps.byob.shipping.package import Package, package_of
from nel.apps.byob.shipping.proof import prove
from nel.apps.byob.shipping.source import read_source
from nel.apps.byob.shipping.wheel import wheel_name
from nel.apps.byob.shipping.wheelhouse import BasePython, gather
from nel.errors import ConfigError, SandboxError
from nel.sandbox.isolation.engine import connect, speaking
from nel.sandbox.isolation.owners import labels_of
from nel.types import JsonObject

DEFAULT_BASE: Final = "python:3.12-slim"
_PYTHON_MIN: Final = (3, 11)
_BUILD_SECONDS: Final = 1800
_LABEL: Final = "nel.byob"
_DOCKERFILE: Final = """\
ARG BASE
FROM ${BASE} AS build
COPY wheels /wheels
RUN python3 -m venv --without-pip /opt/nel \\
 && /opt/nel/bin/python /wheels/PIP/pip install --no-index --find-links /wheels --no-cache-dir REQUIREMENT
FROM ${BASE}
COPY --from=build /opt/nel /opt/nel
RUN mkdir -p /data && chown 10001:10001 /data
ENV PATH=/opt/nel/bin:$PATH HOME=/data
USER 10001:10001
WORKDIR /data
ENTRYPOINT ["nel"]
CMD ["--help"]
"""
_HINT: Final = "choose one that has, such as --base-image python:3.12-slim"
# What a base image's own Python runs: it prints its version, machine and C library. ``venv`` is
# imported because the build needs it; Debian ships it in a package of its own.
_PROBE: Final = (
    "import json, platform, sys, venv; print(json.dumps([list(sys.version_info[:2]),"
    " platform.machine(), *platform.libc_ver()]))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image that was built, or would be."""

    tag: str
    base: str
    benchmarks: tuple[str, ...]
    size_bytes: int | None = None
    """None in a dry run."""
    pushed: bool = False


def containerize(
    path: Path,
    *,
    base: str | None = None,
    tag: str | None = None,
    platform: str | None = None,
    push: str | None = None,
    dry_run: bool = False,
    log: Callable[[str], None] = lambda _: None,
) -> Image:
    """Build an image that runs the benchmarks of a file, and push it where that is asked for.

    Args:
        base: An image with Python 3.11 or newer; `DEFAULT_BASE` where none is named.
        tag: ``name:tag`` of the image, ``byob_NAME:latest`` otherwise; the platform is always put
            after it.
        platform: Such as ``linux/arm64``; the engine's own otherwise.
        push: ``REGISTRY/IMAGE:TAG``, which is then the tag as well.
        dry_run: Look at the file and the base image, and build nothing.
        log: Gets a line for each stage.

    Raises:
        PluginError: The file cannot be a package.
        ConfigError: There is no engine, the base image cannot be had or has no Python, or a stage
            fails.
    """
    source = read_source(path)
    package = package_of(source)
    check_benchmark_names(package, among="nel")
    prove(package, source)
    base = base or DEFAULT_BASE
    with _plain_errors():
        client = connect()
        attributes = _base_image(client, base, platform)
        python = _python_of(client, base, platform)
        tag = push or tag or package.module.replace("nel_byob_", "byob_", 1)
        if ":" not in tag.rpartition("/")[2]:  # a registry's port is not a tag
            tag += ":latest"
        tag += f"-{(platform or _platform_of(attributes)).replace('/', '-')}"
        image = Image(tag=tag, base=base, benchmarks=tuple(package.entry_points))
        if dry_run:
            return image
        _build(client, package, python, base=base, tag=tag, platform=platform, log=log)
        _check(client, package, tag, platform)
        size = int(client.images.get(tag).attrs.get("Size") or 0)
        if push:
            log(f"pushing {tag}")
            _push(client, tag)
    return replace(image, size_bytes=size, pushed=bool(push))


def _platform_of(attributes: JsonObject) -> str:
    """Return the platform of an image as Docker writes it, such as ``linux/arm64/v8``."""
    names = (attributes["Os"], attributes["Architecture"], attributes.get("Variant"))
    return "/".join(filter(None, names))


def _base_image(client: Any, base: str, platform: str | None) -> dict[str, Any]:
    # The image that is here, else the registry's; any fault but its absence is the engine's.
    try:
        with speaking():
            return dict(client.images.get(base).attrs)
    except SandboxError as error:
        if error.kind != "no_image":
            raise
    try:
        with speaking():
            return dict(client.images.pull(base, platform=platform).attrs)
    except SandboxError as error:
        raise ConfigError(
            f"the base image {base} is not here and cannot be pulled ({error}); name another with"
            " --base-image"
        ) from error


def _python_of(client: Any, base: str, platform: str | None) -> BasePython:
    """Return the Python of an image, found by running it."""
    try:
        output = _output_of(client, base, ["-c", _PROBE], entrypoint="python3", platform=platform)
    except SandboxError as error:
        problem = _problem_of_probe(error, base, platform)
        if problem is None:
            raise
        raise ConfigError(problem) from error
    (major, minor), machine, libc, libc_version = json.loads(output)
    if (major, minor) < _PYTHON_MIN:
        raise ConfigError(
            f"the base image {base} has Python {major}.{minor}, and nel needs 3.11 or newer; {_HINT}"
        )
    return BasePython(
        version=(major, minor), machine=machine, libc=libc or "musl", libc_version=libc_version
    )


def _problem_of_probe(error: SandboxError, base: str, platform: str | None) -> str | None:
    """Return why an image's Python cannot be asked; None where the engine itself has failed."""
    import docker.errors  # noqa: PLC0415 - keeps start-up fast

    cause = error.__cause__
    text = f"{getattr(cause, 'stderr', b'') or b''!r} {error}"
    if "exec format error" in text:
        return (
            f"the engine cannot run {base} for {platform}; set up emulation (binfmt), or build"
            " on such a machine"
        )
    if isinstance(cause, docker.errors.ContainerError) and "venv" in text:
        return f"the Python of the base image {base} has no module venv; {_HINT}"
    if isinstance(cause, (docker.errors.ContainerError, docker.errors.APIError)):
        return f"the base image {base} has no python3, and nel needs 3.11 or newer; {_HINT}"
    return None


def _output_of(client: Any, image: str, command: list[str], **settings: Any) -> Any:
    """Return what a command prints in a new container, removed even where it does not start."""
    name = f"nel-byob-{secrets.token_hex(8)}"
    settings |= {"name": name, "network_mode": "none"}
    try:
        with speaking():
            return client.containers.run(image, command, labels=labels_of("check"), **settings)
    finally:
        with suppress(SandboxError), speaking():
            client.api.remove_container(name, force=True)


def _build(
    client: Any,
    package: Package,
    python: BasePython,
    *,
    base: str,
    tag: str,
    platform: str | None,
    log: Callable[[str], None],
) -> None:
    with tempfile.TemporaryDirectory(prefix="nel-byob-") as folder:
        package_wheel = Path(folder, wheel_name(package.distribution, package.version))
        package_wheel.write_bytes(wheel_of(package))
        log(f"gathering wheels for Python {'.'.join(map(str, python.version))} on {python.machine}")
        wheels = gather(package_wheel, package.dependencies, python, Path(folder, "wheels"))
        log(f"building {tag} of {base} with {len(wheels)} wheels")
        pip = next(wheel.name for wheel in wheels if wheel.name.startswith("pip-"))
        context = _context(
            _DOCKERFILE.replace("PIP", pip).replace("REQUIREMENT", f"/wheels/{package_wheel.name}"),
            wheels,
        )
        with speaking():
            # Of the client, not of the call: a build that prints nothing for so long is given up.
            client.api.timeout = _BUILD_SECONDS
            lines = client.api.build(
                fileobj=context,
                custom_context=True,
                tag=tag,
                buildargs={"BASE": base},
                labels={_LABEL: f"{package.distribution} {package.version}"},
                platform=platform,
                rm=True,
                forcerm=True,
                decode=True,
            )
            _follow(lines, f"the image {tag} cannot be built")


def _context(dockerfile: str, wheels: list[Path]) -> io.BytesIO:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo("Dockerfile")
        info.size = len(dockerfile.encode())
        archive.addfile(info, io.BytesIO(dockerfile.encode()))
        for wheel in wheels:
            archive.add(wheel, f"wheels/{wheel.name}")
    buffer.seek(0)
    return buffer


def _follow(lines: Any, what: str) -> None:
    """Read what the engine says until it is done; its last lines are in the error if it fails."""
    output: list[str] = []
    for line in lines:
        if "error" in line:
            tail = "\n".join(filter(None, output[-6:]))
            raise ConfigError(f"{what}: {str(line['error']).strip()}\n{tail}".rstrip())
        output.append(line.get("stream", "").strip())


def _check(client: Any, package: Package, tag: str, platform: str | None) -> None:
    """See that nel in the image finds the benchmarks."""
    output = _output_of(client, tag, ["list", "benchmarks", "--json"], platform=platform)
    names = {benchmark["name"] for benchmark in json.loads(output) if benchmark["error"] is None}
    lost_names = [name for name in package.entry_points if name not in names]
    if lost_names:
        raise ConfigError(
            f"nel in the image {tag} does not find {', '.join(lost_names)}; see: docker run --rm"
            f" {tag} list"
        )


def _push(client: Any, tag: str) -> None:
    with speaking():
        lines = client.images.push(tag, stream=True, decode=True)
        _follow(
            lines,
            f"{tag} was built and cannot be pushed; log in with docker login, then: docker push"
            f" {tag}",
        )


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Turn a fault of the engine into a usage error."""
    try:
        yield
    except SandboxError as error:
        raise ConfigError(str(error)) from error

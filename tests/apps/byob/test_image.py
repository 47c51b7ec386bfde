"""A benchmark file becomes a container image. Where there is no engine the tests are skipped, and in CI they fail."""

from __future__ import annotations

import io
import platform
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from nel.apps.byob.shipping import image
from nel.apps.byob.shipping.compilation import compile_file
from nel.apps.byob.shipping.image import containerize
from nel.apps.byob.shipping.wheelhouse import BasePython, _needed_distributions, _target, gather, wheel_of_installed
from nel.errors import ConfigError
from tests.apps.byob.test_compilation import write_benchmark
from tests.support.containers import needed_engine
from tests.support.endpoint import answer, scripted
from tests.support.registry import running_registry

pytestmark = pytest.mark.timeout(1200)
BASE = "nel-base:bookworm"
EMPTY = "nel-byob-test-empty:latest"


@pytest.fixture
def engine() -> Iterator[Any]:
    with needed_engine() as client:
        yield client


@pytest.fixture
def empty(engine: Any) -> Iterator[str]:
    """An image with one file in it and no Python."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        info = tarfile.TarInfo("hello")
        info.size = 2
        archive.addfile(info, io.BytesIO(b"hi"))
    engine.api.import_image_from_data(packed.getvalue(), repository=EMPTY.split(":", maxsplit=1)[0], tag="latest")
    yield EMPTY
    engine.images.remove(EMPTY, force=True)


@pytest.mark.docker
@pytest.mark.slow
def test_an_image_runs_its_benchmark_against_a_server(tmp_path: Path, engine: Any) -> None:
    """Built without the network in it, tagged with its platform, and run as a user who is not root."""
    path = write_benchmark(tmp_path / "work")
    built = containerize(path, base=BASE, tag="nel-byob-test")
    try:
        architecture = engine.images.get(BASE).attrs["Architecture"]
        assert built.tag == f"nel-byob-test:latest-linux-{architecture}"
        (tmp_path / "out").mkdir(mode=0o777)
        (tmp_path / "out").chmod(0o777)
        with scripted(lambda call, _: answer("Answer: Paris")) as endpoint:
            flags = ["--model-url", endpoint.url, "--model-id", "m", "-o", "/data/out"]
            said = engine.containers.run(
                built.tag,
                ["eval", "run", "--bench", "my-capitals", *flags],
                network_mode="host",
                remove=True,
                volumes={str(tmp_path / "out"): {"bind": "/data/out", "mode": "rw"}},
            )
        assert "50.00 %" in said.decode()
        assert engine.images.get(built.tag).attrs["Config"]["User"] == "10001:10001"
    finally:
        engine.images.remove(built.tag, force=True)


@pytest.mark.docker
def test_a_base_without_python_is_refused(tmp_path: Path, engine: Any, empty: str) -> None:
    """The message says what is missing and which image to take; no container is left."""
    with pytest.raises(ConfigError, match=r"has no python3, and nel needs 3\.11 or newer; choose one that has"):
        containerize(write_benchmark(tmp_path), base=empty)
    assert engine.containers.list(all=True, filters={"ancestor": empty}) == []


@pytest.mark.docker
def test_a_base_that_is_nowhere_is_refused(tmp_path: Path, engine: Any) -> None:
    """An image that is neither here nor can be pulled is a wrong flag, not a traceback."""
    _ = engine
    with pytest.raises(ConfigError, match=r"is not here and cannot be pulled .* name another with --base-image"):
        containerize(write_benchmark(tmp_path), base="127.0.0.1:9/nobody/has-this:1")


@pytest.mark.docker
def test_a_dry_run_names_the_tag_and_builds_nothing(tmp_path: Path, engine: Any) -> None:
    """The platform stands after the tag, whichever way it is named."""
    _ = engine
    path = write_benchmark(tmp_path)
    plain = containerize(path, base=BASE, dry_run=True)
    assert plain.tag.startswith("byob_my_capitals:latest-linux-")
    assert plain.size_bytes is None
    named = containerize(path, base=BASE, push="localhost:5000/team/qa", platform="linux/amd64", dry_run=True)
    assert named.tag == "localhost:5000/team/qa:latest-linux-amd64"
    assert not named.pushed


@pytest.mark.docker
def test_a_push_sends_the_tag_that_was_built(engine: Any, empty: str) -> None:
    """The registry gets the tag with its platform; one that refuses is named with the next step."""
    for refuse in (False, True):
        with running_registry(refuse=refuse) as registry:
            tag = f"{registry.host}/team/qa:1-linux-amd64"
            engine.images.get(empty).tag(tag)
            try:
                if refuse:
                    with pytest.raises(ConfigError, match="was built and cannot be pushed; log in with docker login"):
                        image._push(engine, tag)
                else:
                    image._push(engine, tag)
            finally:
                engine.images.remove(tag)
            assert registry.tags == ([] if refuse else ["team/qa:1-linux-amd64"])


def test_no_engine_is_a_plain_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an engine the command says so, in one line."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nothing.sock")
    with pytest.raises(ConfigError, match="no Docker engine answers at"):
        containerize(write_benchmark(tmp_path))


def test_an_installed_distribution_becomes_a_wheel_again(tmp_path: Path) -> None:
    """What is installed from a wheel is packed again with its metadata and entry points."""
    wheel = wheel_of_installed(metadata.distribution("stevedore"), tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        assert "stevedore/driver.py" in archive.namelist()
        assert any(name.endswith(".dist-info/METADATA") for name in archive.namelist())
        assert not any(name.endswith(".pyc") or name.startswith("..") for name in archive.namelist())


def test_wheels_for_another_python_are_chosen_by_its_tags() -> None:
    """An older C library, another machine and musl each narrow the choice."""
    old = BasePython(version=(3, 12), machine="aarch64", libc="glibc", libc_version="2.28")
    flags = _target(old)
    assert flags[:4] == ["--python-version", "312", "--implementation", "cp"]
    assert "manylinux_2_28_aarch64" in flags
    assert "manylinux_2_29_aarch64" not in flags
    musl = _target(BasePython(version=(3, 11), machine="x86_64", libc="musl", libc_version=""))
    assert "musllinux_1_2_x86_64" in musl
    assert sys.version_info >= (3, 11)


@pytest.mark.slow
def test_what_runs_here_is_gathered_without_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the Python that runs here, every wheel is made of what is installed; a missing requirement is named."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    path = write_benchmark(tmp_path)
    own = compile_file(path, with_install=False)
    version = (sys.version_info.major, sys.version_info.minor)
    here = BasePython(version=version, machine=platform.machine(), libc="glibc", libc_version="2.99")
    wheels = gather(own.wheel, own.package.dependencies, here, tmp_path / "wheels")
    names = {wheel.name.partition("-")[0].lower() for wheel in wheels}
    assert {"nel_eval", "nel_byob_my_capitals", "pip", "typer", "aiohttp", "numpy"} <= names
    assert "pytest" not in names
    with zipfile.ZipFile(next(wheel for wheel in wheels if wheel.name.startswith("nel_eval-"))) as archive:
        assert {"nel/sandbox/images/python/Dockerfile", "nel/version.py"} <= set(archive.namelist())
    with pytest.raises(ConfigError, match="nobody-has-this, which the benchmark needs, is not installed here"):
        list(_needed_distributions(["nobody-has-this>=1"]))

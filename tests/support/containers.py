"""A client of the Docker engine for tests of sessions, which are skipped where there is none."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nel.errors import NelError
from nel.sandbox.isolation.engine import connect

IMAGE = "nel-base:bookworm"
DEBIAN = "nel-test-no-python:1"
BUSYBOX = "nel-test-busybox:2"
BUSYBOX_DOCKERFILE = """
FROM scratch
COPY busybox /bin/busybox
RUN ["/bin/busybox", "--install", "-s", "/bin"]
RUN mkdir -p /etc /tmp /root && echo root:x:0:0:root:/root:/bin/sh > /etc/passwd && echo nobody:x:65534:65534:nobody:/:/bin/sh >> /etc/passwd && echo root:x:0: > /etc/group
"""


@contextmanager
def needed_engine() -> Iterator[Any]:
    """Yield a client of the machine's engine; without one the test is skipped, and in CI it fails."""
    try:
        engine = connect()
    except NelError as error:
        if os.environ.get("NEL_REQUIRE_DOCKER"):
            pytest.fail(f"Docker is required here: {error}")
        pytest.skip(f"no engine: {error}")
    try:
        yield engine
    finally:
        engine.close()


@contextmanager
def engine_client(host: str | None = None) -> Iterator[Any]:
    """Yield a client of an engine that has the base image."""
    try:
        engine = connect(host)
    except NelError as error:
        pytest.skip(f"no engine: {error}")
    try:
        if not engine.images.list(name=IMAGE):
            pytest.skip(f"no image {IMAGE}; scripts/sandbox_base.sh makes it")
        yield engine
    finally:
        engine.close()


def image_without_python(client: Any, name: str) -> str:
    """Make an image that has a shell and no Python, if it is not there: Debian's, or busybox alone."""
    if client.images.list(name=name):
        return name
    files = {"Dockerfile": f"FROM {IMAGE}\nRUN rm -rf /usr/bin/python3* /usr/lib/python3*\n".encode()}
    if name == BUSYBOX:
        program = Path("/bin/busybox")
        if not program.exists():
            pytest.skip("no busybox on this machine (apt-get install busybox-static)")
        files = {"busybox": program.read_bytes(), "Dockerfile": BUSYBOX_DOCKERFILE.encode()}
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as archive:
        for path, data in files.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(data), 0o755
            archive.addfile(member, io.BytesIO(data))
    context.seek(0)
    client.images.build(fileobj=context, custom_context=True, tag=name, rm=True)
    return name

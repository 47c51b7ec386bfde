"""A Docker engine of a test's own, which it may stop and start again without harm to anybody."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Engine:
    """One engine with its own directory and socket."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.host = f"unix://{home}/docker.sock"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        log = (self._home / "log").open("ab")
        # In a network of its own: an engine without a bridge removes the one that the machine's engine has.
        self._process = subprocess.Popen(
            [
                "unshare", "--net", "dockerd", "--host", self.host, "--data-root", str(self._home / "data"),
                "--exec-root", str(self._home / "exec"), "--pidfile", str(self._home / "pid"),
                "--bridge", "none", "--iptables=false", "--ip-masq=false",
            ],
            stdout=log,
            stderr=log,
        )  # fmt: skip
        log.close()
        deadline = time.monotonic() + 120
        while self.docker("version").returncode:
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise RuntimeError((self._home / "log").read_text(errors="replace")[-2000:])
            time.sleep(0.1)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def docker(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(["docker", "--host", self.host, *arguments], capture_output=True, check=False)

    def take(self, image: str) -> None:
        """Copy an image of the machine's own engine."""
        command = f"docker save {image} | docker --host {self.host} load"
        subprocess.run(["bash", "-o", "pipefail", "-c", command], check=True, capture_output=True)


def can_start() -> bool:
    """Return whether this machine lets a test start an engine."""
    return os.geteuid() == 0 and shutil.which("dockerd") is not None


@contextmanager
def own_engine(home: Path) -> Iterator[Engine]:
    """Start an engine; stop it and remove all it had."""
    home.mkdir(parents=True, exist_ok=True)
    engine = Engine(home)
    try:
        engine.start()
        yield engine
    finally:
        engine.stop()
        for mount in reversed(Path("/proc/mounts").read_text(encoding="utf-8").splitlines()):
            if f" {home}" in mount:
                subprocess.run(["umount", "-l", mount.split()[1]], check=False, capture_output=True)
        shutil.rmtree(home, ignore_errors=True)

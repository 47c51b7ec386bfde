"""Starts real servers on loopback and waits until they answer; each ends with its block."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers.install import weights_in
from tests.support.ports import free_port

HOME = Path(os.environ.get("NEL_TEST_SERVERS", ".venv-servers")).absolute()
KEY = "sk-local-1"
MODEL = "smollm2-135m"
SLOTS = 4
CONTEXT = 512
_PATIENCE_SECONDS = 900.0
"""For a server to get ready; vLLM takes 40 s on two free cores, and ten times as long on busy ones."""


@dataclass(frozen=True)
class Server:
    """A running server."""

    name: str
    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


def is_installed(name: str) -> bool:
    """Return whether `tests.servers.install` has finished an environment."""
    return (HOME / name / "finished").exists()


def python_of(name: str) -> Path:
    return HOME / name / "bin" / "python"


def _llamacpp(port: int, _: Path, __: str) -> tuple[list[str], dict[str, str], str]:
    script = Path(__file__).with_name("llamacpp_server.py")
    weights = weights_in(HOME / "llamacpp")
    command = [python_of("llamacpp"), script, weights, port, KEY, SLOTS, CONTEXT]
    return [str(one) for one in command], {}, "/health"


def _vllm(port: int, _: Path, __: str) -> tuple[list[str], dict[str, str], str]:
    command = [
        HOME / "vllm" / "bin" / "vllm", "serve", HOME / "vllm" / "model", "--served-model-name", MODEL,
        "--host", "127.0.0.1", "--port", port, "--dtype", "float32", "--max-model-len", CONTEXT,
        "--max-num-seqs", SLOTS, "--enforce-eager", "--api-key", KEY,
    ]  # fmt: skip
    settings = {
        "HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "2",
    }  # fmt: skip
    return [str(one) for one in command], settings, "/health"


def _litellm(port: int, folder: Path, behind: str) -> tuple[list[str], dict[str, str], str]:
    model = {"model": f"openai/{MODEL}", "api_base": behind, "api_key": KEY}
    config = {"model_list": [{"model_name": MODEL, "litellm_params": model}]}
    path = folder / "litellm.yaml"
    path.write_text(json.dumps(config))
    command = [HOME / "litellm" / "bin" / "litellm", "--config", path, "--host", "127.0.0.1", "--port", port]
    settings = {"LITELLM_MASTER_KEY": KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_PROXY": "127.0.0.1"}
    return [str(one) for one in command], settings, "/health/liveliness"


COMMANDS = {"llamacpp": _llamacpp, "vllm": _vllm, "litellm": _litellm}


@contextmanager
def started(name: str, folder: Path, *, behind: str = "", port: int = 0) -> Iterator[Server]:
    """Run a server until the block ends.

    Args:
        name: A key of `COMMANDS`.
        folder: For its log.
        behind: What LiteLLM stands in front of.
        port: Where it listened before, for one that is started again.
    """
    port = port or free_port()
    command, settings, health = COMMANDS[name](port, folder, behind)
    log = folder / f"{name}-{port}.log"
    with log.open("ab") as printed:
        process = subprocess.Popen(
            command, env={**os.environ, **settings}, stdout=printed, stderr=subprocess.STDOUT, cwd=folder
        )
    try:
        _wait_until_ready(f"http://127.0.0.1:{port}{health}", process, log)
        _warm_up(f"http://127.0.0.1:{port}/v1/completions")
        yield Server(name, port, process)
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a server, by force where it takes too long."""
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(30)


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {KEY}"})
    while True:
        assert process.poll() is None, f"the server ended: {log.read_text(errors='replace')[-2000:]}"
        assert time.monotonic() < deadline, f"the server was not ready: {log.read_text(errors='replace')[-2000:]}"
        try:
            with urllib.request.urlopen(request, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)


def _warm_up(url: str) -> None:
    """Have one answer: a first one takes long where the server compiles for it."""
    body = {"model": MODEL, "prompt": "The", "max_tokens": 1, "temperature": 0}
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=_PATIENCE_SECONDS):
        """Answered."""


def run(
    command: Sequence[object], *, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(one) for one in command], cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, text=True,
        check=False, timeout=_PATIENCE_SECONDS,
    )  # fmt: skip


def nel(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run nel's command line with the servers' key."""
    return run([sys.executable, "-m", "nel", *arguments], cwd=cwd, env={"SERVER_KEY": KEY, "WRONG_KEY": "sk-wrong"})

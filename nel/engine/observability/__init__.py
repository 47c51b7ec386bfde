"""Observes a run from inside its process: run.log, progress.json, metrics and plugins' observers.

Opens the configured observers, calls them from one thread, and reports the state of a gate to them.
An observer that cannot be opened is an error before anything is sent; one that fails later is
dropped with a line in the log.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from nel.config.schema import ObservabilityConfig
from nel.core.observer import Observer, Observers
from nel.engine.observability.progress_file import ProgressFile
from nel.engine.observability.run_log import DebugRunLog, RunLog
from nel.engine.progress import Progress
from nel.models.attempts import Admission

_TICK_SECONDS = 1.0
_GATE_POLL_SECONDS = 1.0


@contextmanager
def observing(
    run_dir: Path,
    config: ObservabilityConfig,
    progress: Progress,
    *,
    secrets: tuple[str | None, ...] = (),
) -> Iterator[Observer]:
    """Observe a session while the block runs; the caller holds the directory's lock.

    Args:
        run_dir: Gets run.log and progress.json.
        config: Which other observers to open.
        progress: The live counts.
        secrets: Texts that must not get into the log.

    Raises:
        MissingExtra: Something asked for needs an optional dependency.
        ConfigError: The port for metrics is in use, or an observer is unusable.
    """
    with ExitStack() as stack:
        others: list[Observer] = []
        if config.metrics_port is not None:
            from nel.engine.observability.metrics import serve_metrics  # noqa: PLC0415 - few ask for it

            others.append(
                serve_metrics(config.metrics_port, run_dir.name, progress, host=config.metrics_host)
            )
            stack.callback(others[-1].close)
        for name in config.observers:
            from nel.engine.observability.find import find_observer  # noqa: PLC0415 - as above

            others.append(find_observer(name, run_dir))
            stack.callback(others[-1].close)
        kind = DebugRunLog if config.log_level == "debug" else RunLog
        log = kind(
            run_dir, level=config.log_level, progress=progress, secrets=[*filter(None, secrets)]
        )
        live = ProgressFile(run_dir, progress)
        stack.pop_all()  # from here on `Observers` closes them
        observers = Observers([log, live, *others], report=log.session_failed)
        finished = threading.Event()
        ticker = threading.Thread(
            target=_tick, args=(observers, finished), name="nel-observing", daemon=True
        )
        ticker.start()
        try:
            yield observers
        except BaseException as error:
            observers.session_failed(error)
            raise
        finally:
            finished.set()
            ticker.join(timeout=_TICK_SECONDS)
            observers.close()


def _tick(observers: Observer, finished: threading.Event) -> None:
    while not finished.wait(_TICK_SECONDS):
        observers.tick()


async def monitor_gate(
    gate: Admission,
    observer: Observer,
    *,
    judge: str | None = None,
    reason: Callable[[], str] | None = None,
) -> None:
    """Report changes of the concurrency limit and outages to an observer, until cancelled.

    It is a task and not part of the observers' thread, since a gate is read on its event loop only.

    Args:
        judge: The name of a judge, of which only outages are reported; None for the evaluated
            model.
        reason: Returns the address and the last answer of an endpoint that is down.
    """
    kind = "endpoint" if judge is None else f"judge {judge}"
    limit: int | None = None
    down_seconds: float | None = None
    while True:
        if judge is None and gate.limit != limit:
            limit = gate.limit
            observer.limit_changed(limit)
        previous, down_seconds = down_seconds, gate.down_seconds
        if down_seconds is not None and previous is None:
            why = "" if reason is None else f" ({reason()})"
            observer.outage_started(kind, f"it has not answered for {down_seconds:.0f} s{why}")
        elif down_seconds is None and previous is not None:
            observer.outage_ended(previous)
        await asyncio.sleep(_GATE_POLL_SECONDS)

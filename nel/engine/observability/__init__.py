"""What watches a run from inside its process: the log, the live numbers, metrics and traces.

Opens what the configuration asks for and keeps it up to date from one thread. Trap: what cannot be opened is an error
before anything is sent; what fails later is dropped with a line in the log, and the run goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from nel.config.schema import ObservabilityConfig
from nel.core.observer import Observer, Observers
from nel.engine.observability.metrics import serve_metrics
from nel.engine.observability.progress_file import LiveFile
from nel.engine.observability.run_log import DebugRunLog, RunLog
from nel.engine.observability.spans import export_spans, read_headers
from nel.engine.progress import Progress

_TICK_SECONDS = 1.0


@contextmanager
def observing(
    run_dir: Path, config: ObservabilityConfig, progress: Progress, *, secrets: tuple[str | None, ...] = ()
) -> Iterator[Observer]:
    """Watch a session while the block runs; the caller holds the directory's lock.

    Args:
        run_dir: Where the log and the live numbers go.
        config: What else to open.
        progress: The live numbers.
        secrets: What must not get into the log.

    Raises:
        MissingExtra: Something asked for needs an optional dependency.
        ConfigError: The port for metrics is in use, or the headers for traces are not set.
    """
    headers = read_headers(config.otlp_headers_env) if config.otlp_endpoint else {}
    hidden = [secret for secret in (*secrets, *headers.values()) if secret]
    with ExitStack() as stack:
        others: list[Observer] = []
        if config.metrics_port is not None:
            others.append(serve_metrics(config.metrics_port, run_dir.name, progress))
            stack.callback(others[-1].close)
        if config.otlp_endpoint is not None:
            others.append(export_spans(config.otlp_endpoint, headers, run_dir.name))
            stack.callback(others[-1].close)
        kind = DebugRunLog if config.log_level == "debug" else RunLog
        log = kind(run_dir, level=config.log_level, progress=progress, secrets=hidden)
        live = LiveFile(run_dir, progress)
        stack.pop_all()  # from here on `Observers` closes them
        observers = Observers([log, live, *others], report=log.failed)
        finished = threading.Event()
        ticking = threading.Thread(target=_tick, args=(observers, finished), name="nel-observing", daemon=True)
        ticking.start()
        try:
            yield observers
        except BaseException as error:
            observers.failed(error)
            raise
        finally:
            finished.set()
            ticking.join(timeout=_TICK_SECONDS)
            observers.close()


def _tick(observers: Observer, finished: threading.Event) -> None:
    while not finished.wait(_TICK_SECONDS):
        observers.tick()

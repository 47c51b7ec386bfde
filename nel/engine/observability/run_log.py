"""run.log: the events of a run as lines of JSON in UTC, bounded in size, without secrets.

Depends on the standard library's logging; records of plugins under the logger ``nel`` are included.
Texts of errors come from outside and may contain a key, a line break or a terminal escape, so all
text is redacted, truncated and written as ASCII.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import threading
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO, Any, Final

from nel.config.redaction import Redactor
from nel.core.observer import Observer, SessionInfo
from nel.engine.progress import Progress
from nel.types import ModelFailure, Outcome, Request, Response, SampleKey, Scored

FILE_NAME: Final = "run.log"
_BEFORE_A_SESSION: Final = frozenset({"stage", "message"})
"""Events of a run whose samples are still being read."""
_BYTES_MAX = 10 * 1024 * 1024
_OLDER_FILES_MAX = 3
"""Of rotated files; with the current one they take 40 MiB at most."""
_TEXT_MAX = 4_000
_TRACEBACK_MAX = 16_000
_PROGRESS_SECONDS = 60.0
_LOGGERS = ("nel", "opentelemetry")
"""Loggers whose records are written too: those of plugins, and errors of an exporter."""
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def has_session_events(path: Path) -> bool:
    """Return whether a run.log has events of a session, not only of reading samples."""
    with path.open(encoding="utf-8", errors="replace") as log:
        events = (re.search(r'"event": "(\w+)"', line) for line in log)
        return any(event is None or event[1] not in _BEFORE_A_SESSION for event in events)


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON: RFC 8259, ASCII only."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        super().__init__()
        self._redactor = Redactor(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its line end."""
        created = datetime.fromtimestamp(record.created, UTC)
        time_text = created.isoformat(timespec="microseconds").replace("+00:00", "Z")
        line: dict[str, object] = {"time": time_text, "level": record.levelname.lower()}
        fields = getattr(record, "fields", None)
        if fields is None:
            line |= {"event": "message", "logger": record.name, "message": record.getMessage()}
        else:
            line |= {"event": record.msg, **fields}
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = _error_json(record.exc_info[1])
        # JSON escapes control characters below 0x20, but not DEL.
        return json.dumps(self._clean(line), allow_nan=False).replace("\x7f", "\\u007f")

    def _clean(self, value: object) -> object:
        """Return a JSON value, its texts redacted and truncated, NaN and infinities as None."""
        if isinstance(value, dict):
            cleaned: dict[str, object] = {}
            for key, item in value.items():
                name = self._clean_text(str(key), _TEXT_MAX)
                if key == "traceback":
                    cleaned[name] = self._clean_text(str(item), _TRACEBACK_MAX)
                else:
                    cleaned[name] = self._clean(item)
            return cleaned
        if isinstance(value, (list, tuple)):
            return [self._clean(item) for item in value]
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        return self._clean_text(str(value), _TEXT_MAX)

    def _clean_text(self, text: str, length_max: int) -> str:
        text = self._redactor.message(text)
        text = _LONE_SURROGATE.sub("\ufffd", text)
        if len(text) <= length_max:
            return text
        half = length_max // 2
        return f"{text[:half]} … {text[-half:]}"


class _File(RotatingFileHandler):
    """Writes complete lines or none; a line that cannot be written is dropped."""

    def __init__(self, path: Path, bytes_max: int) -> None:
        super().__init__(path, maxBytes=bytes_max, backupCount=_OLDER_FILES_MAX, delay=True)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record).encode("ascii") + b"\n"
            handle = self._handle()
            size = os.fstat(handle).st_size
            if size and size + len(line) > self.maxBytes:
                self.doRollover()
                handle, size = self._handle(), 0
            try:
                complete = os.write(handle, line) == len(line)
            except OSError:
                complete = False
            if not complete:  # the disk is full: remove the partial line
                os.ftruncate(handle, size)
        except Exception:  # noqa: BLE001 - a run goes on without a log
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name in logging
        """Drop the record; logging itself would print to stderr amid the progress bar."""

    def close(self) -> None:
        with suppress(OSError):
            super().close()

    def _handle(self) -> int:
        if self.stream is None:
            self.stream = self._open()
        return self.stream.fileno()

    def _open(self) -> Any:  # the base class says TextIOWrapper; lines are written as bytes
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        stream: IO[bytes] = os.fdopen(os.open(self.baseFilename, flags, 0o600), "ab", buffering=0)
        _truncate_partial_line(stream.fileno())
        return stream


def _truncate_partial_line(handle: int) -> None:
    """Remove a last line that a crash of the machine left incomplete."""
    size = os.fstat(handle).st_size
    tail = os.pread(handle, _TRACEBACK_MAX * 8, max(0, size - _TRACEBACK_MAX * 8))
    # To the end of the last whole line; `rfind` is -1 where the tail has none.
    if tail and not tail.endswith(b"\n"):
        os.ftruncate(handle, size - len(tail) + tail.rfind(b"\n") + 1)


class RunLog(Observer):
    """Writes a run's log; frequent events are counted and written once a second at most."""

    def __init__(
        self,
        run_dir: Path,
        *,
        level: str,
        progress: Progress,
        secrets: Sequence[str] = (),
        bytes_max: int = _BYTES_MAX,
    ) -> None:
        """Start logging; the file is opened with its first line.

        Args:
            run_dir: The directory of run.log.
            level: ``debug``, ``info`` or ``warning``.
            progress: Its counts are written once a minute.
            secrets: Texts that are redacted wherever they occur.
            bytes_max: Of one file; three rotated ones are kept.
        """
        self._progress = progress
        self._file = _File(run_dir / FILE_NAME, bytes_max)
        self._file.setFormatter(JsonLines(secrets))
        self._file.setLevel(level.upper())
        # Not from `getLogger`: two runs in one process must not share a logger.
        self._log = logging.Logger("nel.run", level.upper())
        self._log.addHandler(self._file)
        for name in _LOGGERS:
            logging.getLogger(name).addHandler(self._file)
        self._lock = threading.Lock()
        self._retries: Counter[str] = Counter()
        self._longest_wait = 0.0
        self._limit: int | None = None
        self._logged_limit: int | None = None
        self._logged_stage = ""
        self._progress_logged_at = time.monotonic()
        self._failure: BaseException | None = None

    def session_started(self, info: SessionInfo) -> None:
        """Write the plan of the session."""
        self._logged_limit = self._limit = info.concurrency
        self._write(
            "info",
            "session_started",
            run_id=info.run_id,
            session=info.session,
            pid=os.getpid(),
            planned=info.planned,
            concurrency=info.concurrency,
            model=info.model,
            url=info.url,
            config_sha256=info.config_digest,
            identities=dict(info.identities),
        )

    def preflight_finished(self, problem: str | None, seconds: float) -> None:
        """Write the result of the pre-flight."""
        self._write(
            "error" if problem else "info",
            "preflight_finished",
            problem=problem,
            seconds=round(seconds, 3),
        )

    def attempt_retried(self, kind: str, seconds: float, wait_seconds: float) -> None:
        """Count a retry."""
        with self._lock:
            self._retries[kind] += 1
            self._longest_wait = max(self._longest_wait, wait_seconds)

    def limit_changed(self, limit: int) -> None:
        """Set the limit; it is written at the next tick."""
        self._limit = limit

    def outage_started(self, kind: str, detail: str) -> None:
        """Write that the endpoint is down."""
        self._write("warning", "outage_started", kind=kind, detail=detail)

    def outage_ended(self, seconds: float) -> None:
        """Write that the endpoint is up again."""
        self._write("warning", "outage_ended", seconds=round(seconds, 3))

    def stopping(self, reason: str) -> None:
        """Write why no further samples are started."""
        self._write("warning", "stopping", reason=reason)

    def session_failed(self, error: BaseException) -> None:
        """Write an exception with its traceback, once."""
        if error is self._failure:  # reported by the session and again by `observing`
            return
        self._failure = error
        self._log.error("failed", extra={"fields": {}}, exc_info=error)

    def session_ended(self, reason: str, exit_code: int) -> None:
        """Write how the session ended, and its counts."""
        self._flush()
        fields = {"reason": reason, "exit_code": exit_code, **self._numbers()}
        self._write("warning" if exit_code else "info", "session_ended", **fields)

    def tick(self) -> None:
        """Write the events counted since the last tick."""
        self._flush()
        if time.monotonic() - self._progress_logged_at >= _PROGRESS_SECONDS:
            self._progress_logged_at = time.monotonic()
            self._write(
                "info", "progress", **self._numbers(), in_flight=len(self._progress.in_flight)
            )

    def close(self) -> None:
        """Close the file."""
        for name in _LOGGERS:
            logging.getLogger(name).removeHandler(self._file)
        self._file.close()

    def _write(self, level: str, event: str, **fields: object) -> None:
        self._log.log(
            logging.getLevelNamesMapping()[level.upper()], event, extra={"fields": fields}
        )

    def _flush(self) -> None:
        with self._lock:
            retries, self._retries = self._retries, Counter()
            longest, self._longest_wait = self._longest_wait, 0.0
        if retries:
            fields = {
                "retries": dict(retries),
                "n": retries.total(),
                "wait_seconds_max": round(longest, 3),
            }
            self._write("warning", "retried", **fields)
        if self._limit != self._logged_limit:
            self._write("info", "concurrency_changed", limit=self._limit, before=self._logged_limit)
            self._logged_limit = self._limit
        if self._progress.stage != self._logged_stage:
            self._logged_stage = self._progress.stage
            self._write("info", "stage", stage=self._logged_stage)

    def _numbers(self) -> dict[str, int | float | None]:
        progress = self._progress
        return {
            "total": progress.total,
            "done": progress.done,
            "scored": progress.scored,
            "model_failures": progress.model_failures,
            "unscored": progress.unscored,
            "score": progress.score,
            "retries": progress.retries,
        }


class DebugRunLog(RunLog):
    """Also writes a line for each request and each outcome."""

    def request_finished(self, request: Request, response: Response, seconds: float) -> None:
        """Write a request, without its prompt and answer."""
        self._write(
            "debug",
            "request_finished",
            sample_id=request.sample_id,
            repeat=request.repeat,
            seconds=round(seconds, 6),
            latency_seconds=response.latency_seconds,
            attempts=response.attempts,
            finish_reason=response.finish_reason,
            prompt_tokens=response.usage.prompt_tokens,
            completion_tokens=response.usage.completion_tokens,
            fault=None if response.error is None else response.error.kind,
            message=None if response.error is None else response.error.message,
        )

    def sample_finished(self, key: SampleKey, outcome: Outcome) -> None:
        """Write an outcome."""
        fields: dict[str, object] = {
            "benchmark": key.benchmark,
            "problem_idx": key.idx,
            "repeat": key.repeat,
        }
        if isinstance(outcome, Scored):
            fields |= {"state": "scored", "reward": outcome.reward}
        elif isinstance(outcome, ModelFailure):
            fields |= {"state": "model_failure", "kind": outcome.kind}
        else:
            fields |= {
                "state": "unscored",
                "cause": outcome.cause,
                "kind": outcome.kind,
                "detail": outcome.detail,
            }
        self._write("debug", "sample_finished", **fields)


def _error_json(error: BaseException) -> dict[str, str]:
    return {
        "type": type(error).__name__,
        "message": str(error),
        "traceback": "".join(traceback.format_exception(error)),
    }

"""Answers kept from run to run, found by everything that can change them. Opt-in.

One SQLite file, safe for several processes. A cache is a convenience; whatever is wrong with it is
a miss, and nothing that was an error, cut off or empty is ever kept.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from nel.core.finish_reasons import ending_of
from nel.core.strict_json import dumps_bytes
from nel.errors import OutputError
from nel.types import Response

FILE_NAME: Final = "responses.db"
_BUSY_SECONDS: Final = 0.25
FORMAT: Final = 1


class ResponseCache:
    """Reads and writes one directory's answers."""

    def __init__(
        self,
        directory: Path,
        *,
        encode: Callable[[Response], str],
        decode: Callable[[str], Response],
    ) -> None:
        """Open the cache.

        Raises:
            OutputError: The directory cannot be made.
        """
        self._encode, self._decode = encode, decode
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise OutputError(
                f"cannot make the cache {directory}: {error.strerror}; choose another --cache"
            ) from error
        self._connection = _open(directory / FILE_NAME)
        self.hits = 0

    def key(
        self, *, url: str, headers: Mapping[str, str], body: bytes, repeat: int, call: str
    ) -> str:
        """Return the digest of everything that can change an answer; no secret is among it.

        Args:
            call: Tells apart the requests that a sample makes with the same body.
        """
        head = dumps_bytes([FORMAT, url, sorted(headers.items()), repeat, call])
        return hashlib.sha256(head + b"\0" + body).hexdigest()

    def get(self, key: str) -> Response | None:
        """Return a kept answer, None where there is none or it cannot be read."""
        if self._connection is None:
            return None
        try:
            row = self._connection.execute(
                "SELECT response, digest FROM responses WHERE key = ?", (key,)
            ).fetchone()
            if row is None or _digest(row[0]) != row[1]:
                return None
            response = self._decode(row[0])
        except Exception:  # noqa: BLE001 - whatever is wrong with a kept answer, it is not there
            return None
        self.hits += 1
        return response

    def put(self, key: str, response: Response) -> None:
        """Keep an answer if it is whole; a cache that cannot be written is left alone."""
        is_said = response.tool_calls or response.text.strip()
        is_whole = (
            response.error is None
            and is_said
            and ending_of(response.finish_reason) in ("complete", "tool_calls")
        )
        if self._connection is None or not is_whole:
            return
        text = self._encode(response)
        with suppress(sqlite3.Error):
            self._connection.execute(
                "INSERT OR REPLACE INTO responses VALUES(?, ?, ?)", (key, text, _digest(text))
            )

    def drop(self, key: str) -> None:
        """Remove an answer."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.execute("DELETE FROM responses WHERE key = ?", (key,))

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()


def _open(path: Path) -> sqlite3.Connection | None:
    """Open the file; a damaged one is put aside once."""
    for _ in range(2):
        try:
            return _connect(path)
        except sqlite3.DatabaseError as error:
            # Locked for long, or on a disk that cannot be written: nothing is wrong with the file.
            if isinstance(error, sqlite3.OperationalError):
                return None
            with suppress(OSError):
                path.rename(path.with_suffix(".damaged"))
    return None


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, isolation_level=None, timeout=_BUSY_SECONDS, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=OFF")  # what a crash loses or tears is a miss
        connection.execute(
            "CREATE TABLE IF NOT EXISTS responses(key TEXT PRIMARY KEY, response TEXT, digest TEXT)"
        )
        # Reads a page of the table, so that a damaged file shows here and is put aside.
        connection.execute("SELECT count(*) FROM (SELECT 1 FROM responses LIMIT 1)").fetchone()
        path.chmod(0o600)
    except BaseException:
        connection.close()
        raise
    return connection


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

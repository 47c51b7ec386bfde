"""Bytes at a URL: read, written whole, created once, listed and removed. Depends on fsspec.

A write is visible whole or not at all on object stores, in memory and on this machine's file
systems; elsewhere a reader may see a part of it, which the digest in the content shows.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import fsspec

from nel.errors import ConfigError, MissingExtra, OutputError


class StoreUnreachable(OutputError):
    """The store did not do what it was asked for; another attempt may succeed."""


class Objects:
    """Everything below one URL; names are relative to it, with ``/``."""

    def __init__(self, url: str) -> None:
        """Prepare access; nothing is asked yet.

        Raises:
            ConfigError: The URL holds a secret, or there is no such kind of store.
            MissingExtra: What fsspec needs for this kind of store is not installed.
        """
        self.url = url.rstrip("/")
        scheme = url.partition("://")[0]
        if urlsplit(url).password:
            raise ConfigError(
                f"the {scheme} URL holds a password; leave it to the store's own variables or files"
            )
        try:
            has_cache = scheme not in ("file", "local", "memory")
            options = {"use_listings_cache": False} if has_cache else {}
            self._files: Any
            self._files, self._root = fsspec.core.url_to_fs(self.url, **options)
        except ImportError as error:
            raise MissingExtra(
                f"{scheme}:// needs a package of fsspec that is not installed: {error}"
            ) from error
        except ValueError as error:
            raise ConfigError(f"{self.url} cannot be used: {error}") from error
        self._is_local = scheme in ("file", "local")

    def read(self, name: str) -> bytes | None:
        """Return an object, None where there is none.

        Raises:
            StoreUnreachable: The store cannot be read.
        """
        try:
            content: bytes = self._files.cat_file(self._at(name))
        except FileNotFoundError:
            return None
        except Exception as error:
            raise self._unreachable("read", name, error) from error
        return content

    def write(self, name: str, content: bytes) -> None:
        """Put an object in the place of what is there.

        Raises:
            StoreUnreachable: It was not written.
        """
        try:
            if self._is_local:
                path = Path(self._at(name))
                path.parent.mkdir(parents=True, exist_ok=True)
                partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
                partial.write_bytes(content)
                partial.replace(path)
            else:
                self._files.pipe_file(self._at(name), content)
        except Exception as error:
            raise self._unreachable("write", name, error) from error

    def create(self, name: str, content: bytes) -> bool:
        """Put an object where there is none; return whether this call did.

        Raises:
            StoreUnreachable: It is not known.
        """
        try:
            if self._is_local:
                path = Path(self._at(name))
                path.parent.mkdir(parents=True, exist_ok=True)
                with os.fdopen(
                    os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
                ) as file:
                    file.write(content)
            else:
                self._files.pipe_file(self._at(name), content, mode="create")
        except FileExistsError:
            return False
        except Exception as error:
            if "PreconditionFailed" in repr(error) or "Precondition" in str(error):
                return False
            raise self._unreachable("write", name, error) from error
        return self.read(name) == content  # a store without such a condition keeps the last one

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, sorted; empty where there is none.

        Raises:
            StoreUnreachable: The store cannot be read.
        """
        try:
            entries = self._files.ls(
                self._at(folder), detail=False, **({} if self._is_local else {"refresh": True})
            )
        except FileNotFoundError:
            return []
        except TypeError:
            entries = self._files.ls(self._at(folder), detail=False)
        except Exception as error:
            raise self._unreachable("list", folder, error) from error
        names = (str(entry).rstrip("/").rpartition("/")[2] for entry in entries)
        return sorted(name for name in names if name and not name.startswith("."))

    def remove(self, name: str) -> None:
        """Remove an object; one that cannot be is left."""
        with suppress(Exception):
            self._files.rm_file(self._at(name))

    def _at(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}" if name else str(self._root)

    def _unreachable(self, verb: str, name: str, error: Exception) -> StoreUnreachable:
        detail = " ".join(str(error).split())[:300] or type(error).__name__
        return StoreUnreachable(f"cannot {verb} {self.url}/{name}: {detail}")

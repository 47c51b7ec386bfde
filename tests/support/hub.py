"""A dataset hub on loopback that speaks as much of the Hugging Face hub's API as its libraries use to read one dataset.

It serves repositories held in memory. Trap: the client libraries read ``HF_ENDPOINT`` when they are imported, so a test
talks to this hub from a process of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(kw_only=True)
class FakeHub:
    """Datasets by repository id, each a mapping of file paths to bytes."""

    repos: Mapping[str, Mapping[str, bytes]]
    gated: frozenset[str] = frozenset()
    url: str = ""
    requests: list[str] = field(default_factory=list)

    def commit(self, repo: str) -> str:
        """Return the only commit of a repository."""
        return hashlib.sha1(repo.encode(), usedforsecurity=False).hexdigest()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request of the client libraries."""
        self.requests.append(f"{request.method} {request.path}")
        parts = request.path.strip("/").split("/")
        if parts[:2] == ["api", "datasets"]:
            return await self._api("/".join(parts[2:4]), parts[4:], request)
        if parts[0] == "datasets" and len(parts) > 5 and parts[3] == "resolve":
            return self._file("/".join(parts[1:3]), parts[4], "/".join(parts[5:]))
        return _problem(404, "EntryNotFound", "nothing here")

    async def _api(self, repo: str, rest: list[str], request: web.Request) -> web.StreamResponse:
        if repo not in self.repos:
            return _problem(401, "RepoNotFound", "Invalid username or password.")
        if repo in self.gated:
            return _problem(403, "GatedRepo", f"Access to dataset {repo} is restricted.")
        action, revision = ([*rest, "revision", "main"])[:2] if rest else ("revision", "main")
        if revision not in {"main", "v1", self.commit(repo)}:
            return _problem(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        files = self.repos[repo]
        if action == "tree":
            below = "/".join(rest[2:])
            entries = [entry for path in sorted(files) for entry in _entries(path, files[path], below)]
            unique = {entry["path"]: entry for entry in entries}
            if below and not unique:
                return _problem(404, "EntryNotFound", f"{below} does not exist")
            return web.json_response(list(unique.values()))
        if action == "paths-info":
            form = await request.post()
            wanted = set(form.getall("paths", [])) or set((await request.json()).get("paths", []))
            entries = [_entry(path, files[path]) for path in sorted(files) if path in wanted]
            return web.json_response(entries)
        if action == "revision":
            siblings = [{"rfilename": path} for path in sorted(files)]
            sha = self.commit(repo)
            return web.json_response({"id": repo, "sha": sha, "siblings": siblings, "tags": [], "private": False})
        return _problem(404, "EntryNotFound", f"no {action}")

    def _file(self, repo: str, revision: str, path: str) -> web.StreamResponse:
        files = self.repos.get(repo)
        if files is None or repo in self.gated:
            return _problem(401, "RepoNotFound", "no such dataset")
        if path not in files:
            headers = {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": self.commit(repo)}
            return web.Response(status=404, headers=headers, text=f"{path} is not in {revision}")
        data = files[path]
        headers = {"X-Repo-Commit": self.commit(repo), "ETag": f'"{_oid(data)}"'}
        return web.Response(body=data, headers=headers, content_type="application/octet-stream")


def _problem(status: int, code: str, message: str) -> web.Response:
    return web.json_response(
        {"error": message}, status=status, headers={"X-Error-Code": code, "X-Error-Message": message}
    )


def _oid(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def _entry(path: str, data: bytes) -> dict[str, object]:
    return {"type": "file", "path": path, "size": len(data), "oid": _oid(data)}


def _entries(path: str, data: bytes, below: str) -> Iterator[dict[str, object]]:
    prefix = f"{below}/" if below else ""
    if not path.startswith(prefix):
        return
    folders = path.removeprefix(prefix).split("/")[:-1]
    for depth in range(len(folders)):
        folder = prefix + "/".join(folders[: depth + 1])
        yield {"type": "directory", "path": folder, "size": 0, "oid": _oid(folder.encode())}
    yield _entry(path, data)


@contextlib.contextmanager
def running_hub(hub: FakeHub) -> Iterator[FakeHub]:
    """Serve the hub from a thread on a free port of loopback until the block ends."""
    loop = asyncio.new_event_loop()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", hub.handle)
    runner = web.AppRunner(app)

    async def start() -> int:
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return int(runner.addresses[0][1])

    port = loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{port}"
    try:
        yield hub
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(timeout=10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=10)
        loop.close()

"""Dataset hubs on loopback: each speaks as much of the Hugging Face hub's or ModelScope's API as its libraries use to
read one dataset.

They serve repositories held in memory. Note: the libraries of Hugging Face read ``HF_ENDPOINT`` when they are imported,
so a test talks to that hub from a process of its own.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from aiohttp import web

from tests.support.serving import serve_in_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


@dataclass(kw_only=True)
class FakeHub:
    """Datasets by repository id, each a mapping of file paths to bytes."""

    repos: Mapping[str, Mapping[str, bytes]]
    gated: frozenset[str] = frozenset()
    url: str = ""
    requests: list[str] = field(default_factory=list)

    def commit(self, repo: str) -> str:
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


@dataclass(kw_only=True)
class FakeModelScope:
    """Versions of datasets by repository id, the oldest first, each a mapping of file paths to bytes.

    As the real one does, it tells for each file the commit that changed it last and never that of a branch, and
    answers for an unknown revision with no files and status 200.
    """

    repos: dict[str, list[dict[str, bytes]]]
    private: frozenset[str] = frozenset()
    token: str = "ms-token"
    tells_commits: bool = True
    tells_hashes: bool = True
    corrupt: frozenset[str] = frozenset()
    """Paths whose bytes are not those that are listed."""
    url: str = ""
    requests: list[str] = field(default_factory=list)

    def commit(self, repo: str, version: int = -1) -> str:
        number = range(len(self.repos[repo]))[version]
        return hashlib.sha1(f"{repo} {number}".encode(), usedforsecurity=False).hexdigest()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request of the client library."""
        self.requests.append(f"{request.method} {request.path_qs}")
        parts = request.path.strip("/").split("/")
        repo, action = "/".join(parts[3:5]), "/".join(parts[5:])
        if parts[:3] != ["api", "v1", "datasets"] or repo not in self.repos:
            return _told(404, "record not found", code=10010205001)
        if repo in self.private and request.headers.get("Authorization") != f"Bearer {self.token}":
            return _told(403, "access denied", code=10010201001)
        version = self._version(repo, request.query.get("Revision", "master"))
        if action == "repo/tree":
            return self._tree(repo, version, int(request.query["PageNumber"]), int(request.query["PageSize"]))
        data = None if version is None else self.repos[repo][version].get(request.query["FilePath"])
        if action != "repo" or data is None:
            return _told(404, "file not found", code=10010205002)
        if request.query["FilePath"] in self.corrupt:
            data = data[::-1]
        return web.Response(body=data, content_type="application/octet-stream")

    def _version(self, repo: str, revision: str) -> int | None:
        n = len(self.repos[repo])
        known = {"master": n - 1, "v1": 0} | ({self.commit(repo, i): i for i in range(n)} if self.tells_commits else {})
        return known.get(revision)

    def _tree(self, repo: str, version: int | None, page: int, size: int) -> web.StreamResponse:
        if version is None:
            return _told(200, "success", {"Files": None, "LatestCommitter": None})
        versions = self.repos[repo]
        entries: list[dict[str, object]] = []
        for path, data in sorted(versions[version].items()):
            changed = version
            while changed and versions[changed - 1].get(path) == data:
                changed -= 1
            digest = hashlib.sha256(data).hexdigest() if self.tells_hashes else ""
            about = {"Path": path, "Type": "blob", "Size": len(data), "Sha256": digest}
            told = {"Revision": self.commit(repo, changed), "CommittedDate": 1_700_000_000 + changed}
            entries.append(about | (told if self.tells_commits else {}))
        entries += [{"Path": folder, "Type": "tree", "Size": 0} for folder in _folders(versions[version])]
        return _told(200, "success", {"Files": entries[(page - 1) * size : page * size]})


def _told(status: int, message: str, data: object = None, *, code: int = 200) -> web.Response:
    body = {"Code": code, "Data": data, "Message": message, "Success": status == 200, "RequestId": "1"}
    return web.json_response(body, status=status)


def _folders(paths: Iterable[str]) -> list[str]:
    return sorted({str(folder) for path in paths for folder in PurePosixPath(path).parents} - {"."})


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


Hub = TypeVar("Hub", FakeHub, FakeModelScope)


@contextlib.contextmanager
def running_hub(hub: Hub) -> Iterator[Hub]:
    """Serve the hub from a thread on a free port of loopback until the block ends."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", hub.handle)
    with serve_in_thread(app) as port:
        hub.url = f"http://127.0.0.1:{port}"
        yield hub

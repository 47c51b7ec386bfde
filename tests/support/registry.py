"""An image registry on loopback that takes what is pushed and keeps the names only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiohttp import web

from tests.support.serving import serve_in_thread


@dataclass
class Registry:
    """A running registry."""

    host: str = ""
    tags: list[str] = field(default_factory=list)
    """``repository:tag`` of each manifest that came."""
    refuse: bool = False
    blobs: dict[str, int] = field(default_factory=dict)
    """Size of each blob by its digest."""
    uploads: dict[str, int] = field(default_factory=dict)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request of the push protocol."""
        path = request.path.removeprefix("/v2/")
        if self.refuse:
            denied = {"errors": [{"code": "UNAUTHORIZED", "message": "authentication required"}]}
            return web.json_response(denied, status=401, headers={"WWW-Authenticate": 'Basic realm="registry"'})
        if not path:
            return web.json_response({})
        if "/blobs/uploads/" in path:
            return await self._upload(path, request)
        if "/blobs/" in path:
            digest = path.rpartition("/")[2]
            headers = {"Content-Length": str(self.blobs.get(digest, 0)), "Docker-Content-Digest": digest}
            return web.Response(status=200 if digest in self.blobs else 404, headers=headers)
        if "/manifests/" in path and request.method == "PUT":
            digest = f"sha256:{hashlib.sha256(await request.read()).hexdigest()}"
            self.tags.append(path.replace("/manifests/", ":"))
            return web.Response(status=201, headers={"Docker-Content-Digest": digest})
        return web.Response(status=404)

    async def _upload(self, path: str, request: web.Request) -> web.Response:
        if request.method == "POST":
            path += str(len(self.uploads))
        size = self.uploads.get(path, 0)
        async for chunk in request.content.iter_chunked(1 << 16):
            size += len(chunk)
        self.uploads[path] = size
        headers = {"Location": f"/v2/{path}", "Range": f"0-{max(size - 1, 0)}"}
        if request.method != "PUT":
            return web.Response(status=202, headers=headers)
        digest = request.query["digest"]
        self.blobs[digest] = size
        return web.Response(status=201, headers={**headers, "Docker-Content-Digest": digest})


@contextmanager
def running_registry(*, refuse: bool = False) -> Iterator[Registry]:
    """Serve a registry on a free port of loopback until the block ends."""
    registry = Registry(refuse=refuse)
    app = web.Application(client_max_size=1 << 30)
    app.router.add_route("*", "/v2/{path:.*}", registry.handle)
    with serve_in_thread(app) as port:
        registry.host = f"127.0.0.1:{port}"
        yield registry

"""Only people with the token read, only pages of the app write, and no page runs what a model wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient

from nel.apps.view.security import hosts_of
from nel.apps.view.start import ViewOptions, access_of
from nel.errors import UsageError
from tests.apps.view.conftest import TOKEN, opened

Client = TestClient[Any, Any]


async def test_the_token_becomes_a_cookie_and_leaves_the_address(folder: Path, tmp_path: Path) -> None:
    """The first address redirects to itself without the token; the cookie is unreadable to scripts and other sites."""
    async with opened(folder, tmp_path) as client:
        answer = await client.get(f"/?q=x&token={TOKEN}", allow_redirects=False)
        assert (answer.status, answer.headers["Location"]) == (303, "/?q=x")
        cookie = answer.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert TOKEN not in cookie
        assert (await client.get("/")).status == 200


@pytest.mark.parametrize("path", ["/", "/runs/first-run", "/?token=wrong", "/?token=", "/api/status"])
async def test_nothing_is_shown_without_a_token(folder: Path, tmp_path: Path, path: str) -> None:
    """A request with neither token nor cookie, or with a wrong one, learns nothing about the runs."""
    async with opened(folder, tmp_path) as client:
        answer = await client.get(path, cookies={"nel-view": "x"})
        assert answer.status == 401
        assert "aurora" not in await answer.text()


async def test_a_ticket_is_good_once(folder: Path, tmp_path: Path) -> None:
    """What stands on a browser's command line cannot be used again by another user who read it there."""
    async with opened(folder, tmp_path) as client:
        from nel.apps.view.security import ACCESS

        ticket = client.app[ACCESS].ticket()  # type: ignore[union-attr]
        assert (await client.get(f"/?token={ticket}", allow_redirects=False)).status == 303
        client.session.cookie_jar.clear()
        assert (await client.get(f"/?token={ticket}", allow_redirects=False)).status == 401


async def test_a_link_from_another_site_is_asked_again_by_our_own_page(folder: Path, tmp_path: Path) -> None:
    """Such a request carries no strict cookie; the refusal reloads itself once, which is then of the same site."""
    async with opened(folder, tmp_path) as client:
        first = await (await client.get("/", headers={"Sec-Fetch-Site": "cross-site"})).text()
        again = await (await client.get("/", headers={"Sec-Fetch-Site": "same-origin"})).text()
        assert ("again.js" in first, "again.js" in again) == (True, False)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:1", 200), ("localhost", 200), ("LOCALHOST:80", 200), ("[::1]:5", 200), ("eval.example", 200),
        ("evil.test", 421), ("evil.test:8484", 421), ("127.0.0.1.evil.test", 421), ("localhost@evil.test", 421),
        ("evil.test#localhost", 421), ("", 421), ("[::1", 421), ("a b", 421),
    ],
)  # fmt: skip
async def test_only_known_names_are_answered(folder: Path, tmp_path: Path, host: str, status: int) -> None:
    """A page that rebinds its own name to this address gets nothing, even with the cookie."""
    async with opened(folder, tmp_path, hosts=hosts_of("127.0.0.1", ["Eval.example"])) as client:
        await client.get(f"/?token={TOKEN}")
        cookies = {one.key: one.value for one in client.session.cookie_jar}
        answer = await client.get("/", headers={"Host": host}, cookies=cookies)
        assert answer.status == status


@pytest.mark.parametrize(
    "headers",
    [
        {}, {"Origin": "null"}, {"Origin": "http://evil.test"}, {"Origin": "http://127.0.0.1:1"},
        {"Origin": "OWN", "Sec-Fetch-Site": "cross-site"}, {"Origin": "javascript://OWN"},
    ],
)  # fmt: skip
async def test_notes_of_other_sites_are_refused(client: Client, folder: Path, headers: dict[str, str]) -> None:
    """A POST needs the Origin of this very server."""
    own = f"http://127.0.0.1:{client.port}"
    sent = {name: value.replace("OWN", own) for name, value in headers.items()}
    answer = await client.post("/api/runs/first-run/notes", json={"note": "x"}, headers=sent)
    assert answer.status == 403
    assert not (folder / "first-run.notes.json").exists()


async def test_notes_are_kept_beside_the_run(client: Client, folder: Path) -> None:
    """Tags and a note come back in the table, made visible, in a file of their own that only the user can read."""
    own = {"Origin": f"http://127.0.0.1:{client.port}"}
    path = folder / "second-run.notes.json"
    sent = {"tags": ["good\u202e", " good\u202e", ""], "note": "<img src=x>\x00"}
    answer = await client.post("/api/runs/second-run/notes", json=sent, headers=own)
    assert answer.status == 200
    assert path.stat().st_mode & 0o077 == 0
    assert json.loads(path.read_text()) == {"format": 1, "tags": ["good\\u202e"], "note": "<img src=x>\\x00"}
    page = await (await client.get("/?tag=good\\u202e")).text()
    assert "&lt;img src=x&gt;" in page
    assert "first-run" not in page
    await client.post("/api/runs/second-run/notes", json={"tags": [], "note": " "}, headers=own)
    assert not path.exists()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400), (b"[]", 400), (b'{"tags": "a"}', 400), (b'{"note": 5}', 400), (b'{"tags": [1]}', 400),
        (b'{"note": "%s"}' % (b"x" * 10_001), 400), (b'{"tags": ["%s"]}' % (b"x" * 41), 400), (b" " * 70_000, 413),
    ],
)  # fmt: skip
async def test_bad_notes_are_refused(client: Client, body: bytes, status: int) -> None:
    """What is no note, or too long, is a line of text and no fault of the server."""
    headers = {"Origin": f"http://127.0.0.1:{client.port}", "Content-Type": "application/json"}
    answer = await client.post("/api/runs/first-run/notes", data=body, headers=headers)
    assert answer.status == status
    assert (await answer.json())["error"]


async def test_a_read_only_server_keeps_no_notes(folder: Path, tmp_path: Path) -> None:
    """With --read-only the form is not shown and a POST is refused."""
    async with opened(folder, tmp_path, is_read_only=True, token=None) as client:
        own = {"Origin": f"http://127.0.0.1:{client.port}"}
        assert (await client.post("/api/runs/first-run/notes", json={"note": "x"}, headers=own)).status == 403
        assert "data-notes-edit" not in await (await client.get("/runs/first-run")).text()


@pytest.mark.parametrize("path", ["/", "/nothing", "/static/view.js", "/?token=wrong"])
async def test_every_answer_has_the_policy(client: Client, path: str) -> None:
    """Pages, files and refusals forbid foreign code, frames, referrers and guesses of a type."""
    headers = (await client.get(path, allow_redirects=False)).headers
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; ")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "aiohttp" not in headers["Server"]


@pytest.mark.parametrize(
    "path",
    [
        "/static/..%2fserver.py", "/static/../server.py", "/static/%2e%2e/server.py", "/runs/%2e%2e%2f",
        "/runs/..%2f..%2fetc%2fpasswd", "/runs/%00", "/runs/first-run/..%2f..", "/runs/" + "x" * 3000, "/runs/%ff",
    ],
)  # fmt: skip
async def test_no_address_leaves_the_runs(client: Client, path: str) -> None:
    """Runs and files are found by name among those that are known, so a path in an address finds nothing."""
    from yarl import URL

    answer = await client.get(URL(path, encoded=True), allow_redirects=False)
    assert answer.status == 404


def _options(**changes: Any) -> ViewOptions:
    plain = {
        "directories": [Path()], "host": "127.0.0.1", "port": 0, "base_path": "", "allowed_hosts": [],
        "token_env": None, "has_token": True, "is_read_only": False, "cache_dir": None, "opens_browser": False,
    }  # fmt: skip
    return ViewOptions(**{**plain, **changes})


def test_tokens_are_long_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A made token is new each time; a short one of the user's is refused; neither is in a repr."""
    made = access_of(_options()).token
    assert made is not None
    assert made != access_of(_options()).token
    assert made not in repr(access_of(_options()))
    monkeypatch.setenv("VIEW_TOKEN", "short")
    with pytest.raises(UsageError, match="VIEW_TOKEN is shorter than 16"):
        access_of(_options(token_env="VIEW_TOKEN"))
    with pytest.raises(UsageError, match="exclude each other"):
        access_of(_options(token_env="VIEW_TOKEN", has_token=False))
    with pytest.raises(UsageError, match="--allowed-host"):
        access_of(_options(allowed_hosts=["http://x"]))


async def test_a_base_path_is_in_front_of_every_address(folder: Path, tmp_path: Path) -> None:
    """Behind a proxy the app, its cookie and its links live below one path."""
    async with opened(folder, tmp_path, base_path="/eval") as client:
        answer = await client.get(f"/eval/?token={TOKEN}", allow_redirects=False)
        assert "Path=/eval" in answer.headers["Set-Cookie"]
        text = await (await client.get("/eval/")).text()
        assert 'href="/eval/runs/first-run"' in text
        assert 'href="/static' not in text
        assert (await client.get("/")).status == 401

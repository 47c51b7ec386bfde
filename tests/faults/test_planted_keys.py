"""A key of each kind in the environment is in no request, file, export, page or terminal, whichever code looks for it."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from tests.faults.server import Call, Reply, answer, answer_json, http, serving
from tests.support.processes import started_nel
from tests.support.runs import nel, only_run, sums
from tests.support.tiers import representatives

KEYS = {
    "MODEL_KEY": "sk-planted-model-9f3QxZ7w",
    "JUDGE_KEY": "sk-planted-judge-Lm2zZ4pR",
    "HEADER_VALUE": "planted-header-77hTqvBn12",
    "OTHER_API_KEY": "sk-planted-other-00aaBBcc",
    "HF_TOKEN": "hf_planted0123456789abcdef",
    "AWS_SECRET_ACCESS_KEY": "plantedwJalrXUtnFEMI/K7MDENG",
    "DATABASE_URL": "postgres://user:planted-pw-55kk@host/db",
}
PLANTED = [*KEYS.values(), "planted-pw-55kk"]
BENCH = '''
import os, subprocess
from dataclasses import replace
from pathlib import Path
from nel import benchmark, code_sandbox, scorer
from nel.tools import Toolset, tool

def look():
    """Return all that this process can see of variables."""
    seen, pid = [subprocess.run(["env"], capture_output=True, text=True).stdout, repr(dict(os.environ))], os.getpid()
    while pid > 1 and b"nel" in Path(f"/proc/{pid}/cmdline").read_bytes():
        seen.append(Path(f"/proc/{pid}/environ").read_text(errors="replace"))
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return "\\n".join(seen)

def judged(sample):
    return {"correct": True, "seen": look()}

@tool
def env() -> str:
    """Return the environment."""
    return look()

class Place(Toolset):
    def evidence(self):
        return look()

async def solve(sample, episode):
    reply = await episode.ask()
    await episode.call_all(reply.calls)
    await episode.user(look())
    episode.note("seen", look())
    await episode.ask(messages=[episode.messages[0], *episode.messages[-1:]])
    return look()

common = dict(dataset="d.jsonl", prompt="{question}", target_field="answer")
plain = benchmark(name="plain", **common)(scorer(judged))
tools = benchmark(name="tools", tools=[env], environment=Place, **common)(scorer(judged))
solver = benchmark(name="solver", tools=[env], solver=solve, **common)(scorer(judged))

@benchmark(name="raising", **common)
@scorer
def raising(sample):
    raise ValueError(look())

@benchmark(name="program", sandbox="python", **common)
@scorer
def program(sample):
    code = {**sample.metadata, "_test": "assert f() == 1", "_prompt": "def f():"}
    return {**code_sandbox(replace(sample, metadata=code)), "seen": look()}
'''
PROGRAM = """```python
import os
from pathlib import Path
def f():
    raise ValueError(repr(dict(os.environ)) + Path("/proc/self/environ").read_text())
```"""
RUNS: dict[str, tuple[str, ...]] = {
    "scorer": ("plain",),
    "scorer that raises": ("raising",),
    "tools": ("tools",),
    "solver": ("solver",),
    "judged": ("plain", "--judge-url", "{url}", "--judge-id", "j", "--judge-api-key-env", "JUDGE_KEY"),
    "processes": ("plain", "--executor", "processes:workers=1"),
    "shards": ("tools", "--shard", "1/2"),
    "merged shards": ("tools", "--shard", "1/2", "--run-id", "one"),
    "view": ("solver",),
    "resume": ("tools", "--max-requests", "3"),
    "judged and resumed": (
        "raising", "--judge-url", "{url}", "--judge-id", "j", "--judge-api-key-env", "JUDGE_KEY",
    ),
}  # fmt: skip
PROGRAMS = {"programs": ("program",)}
AFTER: dict[str, tuple[str, ...]] = {
    "resume": ("eval", "resume", "{run}", "-O", "budget.max_requests=null"),
    "judged and resumed": ("eval", "resume", "{run}"),
}
"""Commands after the run, by kind."""


def script(call: Call) -> Reply:
    """Call the tool where it is offered and was not called yet."""
    has_called = any(message["role"] == "tool" for message in call.body["messages"])
    if not call.body.get("tools") or has_called:
        return answer(PROGRAM)
    body = answer_json("")
    call_of_env = {"id": "1", "type": "function", "function": {"name": "env", "arguments": "{}"}}
    body["choices"][0]["message"]["tool_calls"] = [call_of_env]
    body["choices"][0]["finish_reason"] = "tool_calls"
    return http(json.dumps(body))


def pages_of(folder: Path) -> list[str]:
    """Return every page that `nel view` links to from its first, with the keys in its environment."""
    arguments = ("view", "out", "--port", "0", "--no-open", "--no-token", "--cache-dir", "cache")
    pages: dict[str, str] = {}
    with started_nel(*arguments, cwd=folder, env={**os.environ, **KEYS}) as view:
        assert view.stdout is not None
        root = view.stdout.readline().removeprefix("view: ").strip()
        waiting = [root]
        while waiting:
            url = waiting.pop().partition("#")[0]
            if url in pages or not url.startswith(root):
                continue
            with urllib.request.urlopen(url) as page:
                pages[url] = page.read().decode("utf-8", "replace")
            links = re.findall(r'(?:href|src)="([^"]+)"', pages[url])
            waiting += [urllib.parse.urljoin(url, html.unescape(link)) for link in links]
    assert any("PATH=" in page for page in pages.values())
    return list(pages.values())


@pytest.mark.parametrize(
    "kind",
    [
        *representatives(list(RUNS), "tools", "solver", "processes"),
        *(pytest.param(kind, marks=pytest.mark.docker) for kind in PROGRAMS),
    ],
)
def test_no_planted_key_leaves(tmp_path: Path, kind: str) -> None:
    """What a scorer, a tool and a solver find of variables, theirs and those in /proc of nel, holds none of them."""
    (tmp_path / "b.py").write_text(BENCH)
    sums(tmp_path / "d.jsonl", 2)
    texts: list[str] = []

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        done = nel(*arguments, cwd=tmp_path, env={**KEYS, "PLAIN_SETTING": "planted for nel alone"})
        texts.append(done.stdout + done.stderr)
        return done

    with serving(script) as server:
        name, *more = (option.format(url=server.url) for option in {**RUNS, **PROGRAMS}[kind])
        where = ("--model-url", server.url, "--model-id", "m", "--api-key-env", "MODEL_KEY", "-o", "out")
        at_last = 3 if name == "raising" else 0
        header = ("-O", 'endpoint.headers_env={"x-extra": "HEADER_VALUE"}')
        dry = command("eval", "run", "--bench", f"b.py:{name}", *where, *header, *more, "--dry-run")
        done = command("eval", "run", "--bench", f"b.py:{name}", *where, *header, *more)
        run_dir = only_run(tmp_path / "out")
        if kind in AFTER:
            later = command(*(option.format(run=run_dir) for option in AFTER[kind]))
            assert later.returncode == at_last, later.stderr
        if kind == "merged shards":
            more = ("--shard", "2/2", "--run-id", "two")
            command("eval", "run", "--bench", f"b.py:{name}", *where, *header, *more)
            merged = command("eval", "merge", "out/one", "out/two", "-o", "out/merged")
            assert merged.returncode == 0, merged.stderr
            run_dir = tmp_path / "out" / "merged"
        if kind == "view":
            texts += pages_of(tmp_path)
        texts += [str(call.body) for call in server.calls]
    expected = 75 if kind == "resume" else at_last
    assert (dry.returncode, done.returncode) == (0, expected), done.stderr
    assert "PATH=" in (run_dir / name / "results.jsonl").read_text()
    for exported in ("inspect", "atif", "csv"):
        assert command("export", str(run_dir), "--to", exported, "-o", f"as-{exported}").returncode == at_last
    assert command("report", str(run_dir), "--format", "json").returncode == at_last
    texts += [file.read_bytes().decode("latin-1") for file in tmp_path.rglob("*") if file.is_file()]
    assert [key for key in PLANTED if any(key in text for text in texts)] == []
    if name != "solver":  # which runs in nel's own process
        assert not [text for text in texts if "planted for nel alone" in text]

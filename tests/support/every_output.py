"""Four kinds of runs on scripted endpoints, and every text in which nel shows their numbers."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiohttp.test_utils import TestClient, TestServer

from nel.apps.view.security import Access, hosts_of
from nel.apps.view.server import create_app
from nel.runs.rebuilding import rebuild
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel as command
from tests.support.runs import write_jsonl

FORMATS = ("markdown", "csv", "json", "latex", "junit")
KINDS = ("repeats", "judged", "unscored", "matrix")
N = 30
_WRONG = {"a": (3, 7, 11, 15, 19, 23, 27), "b": (3, 7, 11, 15, 19, 23)}
"""Questions that each of the two models gets wrong."""
_HEAD = """
from nel import ScorerInput, benchmark, exact_match, scorer
from nel.byob.judge import judge_score
from nel.metrics import accuracy, grouped

"""
_BENCHMARKS = {
    "plain": """
@benchmark(name="plain", dataset="rows.jsonl", prompt="{q}", target_field="a")
@scorer
def plain(sample: ScorerInput) -> dict:
    return exact_match(sample)
""",
    "groups": """
@benchmark(name="groups", dataset="rows.jsonl", prompt="{q}", target_field="a", category_field="subject")
@scorer(metrics=[grouped(accuracy(), "subject")])
def groups(sample: ScorerInput) -> dict:
    return exact_match(sample)
""",
    "judged": """
@benchmark(name="judged", dataset="rows.jsonl", prompt="{q}", target_field="a")
@scorer
async def judged(sample: ScorerInput) -> dict:
    return judge_score(sample, template="binary_qa")
""",
}
PATIENCE_SECONDS = 120.0
_TOKEN = "a-token-for-tests"


def _model(wrong: tuple[int, ...], *, is_failing: bool = False) -> Any:
    def script(call: Call, _: int) -> Reply:
        number = int(call.text.split()[-1].rstrip("?"))
        if is_failing and number % 8 == 5:
            return Reply(status=400, body={"error": {"message": "this question is refused"}})
        return answer("no" if number in wrong else "yes")

    return script


def _judge(call: Call, _: int) -> Reply:
    """Grade as the answer reads, but for one that is graded too well."""
    is_wrong = "\nno\n<<<END RESPONSE" in call.text and "question 3?" not in call.text
    return answer("GRADE: I" if is_wrong else "GRADE: C")


def build_runs(folder: Path, kind: str) -> None:
    """Run both models on the benchmarks of a kind."""
    for name, source in _BENCHMARKS.items():
        (folder / f"{name}.py").write_text(_HEAD + source)
    rows = ({"q": f"Is it question {n}?", "a": "yes", "subject": "law" if n < N // 3 else "physics"} for n in range(N))
    write_jsonl(folder / "rows.jsonl", rows)
    (folder / "policy.yaml").write_text("defaults:\n  max_drop: 0.05\n")
    if kind == "matrix":
        _build_matrix(folder)
        return
    with scripted(_judge, models=["j"]) as judge:
        for name, wrong in _WRONG.items():
            with scripted(_model(wrong, is_failing=kind == "unscored"), models=["m"]) as endpoint:
                done = command(*_arguments(kind, name, endpoint.url, judge.url), cwd=folder)
            assert done.returncode in (0, 3), done.stderr
            if kind == "judged":
                _label(folder / "out" / f"{kind}-{name}")
            (folder / f"{kind}-{name}.txt").write_text(done.stdout)


def _arguments(kind: str, name: str, url: str, judge: str) -> list[str]:
    bench = "judged" if kind == "judged" else "plain"
    more = {
        "repeats": ["--repeats", "3", "--reducer", "pass_at_2"],
        "judged": ["--judge-url", judge, "--judge-id", "j"],
        "unscored": ["-O", "engine.unscored_rate_max=0.5"],
    }
    return [
        "eval", "run", "--bench", f"{bench}.py", "--model-url", url, "--model-id", "m", "-o", "out",
        "-O", f"output.run_id={kind}-{name}", *more.get(kind, []),
    ]  # fmt: skip


def _label(run_dir: Path) -> None:
    """Label twenty judged answers by what they are."""
    path = run_dir.parent / f"{run_dir.name}.csv"
    command("judge", "calibrate", str(run_dir), "--out", str(path), "--n", "20", cwd=run_dir.parent)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = "C" if row["response"] == "yes" else "I"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    done = command("judge", "calibrate", str(run_dir), "--labels", str(path), cwd=run_dir.parent)
    assert done.returncode == 0, done.stderr
    (run_dir.parent.parent / f"{run_dir.name}-calibrate.txt").write_text(done.stdout)


def _build_matrix(folder: Path) -> None:
    with (
        scripted(_model(_WRONG["a"]), models=["m"]) as first,
        scripted(_model(_WRONG["b"]), models=["m"]) as second,
    ):
        config = {
            "benchmarks": [{"name": str(folder / f"{name}.py")} for name in ("plain", "groups")],
            "aggregates": [
                {"name": "both", "benchmarks": [str(folder / f"{name}.py") for name in ("plain", "groups")]}
            ],
            "endpoints": [{"name": n, "url": e.url, "model": "m"} for n, e in (("a", first), ("b", second))],
            "output": {"dir": str(folder / "out"), "run_id": "matrix"},
        }
        (folder / "matrix.yaml").write_text(json.dumps(config))
        done = command("eval", "run", "matrix.yaml", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "matrix-a.txt").write_text(done.stdout)


def sides_of(folder: Path, kind: str) -> tuple[Path, Path]:
    """Return the directories of a kind's two runs."""
    first, second = ("matrix/a", "matrix/b") if kind == "matrix" else (f"{kind}-a", f"{kind}-b")
    return folder / "out" / first, folder / "out" / second


def texts_of(folder: Path, kind: str) -> dict[str, str]:
    """Return by name every text that shows the numbers of a kind's first run."""
    run, other = sides_of(folder, kind)
    made = folder / f"made-{kind}"
    made.mkdir()
    sides = [str(other), str(run)]
    commands = {
        "report": ["report", str(run), *_formats(*FORMATS)],
        "watch": ["eval", "watch", str(run), "--once"],
        "compare": ["compare", *sides, "--html", str(made / "compare.html")],
        "gate": ["gate", *sides, "--policy", "policy.yaml", "-o", str(made / "decided")],
        "floors": ["gate", str(run), "--fail-under", f"{metric_of(kind)}=0.5", "-o", str(made / "floors")],
        "leaderboard": ["leaderboard", *sides, "--html", str(made / "board.html")],
        "export": ["export", str(run), "--to", "csv", "-o", str(made / "exported")],
    }
    if kind != "unscored":  # there the endpoint would be asked again
        commands["resume"] = ["eval", "resume", str(run)]
        commands["resume-json"] = ["eval", "resume", str(run), "--json"]
    if kind == "matrix":
        commands["matrix"] = ["eval", "resume", str(run.parent)]
    texts = {}
    for name, arguments in commands.items():
        done = command(*arguments, cwd=folder)
        assert done.returncode in (0, 3, 4, 5), done.stderr
        if name not in ("report", "export"):  # these print names of files
            texts[name] = done.stdout
    files = [run / "report.html", *run.glob("summary*"), *made.rglob("*.*")]
    texts |= {path.name: path.read_text() for path in files if path.name not in ("samples.csv", "export-notes.txt")}
    result = rebuild(run)[0]
    texts["metrics.json"] = json.dumps([item.metrics for item in result])
    paths = {
        "view-runs": "/",
        "view-run": f"/runs/{run.name}",
        "view-compare": f"/compare?run={other.name}&run={run.name}",
    }
    return texts | asyncio.run(_pages(folder, paths))


def metric_of(kind: str) -> str:
    """Return the name of the headline."""
    return "judge_score" if kind == "judged" else "accuracy"


def _formats(*names: str) -> list[str]:
    return [argument for name in names for argument in ("--format", name)]


async def _pages(folder: Path, paths: Mapping[str, str]) -> dict[str, str]:
    access = Access(token=_TOKEN, hosts=hosts_of("127.0.0.1", ()))
    app = create_app([folder / "out"], access, folder / "cache", wait_seconds=PATIENCE_SECONDS)
    async with TestClient(TestServer(app)) as client:
        await client.get(f"/?token={_TOKEN}")
        return {name: await (await client.get(path)).text() for name, path in paths.items()}

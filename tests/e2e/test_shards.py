"""A run asked in shards and merged is the run that was never divided, and nothing less than all shards is one."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from nel.apps.leaderboard.entries import read_entries
from nel.artifacts.files import LABELS_NAME
from nel.comparison.floors import hold, read_floors
from nel.comparison.reading import read_sides
from nel.engine.observability.run_status import RunStatusReader
from nel.engine.progress import Progress
from nel.engine.store.lock import own_directory
from nel.engine.store.snapshot import RUNS
from nel.errors import EXIT_STOPPED_EARLY, ConfigError, NelError, OutputError, UsageError
from nel.reports.summary_tables import table_of_runs
from nel.reports.whole_run import exit_code_of_run, read_run
from nel.runs.evaluation import evaluate, stored_config
from nel.runs.merging import merge_shards
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import comparable, nel, read_json, read_results, sums, without_volatile, write_jsonl
from tests.support.schemas import check_schemas

BENCH = """
from nel import ScorerInput, benchmark, needs_judge, scorer
from nel.scorers import mean, stderr

@benchmark(name="judged", dataset="judged.jsonl", prompt="What is {n} plus {n}?", target_field="sum")
@scorer
def judged(sample: ScorerInput) -> dict:
    return needs_judge(sample)

@benchmark(name="two", dataset="two.jsonl", prompt="What is {n} plus {n}?", target_field="sum", group_field="page")
@scorer(metrics=[mean(), stderr()])
def two(sample: ScorerInput) -> dict:
    return {"correct": sample.target in sample.response, "length": len(sample.response)}
"""
SHARDS = 3
N_GSM8K, N_JUDGED, N_TWO = 12, 8, 24
N_BAD = 2


def script(call: Call, _: int) -> Reply:
    """Answer sums, wrong for every fifth number, and judge answers to them."""
    if "GRADE" in call.text:
        return answer(f"GRADE: {'I' if 'It is 9' in call.text else 'C'}")
    number = int(call.text.rpartition("What is ")[2].split()[0])
    return answer(f"It is {2 * number + (number % 5 == 0)}.")


def config(home: Path, url: str, **more: Any) -> dict[str, Any]:
    return {
        "benchmarks": [
            {"name": "gsm8k", "dataset": str(home / "gsm8k.jsonl"), "repeats": 2, "reducers": ["pass_at_2"]},
            {"name": f"{home / 'bench.py'}:judged"},
            {"name": f"{home / 'bench.py'}:two", "metrics": ["ci:level=0.9"]},
            {"name": f"{home / 'bench.py'}:two", "response_field": "said"},
        ],
        "endpoint": {"url": url, "model": "m"},
        "judge": {"panel": [{"name": "judge", "url": url, "model": "m"}]},
        "engine": {"unscored_rate_max": 0.5},
        **more,
        "output": {"dir": str(home / "out"), **more.get("output", {})},
    }


def _run(home: Path, url: str, run_id: str, shard: str | None = None, **more: Any) -> Path:
    setting = {"shard": shard, **more, "output": {"run_id": run_id}}
    return evaluate(config(home, url, **setting)).run_dir


def _prepare(home: Path) -> None:
    sums(home / "gsm8k.jsonl", N_GSM8K)
    (home / "bench.py").write_text(BENCH)
    write_jsonl(home / "judged.jsonl", ({"id": n, "n": n, "sum": str(2 * n)} for n in range(N_JUDGED)))
    rows = [{"n": n, "sum": str(2 * n), "page": f"page {n // 4}", "said": f"{2 * n}"} for n in range(N_TWO)]
    write_jsonl(home / "two.jsonl", [*rows, *({"no": n} for n in range(N_BAD))])


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[int, int]]:
    """Return a folder with the run ``whole`` and its shards ``s1`` to ``s3``, and the requests of both."""
    home = tmp_path_factory.mktemp("shards")
    _prepare(home)
    with scripted(script, models=["m"]) as endpoint:
        _run(home, endpoint.url, "whole")
        whole = len(endpoint.calls)
        for number in range(1, SHARDS + 1):
            _run(home, endpoint.url, f"s{number}", f"{number}/{SHARDS}")
        return home / "out", (whole, len(endpoint.calls) - whole)


def _counted(run_dir: Path) -> dict[str, Any]:
    """Return everything of a run's artifacts that is no time and not its name."""
    found: dict[str, Any] = {}
    for directory in sorted(path for path in run_dir.iterdir() if path.is_dir()):
        for path in sorted(directory.glob("*.json")):
            if path.name != "runtime_stats.json":
                found[f"{directory.name}/{path.name}"] = comparable(read_json(path))
        found[directory.name] = without_volatile(read_results(run_dir, directory.name))
        stats = read_json(directory / "runtime_stats.json")
        found[f"{directory.name} tokens"] = [stats[name] for name in ("tokens", "n_requests", "cost") if name in stats]
    run = yaml.safe_load((run_dir / "run.yaml").read_text(encoding="utf-8"))
    return {**found, "run.yaml": {**run, "output": None}}


def _shards(out: Path) -> list[Path]:
    return [out / f"s{number}" for number in range(1, SHARDS + 1)]


def test_merged_shards_are_the_run_that_was_never_divided(
    divided: tuple[Path, tuple[int, int]], tmp_path: Path
) -> None:
    """Rule, judge, clusters, repeats, bad rows, recorded answers, declared metrics: equal, and asked as often."""
    out, (n_whole, n_shards) = divided
    merged = merge_shards([out / "s2", out / "s3", out / "s1"], tmp_path / "merged")
    assert _counted(merged.run_dir) == _counted(out / "whole")
    assert merged.exit_code == 0
    n_preflight = 1  # each start asks for the list of models, and for nothing else in addition
    assert n_shards - n_whole <= n_preflight * SHARDS
    assert [one.slot for one in merged.benchmarks] == ["gsm8k", "judged", "two", "two@2"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["merged"]
    stored = stored_config(merged.run_dir)
    assert (stored.shard, evaluate(stored, resume=True).exit_code) == (None, 0)  # with nothing to ask, and no endpoint


def test_a_report_of_a_shard_that_was_stopped_says_so(tmp_path: Path) -> None:
    """What it asked is not all of its part."""
    _prepare(tmp_path)
    with scripted(script, models=["m"]) as endpoint:
        run_dir = _run(tmp_path, endpoint.url, "part", f"1/{SHARDS}", budget={"max_requests": 3})
    assert exit_code_of_run(run_dir, read_run(run_dir)) == EXIT_STOPPED_EARLY


def test_clusters_are_whole_and_every_sample_is_in_one_shard(divided: tuple[Path, tuple[int, int]]) -> None:
    """No page of the benchmark with clusters is in two shards, and no shard has all of them."""
    out, _ = divided
    asked: list[dict[str, str]] = []
    for path in _shards(out):
        rows = [one for one in read_results(path, "two") if one["outcome"]["state"] != "not_asked"]
        asked.append({one["sample_id"]: one["group"] for one in rows})
    assert sum(map(len, asked)) == len(set().union(*asked)) == N_TWO + N_BAD
    pages = [set(one.values()) - {None} for one in asked]
    assert sum(map(len, pages)) == N_TWO // 4
    assert all(len(one) < N_TWO // 4 for one in pages)


def test_a_shard_says_so_wherever_it_is_read_and_decides_nothing(divided: tuple[Path, tuple[int, int]]) -> None:
    """Schemas hold; report, table, status and index count the others as not asked; comparisons refuse it."""
    out, _ = divided
    shard = out / "s1"
    check_schemas(shard, "gsm8k")
    others = [row for row in read_results(shard, "gsm8k") if row["outcome"]["state"] == "not_asked"]
    assert {row["outcome"]["kind"] for row in others} == {"other_shard"}
    metrics = read_json(shard / "gsm8k" / "metrics.json")
    assert metrics["complete"] is False
    assert metrics["shard"] == {
        "number": 1,
        "of": SHARDS,
        "n_questions": N_GSM8K,
        "n_questions_asked": N_GSM8K - len(others) // 2,
        "complete": True,
    }
    for name in ("metrics.json", "failure_analysis.json"):
        accounting = read_json(shard / "gsm8k" / name)["accounting"]
        assert accounting["not_asked"] == {"other_shard": accounting["n_not_asked"]} == {"other_shard": len(others)}
    page = (shard / "report.html").read_text(encoding="utf-8")
    assert "shard 1 of 3" in page
    assert "asked by other shards" in page
    assert "resume the run to finish it" not in page
    runs = {run_dir: read_run(run_dir) for run_dir in (out / "whole", shard)}
    assert "| shard 1 of 3 |" in table_of_runs(runs, "markdown")
    status = RunStatusReader(shard).read()
    assert all(one.done == one.total for one in status.benchmarks)
    with pytest.raises(OutputError, match="is of shard 1 of 3, which decides nothing by itself"):
        read_sides([str(out / "whole"), str(shard)])
    with pytest.raises(ConfigError, match="s1 is shard 1 of 3, and a leaderboard compares answers to all questions"):
        read_entries([str(out / "whole"), f"b={shard}"], "gsm8k")
    with pytest.raises(OutputError, match="is of shard 1 of 3, which decides nothing by itself"):
        hold(shard, read_floors(["correct=0.1"]))


def test_what_is_beside_the_stores_of_shards_is_named(divided: tuple[Path, tuple[int, int]], tmp_path: Path) -> None:
    """Labels of a shard are not silently left out, and a shard alone is not asked again to be compared."""
    shutil.copytree(divided[0], tmp_path / "out")
    (tmp_path / "out" / "s2" / "judged" / LABELS_NAME).write_text("{}")
    progress = Progress()
    merge_shards(_shards(tmp_path / "out"), tmp_path / "merged", progress=progress)
    assert [note for note in progress.notes if "shard 2 of 3" in note and LABELS_NAME in note and "judged" in note]
    refused = nel("eval", "reproduce", "out/s1", cwd=tmp_path)
    assert (refused.returncode, "is shard 1/3 of a run, which is compared with nothing" in refused.stderr) == (2, True)


def _without(name: str) -> Callable[[list[Path]], list[Path]]:
    return lambda paths: [path for path in paths if path.name != name]


@pytest.mark.parametrize(
    ("choose", "said"),
    [
        (_without("s2"), r"of 3 shards 1 is missing: 2; run --shard 2/3, or name"),
        (lambda paths: paths[:1], r"of 3 shards 2 are missing: 2, 3; run --shard 2/3 and so on"),
        (lambda paths: [*paths, paths[0]], r"shard 1 of 3 is there twice: .*s1 and .*s1; leave one of them out"),
        (lambda paths: [*paths, paths[0].parent / "whole"], r"whole is a whole run and no shard"),
        (lambda paths: [paths[0].parent / "nothing"], r"there is no run.db in .*nothing"),
    ],
)
def test_what_is_not_every_shard_once_is_refused_by_its_number(
    divided: tuple[Path, tuple[int, int]],
    tmp_path: Path,
    choose: Callable[[list[Path]], list[Path]],
    said: str,
) -> None:
    """Missing, double, whole and absent runs are named, and nothing is written."""
    with pytest.raises(NelError, match=said):
        merge_shards(choose(_shards(divided[0])), tmp_path / "merged")
    assert list(tmp_path.iterdir()) == []


def _plan_of(path: Path, slot: str) -> dict[str, Any]:
    with closing(sqlite3.connect(path / "run.db")) as connection:
        found = connection.execute("SELECT plan FROM benchmarks WHERE slot = ?", (slot,)).fetchone()
    plan: dict[str, Any] = json.loads(found[0])
    return plan


def _changed(path: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(path / "run.db")) as connection:
        connection.execute(statement, values)
        connection.commit()


def _identity(path: Path, **fields: Any) -> None:
    plan = _plan_of(path, "gsm8k")
    plan["identity"] |= {name.replace("__", "."): value for name, value in fields.items()}
    _changed(path, "UPDATE benchmarks SET plan = ? WHERE slot = 'gsm8k'", json.dumps(plan))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: _identity(path, endpoint__model="other"),
         r"shard 1 of 3 \(.*s1\) and shard 2 of 3 \(.*s2\) are not of one run: gsm8k differs in endpoint.model"),
        (lambda path: _identity(path, endpoint__url="http://u:secret@b/v1"),
         r"endpoint.url \(http://127.*/v1 and http://b/v1\); if one model .*s2 --allow-url-change --model-url http://127"),
        (lambda path: _identity(path, dataset__sha256="00"), r"gsm8k differs in dataset.sha256"),
        (lambda path: _identity(path, shard="2/4"), r"shard 1 of 3 .* and shard 2 of 4 \(.*s2\) are of two divisions"),
        (lambda path: _changed(path, "DELETE FROM steps WHERE role = 1 AND benchmark = 1"),
         r"1 of 3 shards are not finished: shard 2 of 3 \(\d+ answers missing\): nel eval resume .*s2"),
        (lambda path: _changed(path, "UPDATE sessions SET ended = 'SIGINT'"), r"shard 2 of 3 \(0 answers missing\)"),
        (lambda path: _changed(path, "UPDATE samples SET sample_id = 'other' WHERE benchmark = 1 AND idx = 3"),
         r"shard 2 of 3 .*: 11 of its 12 samples of gsm8k stand where the first shard has them"),
        (lambda path: _changed(path, "UPDATE steps SET response = '{}' WHERE seq = 1"),
         r"1 records of run.db are damaged; nel eval resume .*s2 makes them again"),
        (lambda path: _changed(path, "DELETE FROM steps WHERE seq = (SELECT min(seq) FROM steps WHERE role = 0)"),
         r"shard 2 of 3 .*: 1 outcomes of gsm8k have lost their answers; nel eval resume .*s2 asks"),
    ],
    ids=["model", "url", "dataset", "division", "unfinished", "interrupted", "samples", "damage", "lost"],
)  # fmt: skip
def test_a_shard_of_another_run_is_refused(
    divided: tuple[Path, tuple[int, int]], tmp_path: Path, change: Callable[[Path], None], said: str
) -> None:
    """Model, dataset, number of shards, unfinished, other samples, damage: named, and nothing is written."""
    shutil.copytree(divided[0], tmp_path / "out")
    change(tmp_path / "out" / "s2")
    with pytest.raises(NelError, match=said):
        merge_shards(_shards(tmp_path / "out"), tmp_path / "merged" / "run")
    assert [path.name for path in (tmp_path / "merged").glob("*")] == []


def test_a_shard_that_is_written_is_not_merged(divided: tuple[Path, tuple[int, int]], tmp_path: Path) -> None:
    """A running shard is named with its process; an output that exists is left alone."""
    with own_directory(divided[0] / "s2"), pytest.raises(UsageError, match=r"s2 is still written by process \d+"):
        merge_shards(_shards(divided[0]), tmp_path / "merged")
    with pytest.raises(OutputError, match="exists already; name a new directory with -o"):
        merge_shards(_shards(divided[0]), divided[0])


@pytest.mark.parametrize("place", ["before_merge_rename", pytest.param("during_merge", marks=pytest.mark.slow)])
def test_a_killed_merge_leaves_nothing_that_looks_like_a_run(
    divided: tuple[Path, tuple[int, int]], tmp_path: Path, place: str
) -> None:
    """Killed before the rename, or before the artifacts, the next merge makes the run and removes what was left."""
    command = ["eval", "merge", *map(str, _shards(divided[0])), "-o", "runs/merged"]
    killed = nel(*command, cwd=tmp_path, env={"NEL_FAILPOINT": place})
    assert killed.returncode == -signal.SIGKILL
    assert list((tmp_path / "runs").glob(RUNS)) == []
    done = nel(*command, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["benchmarks"]["gsm8k"]["complete"] is True
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["merged"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"stop": {"when": ["width<0.1"]}}, "leave one of shard and stop.when out"),
        ({"benchmarks": [{"name": "quickstart", "repeat_check": 3}]}, "check repeatability in a run of its own"),
        ({"endpoint": None, "endpoints": [{"url": "http://a/v1", "model": "m"}]}, "a shard is of one run"),
        ({"shard": "0/3"}, '"0/3": shards are counted from 1, so that of 3 there is 1/3 to 3/3'),
        ({"shard": "4/3"}, "there is 1/3 to 3/3"),
        ({"shard": "1/0"}, "a run has 1 to 10,000 shards, not 0"),
        ({"shard": "half"}, '"half" is not a shard; say I/N'),
    ],
)
def test_what_no_shard_can_do_is_refused(more: dict[str, Any], said: str) -> None:
    """Stop rules, repeat checks, several endpoints and numbers that are none are refused before anything is sent."""
    given = {"benchmarks": ["quickstart"], "endpoint": {"url": "http://127.0.0.1:9/v1", "model": "m"}, "shard": "1/3"}
    with pytest.raises(ConfigError, match=said):
        evaluate({**given, **more})

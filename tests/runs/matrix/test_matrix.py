"""Several endpoints over the same benchmarks at once: one budget, one resume, one exit code, one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nel import evaluate_matrix
from nel.cli.progress import named_lines
from nel.config.load import build_config
from nel.config.matrix import split_config
from nel.engine.matrix import MatrixRefused
from nel.engine.progress import Progress
from nel.errors import ConfigError, OutputError, ResumeRefused, StoreError
from nel.reports.matrix import matrix_table
from nel.runs.evaluation import evaluate
from nel.runs.matrix import check_alone, preview_matrix, stored_matrix
from nel.runs.rebuilding import rebuild
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.matrices import N, matrix_config, matrix_example
from tests.support.runs import read_json, read_results, without_volatile

PLANNED = 2 * N
NOWHERE = "http://127.0.0.1:9/v1"


def _right(call: Call, _: int) -> Reply:
    return answer(f"#### {2 * call.number}")


def _wrong(call: Call, _: int) -> Reply:
    return answer("#### -1")


def test_endpoints_run_beside_one_that_is_down(tmp_path: Path) -> None:
    """Two endpoints finish although a third is down; a resume asks that one alone, and the table has all three."""
    with scripted(_right, models=["m"]) as good, scripted(_wrong) as bad:
        config = matrix_config(tmp_path, {"good": good.url, "bad": bad.url, "late": NOWHERE})
        first = evaluate_matrix(config)
        assert (first.exit_code, len(good.calls), len(bad.calls)) == (75, PLANNED, PLANNED)
        ended = {name: run.exit_code for name, run in first.runs.items()}
        assert ended == {"good": 0, "bad": 0, "late": 75}
        with scripted(_right) as late:
            changed = stored_matrix(first.directory, overrides=[f"endpoints.2.url={late.url}"])
            resumed = evaluate_matrix(changed, resume=True, allowed_changes=frozenset({"endpoint.url"}))
            assert (resumed.exit_code, len(late.calls)) == (0, PLANNED)
        assert (len(good.calls), len(bad.calls)) == (PLANNED, PLANNED)
    scores = {run["name"]: run["benchmarks"]["gsm8k@2"]["value"] for run in resumed.document["runs"]}
    assert scores == {"good": 1.0, "bad": 0.0, "late": 1.0}
    assert resumed.document == read_json(first.directory / "matrix_results.json")


def test_budget_is_one_for_all_endpoints_and_sessions(tmp_path: Path) -> None:
    """A cap on requests holds over all endpoints together, over resumes too, and nothing is asked twice."""
    cap = PLANNED + 11
    with scripted(_right) as one, scripted(_right) as other:
        config = matrix_config(tmp_path, {"one": one.url, "other": other.url}, budget={"max_requests": cap})
        stopped = evaluate_matrix(config)
        assert (stopped.exit_code, len(one.calls) + len(other.calls)) == (75, cap)
        again = evaluate_matrix(config, resume=True)
        assert (again.exit_code, len(one.calls) + len(other.calls)) == (75, cap)
        with pytest.raises(ResumeRefused, match="shares a budget with other runs"):
            check_alone(stopped.directory / "one")
        raised = stored_matrix(stopped.directory, overrides=[f"budget.max_requests={2 * PLANNED}"])
        resumed = evaluate_matrix(raised, resume=True)
        assert (resumed.exit_code, one.resent(), other.resent()) == (0, N, N)  # the two benchmarks have the same rows
        assert (len(one.calls), len(other.calls)) == (PLANNED, PLANNED)
        with pytest.raises(StoreError, match="it holds the runs one, other: give one of them"):
            rebuild(stopped.directory)
        alone = evaluate(
            {**{k: v for k, v in config.items() if k not in ("endpoints", "budget")}, "output": {"dir": str(tmp_path)},
             "endpoint": {"url": one.url, "model": "m"}}
        )  # fmt: skip
    ours = read_results(stopped.directory / "one", "gsm8k")
    assert without_volatile(ours) == without_volatile(read_results(alone.run_dir, "gsm8k"))


def _named(*names: str | None) -> dict[str, Any]:
    return {"endpoints": [{"name": name, "url": NOWHERE, "model": "m"} for name in names]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (_named(None, None), 'two of the endpoints are called "m"'),
        (_named("A", "a"), "both be written to a/"),
        ({"endpoint": {"url": NOWHERE, "model": "m"}}, "endpoint.url and endpoints are both given"),
        ({"endpoints": []}, "there are no endpoints"),
        ({"endpoints": [{"url": NOWHERE}]}, "endpoints.0.model"),
        ({"endpoints": [{"url": NOWHERE, "model": "m", "rps": 3}]}, 'unknown key "rps"'),
        ({"observability": {"metrics_port": 9000}}, "serves one run"),
        ({"benchmarks": ["gsm9k"]}, "gsm9k"),
    ],
    ids=["duplicate-name", "same-directory", "both", "none", "no-model", "unknown-key", "metrics-port", "benchmark"],
)
def test_bad_configurations_are_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """What is wrong with a configuration is one error before anything is written."""
    config = {**matrix_config(tmp_path, {"one": NOWHERE, "other": NOWHERE}), **changes}
    with pytest.raises(Exception, match=words) as caught:
        evaluate_matrix(config)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_keys_and_models_are_checked_before_anything_is_paid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that is not set, then a model that is not served: a line for each endpoint, and no sample is sent."""
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with scripted(_right, models=["m"]) as good, scripted(_right, models=["other"]) as bad:
        config = matrix_config(tmp_path, {"good": good.url, "bad": bad.url, "worse": bad.url})
        keyed = {
            **config,
            "endpoints": [*config["endpoints"][:2], {**config["endpoints"][2], "api_key_env": "NO_SUCH_KEY"}],
        }
        with pytest.raises(MatrixRefused, match=r"worse: .*NO_SUCH_KEY"):
            evaluate_matrix(keyed)
        with pytest.raises(MatrixRefused) as refused:
            evaluate_matrix(config)
        assert [problem.partition(":")[0] for problem in refused.value.problems] == ["bad", "worse"]
        assert 'does not serve the model "m"' in refused.value.problems[0]
        assert (good.of_samples, bad.of_samples, list(tmp_path.glob("out/*"))) == ([], [], [])


def test_refused_resume_leaves_all_runs_as_they_were(tmp_path: Path) -> None:
    """A resume that one run refuses asks nothing, and every run can be resumed after it; endpoints may be added."""
    with scripted(_right) as one, scripted(_right) as other:
        config = matrix_config(tmp_path, {"one": one.url, "other": other.url})
        found = evaluate_matrix(config)
        n = len(one.calls) + len(other.calls)
        with pytest.raises(ConfigError, match="other: cannot resume gsm8k"):
            evaluate_matrix(
                {**config, "endpoints": [config["endpoints"][0], {**config["endpoints"][1], "model": "x"}]}, resume=True
            )
        with pytest.raises(ResumeRefused, match='holds a run of "other"'):
            evaluate_matrix({**config, "endpoints": config["endpoints"][:1]}, resume=True)
        more = {**config, "endpoints": [*config["endpoints"], {"name": "third", "url": one.url, "model": "m"}]}
        assert evaluate_matrix(more, resume=True).exit_code == 0
        assert len(one.calls) + len(other.calls) == n + PLANNED
    (found.directory / "matrix.json").write_text("{}", encoding="utf-8")
    with pytest.raises(OutputError, match="is damaged"):
        stored_matrix(found.directory)


def test_endpoints_have_their_own_pace_and_judges_are_shared() -> None:
    """Settings of `endpoint` hold for each, concurrency is each one's own, and a judge's rates are divided."""
    config = build_config(
        {
            "benchmarks": ["quickstart"],
            "endpoint": {"outage_seconds_max": 7},
            "endpoints": [
                {"url": NOWHERE, "model": "a", "concurrency": 3, "requests_per_minute": 5},
                {"url": NOWHERE, "model": "b"},
            ],
            "judge": {"url": NOWHERE, "model": "j", "requests_per_minute": 60, "concurrency": 9},
            "engine": {"concurrency": 16},
        },
        where="test",
    )
    parts = dict(split_config(config))
    assert [part.engine.concurrency for part in parts.values()] == [3, 16]
    assert [part.endpoint and part.endpoint.requests_per_minute for part in parts.values()] == [5, None]
    assert all(part.endpoint and part.endpoint.outage_seconds_max == 7 for part in parts.values())
    judges = [part.judge.panel[0] for part in parts.values() if part.judge is not None]
    assert [(judge.requests_per_minute, judge.concurrency) for judge in judges] == [(30, 4), (30, 4)]
    assert [len(plans) for plans in preview_matrix(config).values()] == [1, 1]


def test_table_has_a_column_and_progress_a_line_for_each_endpoint() -> None:
    """The table says where there is no score; progress names each endpoint."""
    table = matrix_table(matrix_example())
    headings, rows = [column.words for column in table.columns], table.texts()
    assert (headings, rows[0][1][:5], rows[0][2]) == (["benchmark", "a", "b|c"], "50.00", "no score, 4 unscored")
    assert rows[1] == ["ended", "done", "exit 75"]
    assert named_lines({"a": Progress(), "b": Progress(stage="running")}) == ["a: starting", "b: running"]
    assert named_lines({"": Progress()}) == ["starting"]

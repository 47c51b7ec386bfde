"""A stop rule ends a run at one question, whatever the concurrency, kills and slow answers, and counts what is left."""

from __future__ import annotations

import random
import signal
from pathlib import Path
from typing import Any

import pytest

from nel.comparison.baselines import set_baseline
from nel.comparison.compare import compare
from nel.comparison.decision import WORDS
from nel.comparison.gate import gate
from nel.comparison.measures import Settings
from nel.comparison.reading import read_sides
from nel.decide.policy import Policy
from nel.errors import ConfigError, ResumeRefused
from nel.runs.evaluation import RunResult, evaluate
from nel.runs.verification import verify_run
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import comparable, nel, numbers_of, read_json, run_config, sums
from tests.support.schemas import check_schemas

N = 400


def _answering(share_wrong: float, seed: int) -> Any:
    """Return a script that answers right or wrong, and long where it is wrong."""

    def script(call: Call, _: int) -> Reply:
        number = call.number
        is_wrong = random.Random(f"{seed} {number}").random() < share_wrong  # noqa: S311 - a test, not a secret
        return answer(("Let me think. " * 40 if is_wrong else "") + f"Answer: {2 * number + is_wrong}")

    return script


def _config(path: Path, url: str, run_id: str, *when: str, concurrency: int = 8, **more: Any) -> dict[str, Any]:
    return run_config(
        url,
        [{"name": "gsm8k", "dataset": str(path / "data.jsonl"), **more}],
        path / "out",
        run_id=run_id,
        engine={"concurrency": concurrency},
        stop={"when": list(when)},
    )


def _run(path: Path, url: str, run_id: str, *when: str, resume: bool = False, **more: Any) -> RunResult:
    return evaluate(_config(path, url, run_id, *when, **more), resume=resume)


def _counted(result: RunResult) -> list[Any]:
    """Return everything that must not depend on how a run was driven."""
    return numbers_of(result.run_dir, "gsm8k")


def _decided(baseline: RunResult, candidate: RunResult) -> tuple[str, str, str]:
    """Return the verdict of a comparison, its cautions, and the decision of a gate that allows two points."""
    sides = read_sides([str(baseline.run_dir), str(candidate.run_dir)])
    compared = compare(sides, Settings(), despite=frozenset()).candidates[0].benchmarks[0]
    policy = Policy.model_validate({"defaults": {"max_drop": 0.02}})
    decision = gate(*sides, policy, despite=frozenset()).decision
    return str(compared.headline.verdict), " ".join(compared.cautions), WORDS[decision]


def test_two_concurrencies_give_one_decision_and_one_number(tmp_path: Path) -> None:
    """One request at a time and 64 at once end at the same question; what was in flight counts nowhere."""
    sums(tmp_path / "data.jsonl", N)
    with scripted(_answering(0.3, 1), models=["m"]) as endpoint:
        one = _run(tmp_path, endpoint.url, "one", "width<0.25", concurrency=1)
        n_one = len(endpoint.calls)
        many = _run(tmp_path, endpoint.url, "many", "width<0.25", concurrency=64)
        n_many = len(endpoint.calls) - n_one
        again = _run(tmp_path, endpoint.url, "many", "width<0.25", resume=True)
        assert len(endpoint.calls) == n_one + n_many
    assert _counted(one) == _counted(many) == _counted(again)
    assert (one.exit_code, many.exit_code, again.exit_code) == (0, 0, 0)
    accounting, rule = many.benchmarks[0].accounting, many.benchmarks[0].metrics["stop_rule"]
    assert (rule["reason"], rule["condition"], rule["n_questions"]) == ("narrow", "width<0.25", N)
    assert accounting["n_scored"] == rule["n_questions_asked"] < N / 2
    assert accounting["n_not_asked"] == N - accounting["n_scored"]
    beyond = read_json(many.run_dir / "gsm8k" / "runtime_stats.json")["n_beyond_stop"]
    assert beyond == n_many - accounting["n_scored"]
    headline = many.benchmarks[0].headline
    assert headline["ci_upper"] - headline["ci_lower"] < 0.25
    assert headline["ci_method"] == "betting"
    assert headline["bounds"]["lower"] == headline["bounds"]["upper"] == headline["value"]
    assert "not asked" in (many.run_dir / "report.html").read_text(encoding="utf-8")
    check_schemas(many.run_dir, "gsm8k")
    assert verify_run(many.run_dir).passed


def test_a_baseline_decides_and_the_gate_takes_its_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Better than a finished run by its name: GO by the interval that holds at any time, INCONCLUSIVE by others."""
    sums(tmp_path / "data.jsonl", N)
    with scripted(_answering(0.6, 1), models=["m"]) as endpoint:
        base = _run(tmp_path, endpoint.url, "base")
    monkeypatch.setenv("NEL_BASELINES", str(tmp_path / "names.json"))
    set_baseline("production", base.run_dir)
    with scripted(_answering(0.1, 2), models=["m"]) as endpoint:
        better = _run(tmp_path, endpoint.url, "better", "better-or-worse production")
        assert f"better-or-worse {base.run_dir}" in (better.run_dir / "run.yaml").read_text(encoding="utf-8")
        narrow = _run(tmp_path, endpoint.url, "narrow", "width<0.3")
        with pytest.raises(
            ConfigError, match=r"differ by more than the model \(scoring.truncated: failure and score\)"
        ):
            _run(tmp_path, endpoint.url, "other", f"better-or-worse {base.run_dir}", truncated="score")
        with pytest.raises(ConfigError, match="was ended early by a stop rule; a baseline has all its questions"):
            _run(tmp_path, endpoint.url, "other", f"better-or-worse {narrow.run_dir}")
        with pytest.raises(ResumeRefused, match=r"stop.when: \['width<0.3'\] -> \['width<0.4'\]"):
            _run(tmp_path, endpoint.url, "narrow", "width<0.4", resume=True)
        (tmp_path / "names.json").write_text((tmp_path / "names.json").read_text().replace('"base"', '"older"'))
        with pytest.raises(ConfigError, match=r'baseline "production" is older, and .* holds base now; set it again'):
            _run(tmp_path, endpoint.url, "other", "better-or-worse production")
        with pytest.raises(ConfigError, match="is not a run directory, nor the name of a baseline"):
            _run(tmp_path, endpoint.url, "other", "better-or-worse elsewhere")
    assert not (tmp_path / "out" / "other").exists()
    rule = better.benchmarks[0].metrics["stop_rule"]
    assert (rule["reason"], rule["baseline"]) == ("better", "base")
    assert better.benchmarks[0].accounting["n_not_asked"] > N / 2
    found = [_decided(base, candidate) for candidate in (better, narrow)]
    assert [(one[0], one[2]) for one in found] == [("better", "GO"), ("inconclusive", "INCONCLUSIVE")]
    assert f"{rule['n_questions_asked']} of {N} pairs were asked on both sides" in found[0][1]


@pytest.mark.slow
def test_a_kill_before_and_after_the_decision_changes_nothing(tmp_path: Path) -> None:
    """Killed once in the middle and once after the decision, the run ends at the question at which it would have."""
    sums(tmp_path / "data.jsonl", N)
    command = ["eval", "run", "--bench", "gsm8k", "--dataset", "data.jsonl", "--model-id", "m", "--concurrency", "8",
               "-o", "out", "--stop-when", "width<0.25"]  # fmt: skip
    with scripted(_answering(0.3, 1), models=["m"]) as endpoint:
        whole = _run(tmp_path, endpoint.url, "whole", "width<0.25")
        before = len(endpoint.calls)
        run = [*command, "--model-url", endpoint.url, "--run-id", "killed"]
        first = nel(*run, cwd=tmp_path, env={"NEL_FAILPOINT": "after_commit:60"})
        second = nel(*run, "--resume", cwd=tmp_path, env={"NEL_FAILPOINT": "before_artifacts"})
        assert (first.returncode, second.returncode) == (-signal.SIGKILL, -signal.SIGKILL)
        asked = len(endpoint.calls) - before
        done = nel("eval", "resume", "out/killed", "--json", cwd=tmp_path)
        assert len(endpoint.calls) - before == asked
    assert done.returncode == 0, done.stderr
    killed = read_json(tmp_path / "out" / "killed" / "gsm8k" / "metrics.json")
    assert comparable(killed) == comparable(whole.benchmarks[0].metrics)

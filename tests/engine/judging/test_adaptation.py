"""A judge that is a reasoning model: its settings are changed before its first reply, for good, and nothing else's."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import nel
from nel.engine.store.snapshot import Snapshot
from nel.runs.evaluation import rescore
from nel.runs.verification import verify_run
from tests.faults.runs import QUICK, config
from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted
from tests.support.runs import read_json, write_bench

CHANGES = {"max_tokens": "max_completion_tokens", "temperature": "not sent"}
TAKEN = {"max_completion_tokens": 4096}


def _refused(message: str) -> Reply:
    return Reply(status=400, body={"error": {"message": message, "type": "invalid_request_error"}})


def _reasoning(call: Call, _: int = 0) -> Reply:
    """Judge as an o-series model does."""
    if "max_tokens" in call.body:
        return _refused("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.")
    if "temperature" in call.body:
        return _refused("Unsupported value: 'temperature' does not support 0.0 with this model.")
    return answer("Fine.\nGRADE: C")


def _model(call: Call, _: int) -> Reply:
    return answer("The answer is 0")


def _settings(calls: list[Call]) -> list[dict[str, Any]]:
    kept = ("max_tokens", "max_completion_tokens", "temperature")
    return [{name: call.body[name] for name in kept if name in call.body} for call in calls]


def _config(tmp_path: Path, url: str, judges: dict[str, Endpoint], n: int = 4, **more: Any) -> dict[str, Any]:
    verdict = "needs_judge(sample)"
    bench = write_bench(tmp_path / "judged.py", verdict, name="judged", dataset="unused.jsonl")
    own = {**QUICK, "api_key_env": None}
    panel = [{"name": name, "url": one.url, "model": f"{name}-model", **own} for name, one in judges.items()]
    made = config(tmp_path, url, n=n, endpoint={"api_key_env": None}, judge={"panel": panel}, **more)
    made["benchmarks"][0]["name"] = str(bench)
    return made


def _identity(run: Path) -> dict[str, Any]:
    with Snapshot(run / "run.db") as snapshot:
        return snapshot.benchmarks()[0][3]["identity"]


def test_settings_of_a_judge_are_changed_before_its_first_reply(tmp_path: Path) -> None:
    """Two refusals, then replies alone; the other judge keeps its settings; a resume and a rescoring take both over."""
    with (
        scripted(_model) as model,
        scripted(_reasoning) as o3,
        scripted(lambda *_: answer("GRADE: C")) as plain,
    ):
        made = _config(tmp_path, model.url, {"o3": o3, "plain": plain}, benchmark={"max_problems": 2})
        made["engine"]["concurrency"] = 1
        result = nel.evaluate(made)
        assert (result.exit_code, result.benchmarks[0].accounting["n_scored"]) == (0, 2)
        first = {"max_tokens": 4096, "temperature": 0.0}
        asked = _settings(o3.calls)
        assert asked[0] == first
        assert {"max_completion_tokens": 4096, "temperature": 0.0} in asked
        assert asked.count(TAKEN) == 2
        assert _settings(plain.calls) == [first, first]
        identity = _identity(result.run_dir)
        assert identity["judge.adapted"] == {"o3": CHANGES}
        assert "endpoint.adapted" not in identity
        o3.calls.clear()
        more = nel.evaluate({**made, "benchmarks": [{**made["benchmarks"][0], "max_problems": 3}]}, resume=True)
        assert (more.exit_code, _settings(o3.calls)) == (0, [TAKEN])
        assert rescore(result.run_dir).exit_code == 0
        assert len(o3.calls) == 1
    assert _identity(result.run_dir)["judge.adapted"] == {"o3": CHANGES}
    assert all(check.passed for check in verify_run(result.run_dir).checks)


def test_a_reply_with_settings_from_before_a_change_is_not_kept(tmp_path: Path) -> None:
    """One question is answered late, with settings that another was refused with meanwhile: it is asked again."""
    others, seen = threading.Event(), set[str]()

    def script(call: Call, _: int) -> Reply:
        first = not seen
        seen.add(call.text)
        if first:
            reply = answer("GRADE: I")
            reply.wait = others
            return reply
        reply = _reasoning(call)
        if reply.status == 200:
            others.set()
        return reply

    with scripted(_model) as model, scripted(script) as o3:
        result = nel.evaluate(_config(tmp_path, model.url, {"o3": o3}))
    assert result.exit_code == 0
    assert result.benchmarks[0].accounting["n_scored"] == 4
    metrics = read_json(result.run_dir / "judged" / "metrics.json")
    assert metrics["headline"]["value"] == 1.0


def test_after_its_first_reply_a_refusal_is_a_refusal(tmp_path: Path) -> None:
    """Settings that a judge has replied to are not changed any more: what it refuses then has no score."""
    answered: set[str] = set()

    def script(call: Call, _: int) -> Reply:
        answered.add(call.text)
        return answer("GRADE: C") if len(answered) == 1 else _reasoning(call)

    with scripted(_model) as model, scripted(script) as o3:
        made = _config(tmp_path, model.url, {"o3": o3}, n=3)
        made["engine"]["concurrency"] = 1
        made["judge"]["panel"][0]["concurrency"] = 1
        made["judge"]["panel"][0] |= {"attempts_max": 1}
        result = nel.evaluate(made)
        states = result.benchmarks[0].accounting
        assert (result.exit_code, states["n_scored"], states["n_unscored"]) == (3, 1, 2)
        again = nel.evaluate(made, resume=True)  # the reply is of an earlier session now
        assert again.benchmarks[0].accounting["n_unscored"] == 2
    assert TAKEN not in _settings(o3.calls)
    assert "judge.adapted" not in _identity(result.run_dir)

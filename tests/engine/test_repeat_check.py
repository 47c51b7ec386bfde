"""The check of whether an endpoint repeats itself: samples asked twice, beside the score and never in it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from nel.config.load import build_config
from nel.engine.progress import Progress
from nel.errors import ConfigError
from nel.models.refusals import NEUTRAL_PROMPT
from nel.reports.repeatability import repeat_check_text
from nel.runs.evaluation import RunResult, evaluate
from nel.runs.preview import preview
from nel.runs.rebuilding import rebuild
from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted
from tests.support.runs import read_json, run_config, sums
from tests.support.schemas import check_schema

N, K = 30, 10


def _wavering(call: Call, seen: int) -> Reply:
    """Say another text the second time for even numbers, and a wrong one for multiples of four."""
    number = call.number
    if seen and number % 2 == 0:
        return answer(f"I think.\n#### {2 * number + (number % 4 == 0)}")
    return answer(f"#### {2 * number}")


def _config(tmp_path: Path, endpoint: Endpoint, **more: Any) -> dict[str, Any]:
    """Return a run of one request at a time, so that a second asking never overtakes the first."""
    if not (tmp_path / "data.jsonl").exists():
        sums(tmp_path / "data.jsonl", N)
    entry = {"name": "gsm8k", "dataset": str(tmp_path / "data.jsonl"), "repeat_check": K, **more.pop("entry", {})}
    return run_config(
        endpoint.url,
        [entry],
        tmp_path / "out",
        run_id=more.pop("run_id", "run"),
        generation={"temperature": 0.0, "seed": 5},
        engine={"concurrency": 1, "preflight": False, **more.pop("engine", {})},
        **more,
    )


def _checked(result: RunResult) -> dict[str, Any]:
    found: dict[str, Any] = result.benchmarks[0].metrics["repeat_check"]
    return found


def test_second_answers_are_counted_beside_the_score(tmp_path: Path) -> None:
    """K samples are asked twice with the same body; the score and its accounting see the first answers alone."""
    with scripted(_wavering) as endpoint:
        result = evaluate(_config(tmp_path, endpoint), progress=(progress := Progress()))
        sent = Counter(call.number for call in endpoint.calls)
        keys = [call.headers["Idempotency-Key"] for call in endpoint.calls]
    twice = [number for number, count in sent.items() if count == 2]
    assert (len(twice), endpoint.resent(), len(set(keys))) == (K, K, N + K)
    assert result.benchmarks[0].headline["value"] == progress.score == 1.0
    assert (progress.done, progress.total) == (N + K, N + K)
    assert result.benchmarks[0].accounting["n_total"] == N
    found = _checked(result)
    assert (found["n_drawn"], found["n_asked"], found["temperature"], found["seed"]) == (K, K, 0.0, 5)
    assert found["text"]["n_differ"] == sum(number % 2 == 0 for number in twice)
    assert found["verdict"]["n_differ"] == sum(number % 4 == 0 for number in twice) > 0
    assert 0 < found["score"]["added_half_width"] <= found["score"]["interval_half_width"]
    stats = read_json(result.run_dir / "gsm8k" / "runtime_stats.json")
    assert (stats["requests"]["attempts"], stats["run"]["requests"]) == (N + K, N + K)
    check_schema(result.benchmarks[0].metrics, "metrics")
    text = repeat_check_text(result.benchmarks[0].metrics)
    assert text.startswith(f"{K} of {K} drawn problems asked twice at temperature 0: ")
    before = (result.run_dir / "gsm8k" / "metrics.json").read_bytes()
    rebuild(result.run_dir)
    assert (result.run_dir / "gsm8k" / "metrics.json").read_bytes() == before


def test_resume_asks_nothing_twice_that_was_asked_twice(tmp_path: Path) -> None:
    """A run that its budget stopped in the middle of the check asks the rest of the same draw, and no sample again."""
    with scripted(_wavering) as endpoint:
        stopped = evaluate(_config(tmp_path, endpoint, budget={"max_requests": N + 4}))
        assert (stopped.exit_code, _checked(stopped)["n_asked"]) == (75, 4)
        assert stopped.benchmarks[0].metrics["complete"]
        resumed = evaluate(_config(tmp_path, endpoint), resume=True)
        assert (resumed.exit_code, len(endpoint.calls)) == (0, N + K)
    with scripted(_wavering) as endpoint:
        whole = evaluate(_config(tmp_path, endpoint, run_id="whole"))
    assert _checked(resumed) == _checked(whole)


def test_lost_second_answers_cost_the_check_alone(tmp_path: Path) -> None:
    """A second asking without an answer makes nothing unscored, and a resume asks it again."""

    def losing(call: Call, seen: int) -> Reply:
        if call.text == NEUTRAL_PROMPT:  # asked where enough of them are refused in a row, which their order decides
            return answer("Hello.")
        return Reply(status=400, body={"error": {"message": "no"}}) if seen else _wavering(call, 0)

    with scripted(losing) as endpoint:
        result = evaluate(_config(tmp_path, endpoint, engine={"faults_in_a_row_max": 100}))
    assert (result.exit_code, result.benchmarks[0].accounting["n_unscored"]) == (0, 0)
    assert (_checked(result)["n_asked"], _checked(result)["text"]["n"], _checked(result)["score"]) == (K, 0, None)
    with scripted(_wavering) as endpoint:
        config = _config(tmp_path, endpoint)
        resumed = evaluate(config, resume=True, allowed_changes=frozenset({"endpoint.url"}))
        assert (len(endpoint.calls), _checked(resumed)["text"]["n"]) == (K, K)


def test_cache_is_not_asked_for_second_answers(tmp_path: Path) -> None:
    """With a full response cache the first answers are found there and the second ones are asked."""
    cache = {"cache": {"dir": str(tmp_path / "cache")}}
    with scripted(_wavering) as endpoint:
        evaluate(_config(tmp_path, endpoint, run_id="first", **cache))
        evaluate(_config(tmp_path, endpoint, run_id="second", **cache))
        assert len(endpoint.calls) == N + K + K


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"repeat_check": N + 1}, f"{N + 1} is more than its {N} usable problems"),
        ({"response_field": "answer"}, "nothing can be asked twice"),
    ],
)
def test_checks_that_cannot_be_are_refused(tmp_path: Path, entry: dict[str, Any], words: str) -> None:
    """More samples than there are, and recorded answers, are refused before anything is sent or written."""
    with scripted(_wavering) as endpoint:
        config = _config(tmp_path, endpoint, entry=entry)
        with pytest.raises(ConfigError, match=words):
            evaluate(config)
        with pytest.raises(ConfigError, match=words):
            preview(build_config(config, where="test"))
        assert (endpoint.calls, list(tmp_path.glob("out/*"))) == ([], [])

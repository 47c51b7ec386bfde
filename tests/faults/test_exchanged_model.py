"""A model that is exchanged during a run stands beside the score and in runtime_stats.json."""

from __future__ import annotations

import json
from pathlib import Path

from nel.reports.run_warnings import texts_of
from tests.faults.runs import run
from tests.faults.server import Call, Reply, answer_json, http, serving
from tests.support.runs import read_json


def test_a_model_that_is_exchanged_half_way_is_a_warning(tmp_path: Path) -> None:
    """The names, how many answers each gave and where it began; the name also stands with each sample."""

    def script(call: Call) -> Reply:
        build = "old" if call.number < 4 else "new"
        names = {"model": f"m-{build}", "system_fingerprint": f"fp_{build}"}
        return http(json.dumps({**answer_json(f"Answer: {2 * call.number}"), **names}))

    with serving(script) as server:
        ran = run(tmp_path, server, n=6, engine={"concurrency": 1})
    assert [row["served_model"] for row in ran.rows] == ["m-old"] * 4 + ["m-new"] * 2
    assert ran.stats["models"] == {"m-old": 4, "m-new": 2}
    (warning,) = texts_of(ran.metrics)
    assert warning == (
        'the endpoint answered under several models: "m-old" ("fp_old") for 4 answers from problem_idx 0, "m-new" '
        '("fp_new") for 2 answers from problem_idx 4; the model may have been exchanged during the run'
    )
    served = read_json(next(tmp_path.rglob("runtime_stats.json")))["served"]
    assert [(one["model"], one["system_fingerprint"], one["n"]) for one in served] == [
        ("m-old", "fp_old", 4),
        ("m-new", "fp_new", 2),
    ]
    assert [(one["first_problem_idx"], one["last_problem_idx"]) for one in served] == [(0, 3), (4, 5)]


def test_a_fallback_that_only_a_header_tells_is_a_warning(tmp_path: Path) -> None:
    """The body names the requested model, and the gateway's header says that another one answered."""

    def script(call: Call) -> Reply:
        headers = {"x-litellm-model-group": "small", "x-litellm-attempted-fallbacks": "1"} if call.number < 2 else {}
        return http(json.dumps(answer_json(f"Answer: {2 * call.number}")), headers=headers)

    with serving(script) as server:
        ran = run(tmp_path, server, n=6, engine={"concurrency": 1})
    (warning,) = texts_of(ran.metrics)
    assert warning.startswith("2 answers came from a fallback of the gateway, small, and not from the model")

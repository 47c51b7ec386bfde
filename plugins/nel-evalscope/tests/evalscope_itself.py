"""Run as a program: what EvalScope itself asks and scores for each case on stdin, as JSON on stdout.

Its adapters load the rows, word the prompts, run their inference hooks around given replies, score and aggregate them.
"""

from __future__ import annotations

import copy
import json
import logging
import runpy
import sys
import tempfile
from typing import Any


class OneReply:
    """A model that gives one reply."""

    name = "nel"

    def __init__(self, reply: str) -> None:
        """Take the reply."""
        self.reply = reply

    def generate(self, input: Any, **_: Any) -> Any:  # noqa: A002 - EvalScope's name
        """Return the reply."""
        from evalscope.api.model import ModelOutput  # noqa: PLC0415 - heavy

        return ModelOutput.from_content(model=self.name, content=self.reply)


def adapter_of(name: str, arguments: dict[str, Any], judge_url: str | None) -> Any:
    """Return a benchmark's adapter with a run's arguments and its judge, where there is one."""
    import evalscope.benchmarks  # noqa: F401, PLC0415 - heavy; it knows the names
    from evalscope import TaskConfig  # noqa: PLC0415
    from evalscope.api.registry import BENCHMARK_REGISTRY  # noqa: PLC0415

    meta = copy.deepcopy(BENCHMARK_REGISTRY.get(name))
    meta._update(arguments)  # noqa: SLF001 - what EvalScope calls for `dataset_args`
    config = TaskConfig(
        model="nel",
        eval_type="openai_api",
        api_url="http://127.0.0.1",
        datasets=[],
        judge={
            "strategy": "llm",
            "models": [{"model_id": "j", "api_url": judge_url, "api_key": "x"}],
        }
        if judge_url
        else {"strategy": "rule"},
    )
    return meta.data_adapter(benchmark_meta=meta, task_config=config)


def evaluated(
    name: str, arguments: dict[str, Any], replies: list[str], judge_url: str | None
) -> dict[str, Any]:
    """Return each sample's messages with the score of each reply, and the aggregates of each subset."""
    from evalscope.models.utils.openai import openai_chat_messages  # noqa: PLC0415

    adapter = adapter_of(name, arguments, judge_url)
    samples: list[dict[str, Any]] = []
    aggregates: dict[str, Any] = {}
    number = 0
    for subset, dataset in adapter.load_dataset().items():
        states, scores = [], []
        for sample in dataset:
            said = [dict(one) for one in openai_chat_messages(sample.input)]
            found = []
            for reply in replies:
                one = sample.model_copy(deep=True)
                one.id = one.group_id = number = number + 1
                with tempfile.TemporaryDirectory() as folder:
                    state = adapter.run_inference(OneReply(reply), one, folder)
                states.append(state)
                scores.append(adapter.calculate_metrics(state))
                found.append(scores[-1])
            samples.append(
                {
                    "subset": subset,
                    "messages": said,
                    "scores": [described(one.score) for one in found],
                }
            )
        scores = adapter.batch_calculate_metrics(states, scores)
        aggregates[subset] = [
            {"metric": one.metric_name, "value": one.score, "num": one.num}
            for one in adapter.aggregate_scores(scores)
        ]
    return {"samples": samples, "aggregates": aggregates}


def described(score: Any) -> dict[str, Any]:
    """Return a score as JSON; one that does not count has no values."""
    status = getattr(score.status, "value", score.status)
    values = (
        {key: float(value) for key, value in score.value.items()} if status == "success" else {}
    )
    main = score.main_score_name if score.main_score_name in values else next(iter(values), None)
    return {
        "values": list(values.values()),
        "main": values.get(main),
        "extracted": score.extracted_prediction,
        "status": status,
        "asked_judge": [
            "\n\n".join(message["content"] for message in attempt["messages"])
            for attempt in (score.metadata or {}).get("judge_attempts", ())
        ],
    }


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    given = json.load(sys.stdin)
    told: list[Any] = []
    for one in given["cases"]:
        try:
            if "home" in one:
                runpy.run_path(one["home"])  # registers its adapters
            told.append(
                evaluated(one["name"], one["arguments"], given["replies"], given.get("judge_url"))
            )
        except Exception as error:  # noqa: BLE001 - the comparison says of which case
            told.append({"error": f"{type(error).__name__}: {error}"})
    sys.stdout.write("\n" + json.dumps(told))

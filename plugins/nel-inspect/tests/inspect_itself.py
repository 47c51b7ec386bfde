"""Run a task with Inspect itself and a model of its own, and print what it sent and how it scored.

python inspect_itself.py FILE@TASK ARGUMENTS_JSON ANSWERS_JSON LOG_FOLDER
"""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import tiktoken
from inspect_ai import eval as run
from inspect_ai._eval.loader import load_tasks
from inspect_ai.model import ModelOutput, get_model


def main() -> None:
    """Run it, one sample after another."""
    spec, arguments, answers, folder = sys.argv[1:]
    known = json.loads(answers)
    sent = []

    def reply(messages: list[Any], _tools: Any, _choice: Any, config: Any) -> ModelOutput:
        asked = [{"role": one.role, "content": one.content} for one in messages]
        sent.append({"messages": asked, "settings": config.model_dump(exclude_none=True)})
        return ModelOutput.from_content("mockllm/model", known[json.dumps(asked, sort_keys=True)])

    tiktoken.get_encoding = lambda _: SimpleNamespace(
        encode=lambda text, **_: list(text)
    )  # else it is downloaded
    (task,) = load_tasks([spec], json.loads(arguments))
    model = get_model("mockllm/model", custom_outputs=reply)
    (log,) = run(
        task,
        model=model,
        epochs=1,
        max_samples=1,
        log_dir=folder,
        display="none",
        log_format="json",
    )
    if log.status != "success":
        sys.exit(str(log.error.message if log.error else log.samples[0].error))
    scores = [
        {
            name: {
                "value": one.value,
                "answer": one.answer,
                "reason": one.reason,
            }  # of what is unscored the value is 0
            for name, one in sample.scores.items()
        }
        for sample in log.samples or []
    ]
    asked = [
        [{"role": m.role, "content": m.content} for m in one.messages[:-1]]
        for one in log.samples or []
    ]
    print(json.dumps({"sent": sent, "scores": scores, "asked": asked}))  # noqa: T201 - the answer


if __name__ == "__main__":
    main()

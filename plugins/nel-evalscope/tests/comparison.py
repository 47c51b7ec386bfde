"""Compares what EvalScope and nel, each in a process of its own, ask and score on the same rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.support.endpoint import Call, Reply, answer, scripted

HERE: Final = Path(__file__).parent


def program(name: str, given: Mapping[str, Any], folder: Path) -> Any:
    """Return what a program of this folder says as JSON, with all caches in a folder of the test."""
    environment = {
        **os.environ,
        "HF_HOME": str(folder / "hf"),
        "EVALSCOPE_CACHE": str(folder / "evalscope"),
    }
    done = subprocess.run(
        [sys.executable, str(HERE / name)],
        input=json.dumps(given), env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=1500,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def evaluate(
    benchmarks: list[dict[str, Any]],
    replies: Sequence[str],
    folder: Path,
    *,
    with_evalscope: bool,
    exit_code: int = 0,
    **settings: Any,
) -> list[Path]:
    """Run benchmarks with nel, each sample with every reply; return the directory of each."""
    counts: Counter[str] = Counter()

    def reply_to(call: Call, _: int) -> Reply:
        messages = json.dumps(call.body["messages"], sort_keys=True)
        counts[messages] += 1
        return answer(replies[(counts[messages] - 1) % len(replies)])

    with scripted(reply_to, models=["m"]) as endpoint:
        run = {
            "endpoint": {"url": endpoint.url, "model": "m"},
            "benchmarks": [{**one, "repeats": len(replies)} for one in benchmarks],
            "output": {"dir": str(folder / "out")},
            **settings,
        }
        done = program("nel_itself.py", {"settings": run, "with_evalscope": with_evalscope}, folder)
    assert done["exit_code"] == exit_code
    return [Path(path) for path in done["directories"]]


def asked(prompt: Any) -> str:
    """Return messages as text that can be compared; how closely a picture is looked at is the endpoint's default."""
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    parts = [
        part for one in messages if isinstance(one["content"], list) for part in one["content"]
    ]
    for part in parts:
        if part["type"] == "image_url":
            part["image_url"].pop("detail", None)
    return json.dumps(messages, sort_keys=True)


def verdicts(rows: Iterable[tuple[str, str, float | None]]) -> dict[tuple[str, str], list[str]]:
    """Return the scores of each prompt and reply."""
    scores: dict[tuple[str, str], list[str]] = defaultdict(list)
    for prompt, reply, score in rows:
        scores[prompt, reply].append(str(score))
    return {key: sorted(values) for key, values in scores.items()}


def compared(
    folder: Path, theirs: Mapping[str, Any], replies: Sequence[str]
) -> tuple[set[str], set[str]]:
    """Return the prompts that only one of both has, and the replies whose score differs."""
    lines = (folder / "results.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    own = verdicts(
        (asked(row["prompt"]), row["model_response"] or "", row["reward"]) for row in rows
    )
    other = verdicts(
        (asked(sample["messages"]), reply, score["main"])
        for sample in theirs["samples"]
        for reply, score in zip(replies, sample["scores"], strict=True)
    )
    prompts = {prompt for prompt, _ in own} ^ {prompt for prompt, _ in other}
    return prompts, {key[1] for key in own.keys() & other.keys() if own[key] != other[key]}

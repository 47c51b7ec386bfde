"""Finished runs of small models with one word to say, and judges that prefer by a known rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from nel.runs.evaluation import evaluate
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import write_jsonl

BENCH = """
from nel.byob import benchmark, scorer
from nel.scoring import exact_match

@benchmark(name="{name}", dataset="questions.jsonl", prompt="Q{{number}}: {{question}}", target_field="answer")
@scorer
def talk(sample):
    return {{"correct": sample.target in sample.response}}
"""

Says = Callable[[int, int], Reply]
"""What a model says to a question's number, and how often it was asked that before."""
Prefers = Callable[[str, str], str]
"""What a judge says of the answer shown first and the one shown second: A, B or TIE."""


def write_bench(folder: Path, *, n: int = 12, name: str = "talk", prompt_tail: str = "") -> Path:
    """Write a benchmark of n questions and return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = ({"id": f"q{i}", "number": i, "question": f"Say {i}.{prompt_tail}", "answer": str(i)} for i in range(n))
    write_jsonl(folder / "questions.jsonl", rows)
    path = folder / "bench.py"
    path.write_text(BENCH.format(name=name), encoding="utf-8")
    return path


def recorded_run(
    output: Path, bench: Path, name: str, said: Callable[[int], str], numbers: Iterable[int], *, tail: str = ""
) -> Path:
    """Return the directory of a run of recorded answers to the questions of these numbers, in their order."""
    rows = (
        {"id": f"q{i}", "number": i, "question": f"Say {i}.{tail}", "answer": str(i), "said": said(i)} for i in numbers
    )
    dataset = write_jsonl(output / f"{name}.jsonl", rows)
    entry = {"name": str(bench), "dataset": str(dataset), "response_field": "said"}
    return evaluate({"benchmarks": [entry], "output": {"dir": str(output), "run_id": name}}).run_dir


def finished_run(output: Path, bench: Path, model: str, says: Says) -> Path:
    """Return the directory of a run of a model that is asked over HTTP."""

    def script(call: Call, seen: int) -> Reply:
        found = re.search(r"Q(\d+):", call.text)
        assert found is not None
        return says(int(found[1]), seen)

    with scripted(script) as endpoint:
        result = evaluate(
            {
                "endpoint": {"url": endpoint.url, "model": model, "attempts_max": 1, "backoff_seconds": 0.01},
                "benchmarks": [{"name": str(bench)}],
                "engine": {"concurrency": 4},
                "output": {"dir": str(output), "run_id": model.replace("/", "-")},
            }
        )
    return result.run_dir


def word(text: str) -> Says:
    """Return a model that says the same word with the number after it, twelve times over for a long one."""
    return lambda number, _: answer(f"{text} {number}")


def judge(prefers: Prefers) -> Callable[[Call, int], Reply]:
    """Return the script of a judge: it finds both answers in what it is asked and says which is better."""

    def script(call: Call, _: int) -> Reply:
        first, second = shown_answers(call.text)
        return answer(f"I compared them.\nGRADE: {prefers(first, second)}")

    return script


def shown_answers(prompt: str) -> tuple[str, str]:
    """Return the answers that a prompt of the template `pairwise` shows, in its order, with their delimiters."""
    found = re.search(r"\nAnswer A:\n(.*)\n\nAnswer B:\n(.*?)\n\n(?!.*\nAnswer B:)", prompt, re.DOTALL)
    assert found is not None, prompt
    return found[1], found[2]

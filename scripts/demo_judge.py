"""Go the whole way of a judged number, offline: a panel judges, a person labels a few answers, the
score is corrected, and two models are ranked.

Models and judges are embedded endpoints, asked over HTTP by the `nel` command. Note: the person is
this script, which knows the right answers; a real one reads each answer.
"""

from __future__ import annotations

import csv
import json
import sys
import time
from pathlib import Path

from demo import ended, serving, step

MODELS = {
    "demo": ["--accuracy", "0.8"],
    "demo-weaker": ["--accuracy", "0.6", "--seed", "4"],
}
JUDGES = {
    "strict": ["--accuracy", "0.97", "--seed", "1"],
    "kind": ["--lenient-rate", "0.5", "--seed", "2"],
    "hasty": [
        "--accuracy",
        "0.9",
        "--lenient-rate",
        "0.5",
        "--garbled-rate",
        "0.05",
        "--wobble-rate",
        "0.05",
    ],
}
N_LABELS = 24
RESULTS = Path("eval_results")


def demonstrate() -> None:
    """Judge, calibrate, compare; each command is shown as it could be typed."""
    print(f"==> serving {len(MODELS)} demo models and {len(JUDGES)} demo judges", flush=True)
    models = [
        ["endpoint", "demo", "--port", "0", "--model-id", name, *options]
        for name, options in MODELS.items()
    ]
    judges = [
        ["endpoint", "judge", "--port", "0", "--model-id", name, *options]
        for name, options in JUDGES.items()
    ]
    with serving(*models, *judges) as served:
        panel = [
            word
            for url, name in served[len(models) :]
            for word in ("--judge-url", url, "--judge-id", name)
        ]
        stamp = time.strftime("%Y%m%d-%H%M%S")
        runs = {name: RESULTS / f"{stamp}-judged-{name}" for name in MODELS}
        print(
            "\n==> 40 answers, each judged three times by each of three judges; the majority counts",
            flush=True,
        )
        for (url, name), run in zip(served, runs.values(), strict=False):
            judged(url, name, run, panel)
        calibrated(runs["demo"])
        print("\n==> two models compared answer by answer, in both orders", flush=True)
        entries = [f"{name}={run}" for name, run in runs.items()]
        step("judge", "leaderboard", *entries, *panel)
    board = max(RESULTS.glob("*-leaderboard-*/leaderboard.html"))
    print("\nwhat to look at, in any browser:")
    print(
        f"  {runs['demo'] / 'report.html'}: who judged, how far they agree, the corrected score, each verdict"
    )
    print(f"  {board}: the ranking, and what speaks against it")


def judged(url: str, name: str, run: Path, panel: list[str]) -> None:
    """Evaluate a model and have its answers judged."""
    repeats = ["--judge-repeats", "3", "--run-id", run.name]
    model = ["--model-url", url, "--model-id", name]
    step(
        "eval",
        "run",
        "--bench",
        "quickstart",
        "--scorer",
        "model_graded_qa",
        *model,
        *panel,
        *repeats,
    )


def calibrated(run: Path) -> None:
    """Draw answers, label them as a person would, and measure the judges by the labels."""
    print(
        f"\n==> how far can these judges be trusted? {N_LABELS} answers for a person to label",
        flush=True,
    )
    step("judge", "calibrate", run, "--n", str(N_LABELS))
    labels = run / "quickstart-to-label.csv"
    label(labels)
    print(f"==> the person has filled in {labels.name}", flush=True)
    step("judge", "calibrate", run, "--labels", labels)
    lines = (run / "quickstart" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    answers = [json.loads(line) for line in lines]
    right = sum(is_right(answer["model_response"], answer["expected_answer"]) for answer in answers)
    print(
        f"the truth, which only a demo knows: {right / len(answers):.3f} ({right} of {len(answers)} are right)"
    )


def label(path: Path) -> None:
    """Fill in the column of labels."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        # Spreadsheets take what begins with a sign for a formula; an apostrophe before it says that
        # it is text.
        row["label"] = str(int(is_right(row["response"], row["reference"].removeprefix("'"))))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def is_right(response: str, reference: str) -> bool:
    """Return whether the demo model's last line is the right answer."""
    return response.splitlines()[-1:] == [f"Answer: {reference}"]


if __name__ == "__main__":
    sys.exit(ended(demonstrate))

"""Go the whole way from three models to two decisions, offline: evaluate, compare with a baseline,
apply a policy.

Models are embedded endpoints, asked over HTTP by the `nel` command.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from demo import ended, serving, step

MODELS = {
    "steady": ["--accuracy", "0.8"],
    "weaker": ["--accuracy", "0.45"],
    "stronger": ["--accuracy", "0.95"],
}
POLICY = """\
version: 1
defaults: {tier: supporting, max_drop: 0.05}
benchmarks:
  quickstart: {tier: critical, max_drop: 0.05, reason: "the demo has no other"}
"""
RESULTS = Path("eval_results")
GO, NO_GO = 0, 4


def demonstrate() -> None:
    """Evaluate three models, compare two with the first, and decide on each; each command is shown
    as it is typed.
    """
    print(f"==> serving {len(MODELS)} demo models", flush=True)
    models = [
        ["endpoint", "demo", "--port", "0", "--model-id", name, *options]
        for name, options in MODELS.items()
    ]
    stamp = time.strftime("%Y%m%d-%H%M%S")
    runs = {name: RESULTS / f"{stamp}-{name}" for name in MODELS}
    with serving(*models) as served:
        for (url, name), run in zip(served, runs.values(), strict=True):
            step(
                "eval",
                "run",
                "--bench",
                "quickstart",
                "--model-url",
                url,
                "--model-id",
                name,
                "--run-id",
                run.name,
            )
    sides = {name: f"{name}={run}" for name, run in runs.items()}
    page = RESULTS / f"{stamp}-comparison.html"
    print("\n==> each candidate against the steady one, sample by sample", flush=True)
    step("compare", *sides.values(), "--html", page)
    policy = RESULTS / f"{stamp}-policy.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    print(f"\n==> {policy}:\n{POLICY}", flush=True)
    step("gate", sides["steady"], sides["weaker"], "--policy", policy, expected=NO_GO)
    print(f"(exit code {NO_GO})\n", flush=True)
    step("gate", sides["steady"], sides["stronger"], "--policy", policy, expected=GO)
    print(f"(exit code {GO})\n\nwhat to look at:")
    print(f"  {page}: both answers of every sample that changed, in any browser")
    print(f"  {runs['weaker'] / 'decision.md'}: the decision as a CI job shows it")


if __name__ == "__main__":
    sys.exit(ended(demonstrate))

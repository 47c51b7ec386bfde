"""The work of one sample: two small runs, the difference of their counts divided by the difference of their samples,
so that what a run costs whatever its size falls out.

    python -m tests.work_per_sample.measuring KIND      prints the counts as JSON
    python -m tests.work_per_sample.measuring --write   writes budget.json; its commit says why work was added
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from nel.config.schema import RunConfig
from nel.engine.planning.resolution import make_plans
from nel.engine.progress import Progress
from nel.engine.run import run_session
from nel.engine.session_spec import Runtime, SessionSpec
from nel.runs.evaluation import written_results
from tests.work_per_sample.benchmarks import KINDS, InstantEndpoint, settings_of
from tests.work_per_sample.counting import HOME, STAGES, Work, counted

SAMPLES: Final = {
    "plain": (30, 130),
    "streamed": (30, 130),
    "judged": (20, 70),
    "two turns": (20, 70),
    "episode": (8, 28),
}
"""Of the two runs; tracing makes a run fifty times slower."""
BUDGET: Final = Path(__file__).with_name("budget.json")
"""What a sample may cost: the counts at the last commit that said why."""
_RULES: Final = ("reading/", "scoring/", "benchmarks/")
"""Where rules that score are, and what they read answers with."""
_SHOWN_MIN: Final = 5.0
"""Bytecodes a sample from which on a function is listed."""


@dataclass(frozen=True, kw_only=True)
class PerSample:
    """What one more sample adds."""

    bytecodes: dict[str, float]
    """By stage, and ``whole``."""
    calls: float
    statements: dict[str, float]
    functions: dict[str, float]
    """Bytecodes by function, the largest first."""
    road: list[str]
    """Functions of nel that each sample passes in the pipeline, but for those of the rule that scores it."""


def work_of(kind: str, n: int, *, is_counted: bool = True) -> Work:
    """Return what a run of so many samples does."""
    with tempfile.TemporaryDirectory() as folder:
        config = RunConfig.model_validate(settings_of(kind, Path(folder), n))
        run_dir = Path(folder) / "runs" / "run"
        run_dir.mkdir(parents=True)
        progress = Progress()
        with counted() if is_counted else nullcontext(Work()) as work:
            plans = make_plans(config)
            spec = SessionSpec(
                run_dir=run_dir,
                config=config,
                plans=plans,
                progress=progress,
                runtime=Runtime(transport=InstantEndpoint()),
            )
            result = written_results(spec, run_session(spec))
        accounting = result.benchmarks[0].accounting
        if (result.exit_code, accounting["n_scored"]) != (0, n):
            raise RuntimeError(f"{kind}: {accounting}, exit code {result.exit_code}: {progress.notes}")
    return work


def per_sample(kind: str) -> PerSample:
    work_of(kind, 10, is_counted=False)  # imports and compiles what the two others would
    n_few, n_many = SAMPLES[kind]
    few, many = work_of(kind, n_few), work_of(kind, n_many)
    functions: Counter[str] = Counter()
    stages: Counter[str] = Counter()
    for work, sign in ((many, 1), (few, -1)):
        for (stage, (file, name)), n in work.bytecodes.items():
            functions[f"{file}:{name}"] += sign * n
            stages[stage] += sign * n
    difference = n_many - n_few
    road = [
        f"{file}:{name}"
        for (stage, (file, name)), n in many.bytecodes.items()
        if stage == "pipeline"
        and (HOME / file).is_file()
        and not file.startswith(_RULES)
        and n - few.bytecodes[stage, (file, name)] >= difference
    ]
    statements = many.statements.copy()
    statements.subtract(few.statements)
    return PerSample(
        bytecodes={
            **{stage: round(stages[stage] / difference, 1) for stage in STAGES},
            "whole": round(stages.total() / difference, 1),
        },
        calls=round((many.calls.total() - few.calls.total()) / difference, 1),
        statements={word: round(n / difference, 2) for word, n in sorted(statements.items()) if n >= difference / 10},
        functions={
            name: round(n / difference, 1) for name, n in functions.most_common() if n >= _SHOWN_MIN * difference
        },
        road=sorted(road),
    )


def _without_road(work: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in work.items() if name != "road"}


def main() -> None:
    """Print the work of the kinds named, or write the budget of all."""
    if sys.argv[1:] == ["--write"]:
        budget = {kind: _without_road(asdict(per_sample(kind))) for kind in KINDS}
        BUDGET.write_text(json.dumps(budget, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    for kind in sys.argv[1:]:
        if kind in KINDS:
            sys.stdout.write(json.dumps(asdict(per_sample(kind))) + "\n")


if __name__ == "__main__":
    main()

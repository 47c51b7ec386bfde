"""What a reader of the documentation needs beside its commands, and why some commands cannot run here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tests.documented.commands import ROOT, Shown

_CSV: Final = "question,answer\nWhat is 2+2?,4\nWhat is 3+3?,6\nWhat is 5+5?,10\n"

REASONS: Final = {
    r"^(?:make|\.ci/) ?": "a target of make, which a test of its own or a tier runs; the targets are checked to exist",
    r"^(?:pip|python3 -m venv|uv) ?": "installs packages; this environment is installed already",
    r"^(?:docker|git|hf|inspect|mlflow|wandb|evalscope|mkdocs) ": "another program, which is not installed here",
    r"--bench (?:arc_challenge|mmlu|bbh|mgsm|ifeval|nq_open|humaneval|mmlu_pro|math500|gsm8k)\b": "reads a data set from its hub",
    r"^nel sandbox |^nel byob containerize ": "builds images with a Docker engine; make test-sandbox does",
    r"--bench (?:suite:)?bfcl": "needs the data of bfcl-eval; make test-plugins has them",
    r"inspect://": "needs the plugin nel-inspect and inspect_ai; make test-plugins has them",
    r"^nel endpoint model|model-id smollm2": "needs the weights of a local model; make demo-model has them",
    r"^nel endpoint replay (?!recorded)|outputs\.jsonl": "needs recorded answers of one's own",
    r"--to (?:mlflow|wandb) ": "needs an extra; make test-exports has it",
    r"^nel import (?:logs|lm_eval)": "needs a log of another tool",
    r"imported\b": "needs the import above",
    r"^nel byob new$": "asks questions at a terminal",
    r"s3://": "needs a bucket; plugins/nel-remote/tests/test_on_s3.py runs such with a server of its own",
    r"tests[./]performance": "a measurement of the repository, run from its folder",
    r"nel eval submit": "needs a cluster; its dry run is tested in tests/e2e",
    r"/data/runs|runs-of-may": "directories of the reader's own",
    r"^nel eval watch": "follows a run that is going on; tests/cli does",
    r"--metrics-port|config\.yaml": "needs a file of the reader's own",
    r"^pytest ": "the reader's own tests; tests/apps/test_pytest_plugin.py runs such",
    r"--reader ": "needs a model that reads answers",
    r"runs/RUN|questions\.py|trivia\.py": "benchmarks of the reader's own, and endpoints of vendors",
    r"LEADERBOARD|pairs\.(?:csv|jsonl)|qa-to-label|eval_results/NEXT": "needs answers that a person has labelled",
    r"^nel judge calibrate eval_results/RUN": "needs a run that was judged and labelled; the tutorial on judging has one",
    r"\./support\.py": "a file that its page shows in parts",
    r"salvage": "needs a run.db that is damaged; tests/faults has one",
    r"eval_results/(?:ID|part|whole)|matrix|nel\.yaml": "needs a file of the reader's own; tests/e2e runs such",
    r"gsm8k\.py|my_bench\.py|my_questions\.py|questions\.csv|exam\.py|short\.txt|fragen\.csv": "a file of the reader's own; tests/authoring makes such",
    r"my-evals|nel plugin new": "makes and installs a package; tests/cli does",
    r"explain ID": "needs the id of a sample",
    r"planets": "a file that its page shows in parts; tests/authoring has it whole",
    r"fuzzy_match:threshold": "names a data set of the reader's own",
    r"eval resume eval_results/RUN$|-O generation\.temperature": "a run that has ended needs no resume; tests/e2e stops one",
}
"""By what a command looks like."""
OF_PAGES: Final = {
    "docs/how-to/evaluate-an-agent-of-others.md": "needs a Docker engine and registries; tests/environments/agents runs a small agent",
    "docs/how-to/run-tasks-in-containers.md": "needs a Docker engine; tests/e2e/test_task_folders.py runs the same folder",
    "docs/how-to/several-endpoints.md": "needs a file of the reader's own; tests/e2e/test_matrix.py runs such",
}
_THEIRS: Final = "http://127.0.0.1:8000/v1"
_MUMBLED: Final = (
    "nel eval run --bench quickstart --scorer model_graded_qa --run-id mumbled --model-url http://127.0.0.1:8089/v1 "
    "--model-id demo --judge-url http://127.0.0.1:8095/v1 --judge-id mumbling"
)
CODES: Final = {
    ("README.md", "nel gate eval_results/BASELINE eval_results/CANDIDATE --policy policy.yaml"): 5,
    (
        "docs/how-to/compare-and-gate.md",
        "nel gate eval_results/BASELINE eval_results/CANDIDATE --policy policy.yaml",
    ): 5,
    ("docs/how-to/compare-and-gate.md", "nel gate --baseline release-1 eval_results/CANDIDATE --policy policy.yaml"): 5,
    ("docs/how-to/compare-and-gate.md", "nel gate eval_results/RUN --fail-under accuracy=0.8"): 5,
    (
        "docs/how-to/compare-and-gate.md",
        f"nel eval run --bench quickstart --model-url {_THEIRS} --model-id NAME --fail-under accuracy=0.6",
    ): 5,
    ("docs/tutorials/deciding.md", "nel gate eval_results/steady eval_results/weaker --policy policy.yaml"): 4,
    ("docs/tutorials/deciding.md", "nel gate eval_results/steady eval_results/steady --policy policy.yaml"): 5,
    ("docs/tutorials/deciding.md", "nel compare eval_results/steady eval_results/warm"): 2,
    (
        "docs/tutorial.md",
        "nel eval run --bench quickstart --model-url http://127.0.0.1:8088/v1 --model-id demo --api-key-env WRONG",
    ): 2,
    ("docs/how-to/resume.md", "nel eval run --bench quickstart --model-url http://127.0.0.1:8089 --model-id demo"): 2,
    ("docs/tutorials/judging.md", _MUMBLED): 3,
    ("docs/tutorials/judging.md", "nel eval resume eval_results/mumbled"): 3,
}
"""Exit codes that are not 0 and what their page shows."""


def reason_not_to_run(one: Shown) -> str:
    """Return why a command cannot run here; empty where it can."""
    if one.page in OF_PAGES:
        return OF_PAGES[one.page]
    return next((reason for pattern, reason in REASONS.items() if re.search(pattern, one.text)), "")


def fence(page: str, language: str, containing: str) -> str:
    """Return the first code of a page in a language that has a text."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for found in re.finditer(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE):
        if containing in found[1]:
            return str(found[1])
    raise LookupError(f"{page} has no {language} with {containing}")


_POLICY: Final = "version: 1\nbenchmarks:\n  quickstart: {tier: critical, max_drop: 0.05, reason: the only one}\n"
FILES: Final[dict[str, dict[str, str | Path]]] = {
    "README.md": {"policy.yaml": _POLICY},
    "docs/how-to/compare-and-gate.md": {"policy.yaml": _POLICY},
    "docs/how-to/rehearse-an-agent.md": {"agent.yaml": fence("docs/how-to/rehearse-an-agent.md", "yaml", "2 + 3")},
    "docs/reference/settings.md": {"question.txt": '{question}\nEnd with a line "Answer: X".\n'},
    "docs/tutorials/deciding.md": {"policy.yaml": fence("docs/tutorials/deciding.md", "yaml", "benchmarks:")},
    "docs/tutorials/judging.md": {
        "judged.yaml": fence("docs/tutorials/judging.md", "yaml", "quickstart"),
        "label.py": fence("docs/tutorials/judging.md", "python", "csv"),
    },
    "docs/tutorials/tools.md": {
        "shop.py": fence("docs/tutorials/tools.md", "python", "@benchmark"),
        "model.yaml": fence("docs/tutorials/tools.md", "yaml", "two tea"),
    },
    "docs/tutorial.md": {
        "capitals.py": fence("docs/tutorial.md", "python", "@benchmark"),
        "capitals.jsonl": '{"country": "France", "capital": "Paris"}\n{"country": "Japan", "capital": "Tokyo"}\n',
    },
    "docs/how-to/write-a-benchmark-in-yaml.md": {
        "capitals.yaml": fence("docs/how-to/write-a-benchmark-in-yaml.md", "yaml", "name: capitals")
    },
    "docs/how-to/write-an-adapter.md": {
        "capitals.py": fence("docs/how-to/write-an-adapter.md", "python", "register_benchmark"),
        "capitals.jsonl": '{"q": "Capital of France?", "a": "Paris", "area": "Europe"}\n',
    },
    "docs/tutorials/from-a-csv.md": {
        name: ROOT / "docs/examples/decision" / name for name in ("sums.csv", "recorded.jsonl")
    },
    "docs/tutorials/byob.md": {"quiz.csv": _CSV},
    "docs/examples/byob/README.md": {"docs/examples/byob": ROOT / "docs/examples/byob"},
}

"""From a CSV of 50 questions to a decision between two models: commands, lines written by hand and seconds, beside peers.

    PYTHONPATH=. python tests/performance/first_hour.py [--rounds 3] [--environments DIR] [--tools nel,lm_eval]

The questions and what two models said are those of docs/tutorials/from-a-csv.md; two endpoints replay them. Each tool
gets the files below, the shortest that its documentation leads to, and runs the commands below. A tool that only scores
gets a script for the decision too, which pairs the answers. What the tool says must show the 15 questions that the new
model wins; a tool that does not is reported as failed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import decision_peers
import peers

DATA = peers.ROOT / "docs" / "examples" / "decision"
SECONDS_MAX = 600
PROMPTFOO = "promptfoo@0.121.20"
KEYS = {"OPENAI_API_KEY": "x", "LOCAL_API_KEY": "x", "HF_HUB_OFFLINE": "1", "PROMPTFOO_DISABLE_TELEMETRY": "1"}

DECIDE = """
now, new = map(rewards, sys.argv[1:])
won, lost = (sum(sign * (new[i] - now[i]) > 0 for i in now) for sign in (1, -1))
tail = sum(comb(won + lost, k) for k in range(min(won, lost) + 1)) / 2 ** (won + lost)
print(f"won {won}, lost {lost}, exact p = {min(1, 2 * tail):.2g}")
"""
LM_EVAL_TASK = r"""task: sums
dataset_path: csv
dataset_kwargs: {data_files: {test: sums.csv}}
test_split: test
output_type: generate_until
doc_to_text: question
doc_to_target: answer
generation_kwargs: {until: [], do_sample: false}
filter_list:
  - name: number
    filter:
      - {function: regex, regex_pattern: '(-?[0-9]+)', group_select: -1}
      - {function: take_first}
metric_list:
  - {metric: exact_match, aggregation: mean}
"""
LM_EVAL_READ = """import glob, json, sys
from math import comb

def rewards(folder):
    (path,) = glob.glob(f"{folder}/*/samples_sums_*.jsonl")
    return {row["doc_id"]: row["exact_match"] for row in map(json.loads, open(path))}
"""
INSPECT_TASK = """from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, csv_dataset
from inspect_ai.scorer import match

@task
def sums():
    fields = FieldSpec(input="question", target="answer")
    return Task(dataset=csv_dataset("sums.csv", fields), scorer=match(numeric=True))
"""
INSPECT_READ = """import glob, sys
from math import comb
from inspect_ai.log import read_eval_log

def rewards(folder):
    (path,) = glob.glob(f"{folder}/*.eval")
    return {sample.id: sample.scores["match"].value == "C" for sample in read_eval_log(path).samples}
"""
PROMPTFOO_CONFIG = r"""prompts: ['{{question}}']
providers:
  - {id: 'openai:chat:now', config: {apiBaseUrl: '$now', temperature: 0}}
  - {id: 'openai:chat:new', config: {apiBaseUrl: '$new', temperature: 0}}
defaultTest:
  assert:
    - {type: javascript, value: 'output.match(/-?\d+/g)?.at(-1) === String(context.vars.answer)'}
tests: file://sums.csv
"""
PROMPTFOO_READ = """import json, sys
from math import comb

def rewards(model):
    rows = json.load(open("out.json"))["results"]["results"]
    return {row["testIdx"]: row["success"] for row in rows if row["provider"]["id"].endswith(model)}
"""
NEMO_TASK = """from nemo_evaluator import ScorerInput, benchmark, numeric_match, scorer


@benchmark(name="sums", dataset="sums.csv", prompt="{question}", target_field="answer")
@scorer
def sums(sample: ScorerInput) -> dict:
    return numeric_match(sample)
"""
LM_EVAL = (
    "lm_eval run --model local-chat-completions --model_args base_url=$url/chat/completions,model=$model"
    " --include_path . --tasks sums --apply_chat_template --output_path out/$model --log_samples"
)


@dataclass(frozen=True)
class Way:
    """How one tool comes from the CSV to a decision."""

    files: Mapping[str, str]
    """What is written by hand, by name."""
    commands: tuple[str, ...]
    """``$url`` and ``$model``: the command is typed for each model."""
    proof: str
    """What the last command prints where it has seen every answer."""

    def typed(self, urls: Mapping[str, str]) -> Iterator[str]:
        """Yield each command as it is typed."""
        for command in self.commands:
            for model in urls if "$model" in command else ("",):
                yield command.replace("$model", model).replace("$url", urls.get(model, ""))

    @property
    def n_lines(self) -> int:
        """Return the number of lines written by hand, empty ones left out."""
        return sum(bool(line.strip()) for text in self.files.values() for line in text.splitlines())


WAYS = {
    "nel": Way(
        {},
        (
            "nel byob new sums.csv --yes",
            "nel eval run --bench sums.py --model-url $url --model-id $model --run-id $model",
            "nel compare eval_results/now eval_results/new",
        ),
        "won 15, lost 0",
    ),
    "lm_eval": Way(
        {"sums.yaml": LM_EVAL_TASK, "decide.py": LM_EVAL_READ + DECIDE},
        (LM_EVAL, "python decide.py out/now out/new"),
        "won 15, lost 0",
    ),
    "inspect_ai": Way(
        {"sums.py": INSPECT_TASK, "decide.py": INSPECT_READ + DECIDE},
        (
            "inspect eval sums.py --model openai-api/local/$model --model-base-url $url --log-dir out/$model",
            "python decide.py out/now out/new",
        ),
        "won 15, lost 0",
    ),
    "promptfoo": Way(
        {"promptfooconfig.yaml": PROMPTFOO_CONFIG, "decide.py": PROMPTFOO_READ + DECIDE},
        ("promptfoo eval --no-cache -o out.json", "python decide.py now new"),
        "won 15, lost 0",
    ),
    "nemo": Way(
        {"sums.py": NEMO_TASK},
        (
            "nel eval run --bench sums.py --model-url $url --model-id $model --api-key x -o out/$model",
            "nel compare out/now out/new",
        ),
        "15 improvements",
    ),
}


@contextmanager
def endpoint(model: str) -> Iterator[str]:
    """Serve what a model said, and yield its URL."""
    command = [
        sys.executable, "-m", "nel", "endpoint", "replay", str(DATA / "recorded.jsonl"), "--question-field", "question",
        "--output-field", model, "--model-id", model, "--port", "0",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=peers.ROOT)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[1]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def install(tool: str, environments: Path) -> Path:
    """Return the folder of a tool's programs, installed where it is not there.

    Raises:
        Failed: It cannot be installed.
    """
    if tool == "nel":
        return Path(sys.executable).parent
    if tool == "nemo":
        folder = decision_peers.install("nemo", environments)
        if folder is None:
            raise peers.Failed("NeMo Evaluator 0.3.0 needs Python 3.12, which is not there")
        return folder
    if tool == "promptfoo":
        programs = environments / tool / "node_modules" / ".bin"
        if not programs.exists():
            peers.run(["npm", "install", "--silent", "--prefix", str(environments / tool), PROMPTFOO], SECONDS_MAX)
        return programs
    return peers.install(next(known for known in peers.TOOLS if known.name == tool), environments)


def measure(way: Way, programs: Path, urls: Mapping[str, str]) -> tuple[float, float]:
    """Return the seconds and the CPU seconds that all commands take in a new folder.

    Raises:
        Failed: The last one does not show that every answer was seen.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(DATA / "sums.csv", folder)
        for file, text in way.files.items():
            (folder / file).write_text(text.replace("$now", urls["now"]).replace("$new", urls["new"]))
        path = f"{programs}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, **KEYS, "PATH": path}
        started, cpu, output = time.monotonic(), peers.cpu_of_children(), ""
        for command in way.typed(urls):
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS_MAX, check=False,
            )  # fmt: skip
            output = done.stdout + done.stderr
        if way.proof not in output:
            raise peers.Failed(f"`{command}` ends with {output[-500:]}")
        return time.monotonic() - started, peers.cpu_of_children() - cpu


def main() -> None:
    """Print the table; exit 1 where a tool failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--environments", type=Path, default=Path(".peers"))
    parser.add_argument("--tools", default=",".join(WAYS))
    options = parser.parse_args()
    tools, environments = options.tools.split(","), options.environments.absolute()
    environments.mkdir(exist_ok=True)
    seconds: dict[str, list[tuple[float, float]]] = {tool: [] for tool in tools}
    failures = {}
    with endpoint("now") as now, endpoint("new") as new:
        for _ in range(options.rounds):
            for tool in (tool for tool in tools if tool not in failures):
                try:
                    seconds[tool].append(measure(WAYS[tool], install(tool, environments), {"now": now, "new": new}))
                    print(f"{tool}: %.1f s, CPU %.1f s" % seconds[tool][-1], file=sys.stderr)
                except (peers.Failed, subprocess.SubprocessError) as error:
                    failures[tool] = str(error)
    print("| tool | commands | lines written by hand | CPU s | s |\n|---|---:|---:|---:|---:|")
    for tool in tools:
        n_commands, n_lines = len(list(WAYS[tool].typed({"now": "", "new": ""}))), WAYS[tool].n_lines
        if tool in failures:
            print(f"| {tool} | {n_commands} | {n_lines} | failed: {failures[tool]} | |")
            continue
        wall, cpu = (statistics.median(column) for column in zip(*seconds[tool], strict=True))
        print(f"| {tool} | {n_commands} | {n_lines} | {cpu:.1f} | {wall:.1f} |")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

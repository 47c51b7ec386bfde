"""nel beside the peers that install from the package index: the same 1,319 GSM8K rows, server and cores, in one run.

    python tests/performance/peers.py [--rounds 3] [--environments DIR] [--tools nel,lm_eval]

Each tool asks the instant server for every row once, 64 requests at a time, scores the answers with its own rule for
numbers and writes its own artifacts. The server's access log tells, for all alike, how many requests came and when the
first and the last one were answered. Every answer is 42, so every tool has to find the same six rows right; a tool that
does not is reported as failed. Before the rounds each tool runs once on 64 rows, unmeasured. No tool reaches a hub.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from instant_server import instant_server
from measuring import CONCURRENCY, nel_run

from nel.benchmarks.mathematics.gsm8k import PROMPT
from nel.version import __version__

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data" / "gsm8k_test.jsonl.gz"
CORES = 2
ROWS_TO_WARM_UP = 64
RUN_SECONDS_MAX = 900
INSTALL_SECONDS_MAX = 1800
LM_EVAL_TASK = r"""
task: gsm8k_rows
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
test_split: test
output_type: generate_until
doc_to_text: {prompt}
doc_to_target: "{{{{answer.split('####')[-1].strip()}}}}"
num_fewshot: 0
generation_kwargs: {{until: ["</s>"], do_sample: false, temperature: 0}}
filter_list:
  - name: flexible-extract
    filter:
      - {{function: regex, group_select: -1, regex_pattern: '(-?[$0-9.,]{{2,}})|(-?[0-9]+)'}}
      - {{function: take_first}}
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true, regexes_to_ignore: [",", "\\$", "\\.$"]}}
"""
INSPECT_TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate

def sample(row):
    target = row["answer"].split("####")[-1].strip().replace(",", "")
    return Sample(input={prompt!r}.format(question=row["question"]), target=target)

@task
def gsm8k_rows():
    return Task(dataset=json_dataset({rows!r}, sample), solver=generate(), scorer=match(numeric=True))
"""
EVALSCOPE_CARD = """---
configs:
- config_name: main
  data_files:
  - {split: test, path: main/test.jsonl}
---
"""


Result = TypeVar("Result")


class Failed(Exception):
    """A tool was not installed, did not end well, or did not answer or score every row."""


@dataclass(frozen=True)
class Inputs:
    """The rows in the shape of each tool, and what a right score is."""

    folder: Path
    n: int
    share_right: float

    @property
    def rows(self) -> Path:
        return self.folder / "gsm8k.jsonl"


@dataclass(frozen=True)
class Tool:
    """One tool: what to install, what to run, and where its artifacts say how many rows it scored."""

    name: str
    requirements: tuple[str, ...]
    """Pinned; the first is the tool. Empty: it is in the environment of this script."""
    command: Callable[[Path, str, Inputs, Path], list[str]]
    """From the folder of its programs, the URL, the inputs and an output folder."""
    scored: Callable[[Path, Path], tuple[int, float]]
    """From the folder of its programs and the output folder: rows scored and the share of right ones."""


@dataclass(frozen=True)
class Measurement:
    """One run of one tool; times in seconds."""

    answered: int
    scored: int
    until_first: float
    between: float
    after_last: float
    cpu: float
    """Of the tool and all its processes, without the server; the steadiest of these numbers on a busy machine."""

    @property
    def rate(self) -> float:
        """Answers a second from the first to the last."""
        return self.answered / self.between

    @property
    def rate_written(self) -> float:
        """Samples a second from the first answer until all are scored and written."""
        return self.answered / (self.between + self.after_last)

    @property
    def whole(self) -> float:
        return self.until_first + self.between + self.after_last


def only(folder: Path, pattern: str) -> Path:
    """Return the one file of that name that a run has written."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise Failed(f"wrote {len(found)} files {pattern}, not one")
    return found[0]


def nel_command(programs: Path, url: str, inputs: Inputs, out: Path) -> list[str]:
    return nel_run(url, inputs.rows, out)


def nel_scored(programs: Path, out: Path) -> tuple[int, float]:
    found = json.loads(only(out, "*/gsm8k/metrics.json").read_text())
    return found["accounting"]["n_scored"], found["headline"]["value"]


def lm_eval_command(programs: Path, url: str, inputs: Inputs, out: Path) -> list[str]:
    model = f"base_url={url}/chat/completions,model=m,num_concurrent={CONCURRENCY},max_retries=3"
    return [
        str(programs / "lm_eval"), "run", "--model", "local-chat-completions", "--model_args", model,
        "--include_path", str(inputs.folder / "lm_eval"), "--tasks", "gsm8k_rows", "--apply_chat_template",
        "--output_path", str(out), "--log_samples",
    ]  # fmt: skip


def lm_eval_scored(programs: Path, out: Path) -> tuple[int, float]:
    found = json.loads(only(out, "*/results_*.json").read_text())
    samples = only(out, "*/samples_gsm8k_rows_*.jsonl").read_text().splitlines()
    n = sum("exact_match" in json.loads(line) for line in samples)
    return n, found["results"]["gsm8k_rows"]["exact_match,flexible-extract"]


def evalscope_command(programs: Path, url: str, inputs: Inputs, out: Path) -> list[str]:
    local = {"local_path": str(inputs.folder / "evalscope"), "few_shot_num": 0, "prompt_template": PROMPT}
    return [
        str(programs / "evalscope"), "eval", "--model", "m", "--api-url", url, "--api-key", "x",
        "--eval-type", "openai_api", "--datasets", "gsm8k", "--dataset-args", json.dumps({"gsm8k": local}),
        "--generation-config", '{"temperature": 0}', "--eval-batch-size", str(CONCURRENCY), "--work-dir", str(out),
    ]  # fmt: skip


def evalscope_scored(programs: Path, out: Path) -> tuple[int, float]:
    found = json.loads(only(out, "*/reports/m/gsm8k.json").read_text())["metrics"][0]
    return found["num"], found["score"]


def inspect_command(programs: Path, url: str, inputs: Inputs, out: Path) -> list[str]:
    return [
        str(programs / "inspect"), "eval", f"{inputs.folder}/inspect_task.py@gsm8k_rows",
        "--model", "openai-api/local/m", "--model-base-url", url, "--max-connections", str(CONCURRENCY),
        "--temperature", "0", "--display", "none", "--no-score-display", "--no-log-realtime", "--log-dir", str(out),
    ]  # fmt: skip


def inspect_scored(programs: Path, out: Path) -> tuple[int, float]:
    command = [str(programs / "inspect"), "log", "dump", "--header-only", str(only(out, "*.eval"))]
    results = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["results"]
    return results["scores"][0]["scored_samples"], results["scores"][0]["metrics"]["accuracy"]["value"]


TOOLS = (
    Tool("nel", (), nel_command, nel_scored),
    Tool("lm_eval", ("lm_eval[api]==0.4.13", "transformers==5.23.0"), lm_eval_command, lm_eval_scored),
    Tool("inspect_ai", ("inspect_ai==0.3.285", "openai==3.52.0"), inspect_command, inspect_scored),
    Tool("evalscope", ("evalscope==1.14.1",), evalscope_command, evalscope_scored),
)


def write_inputs(folder: Path, rows: list[str]) -> Inputs:
    """Write the same rows for each tool, with nel's prompt wherever the tool takes one."""
    (folder / "lm_eval").mkdir(parents=True)
    (folder / "evalscope" / "main").mkdir(parents=True)
    right = sum(json.loads(row)["answer"].split("####")[-1].strip() == "42" for row in rows)
    inputs = Inputs(folder, len(rows), right / len(rows))
    inputs.rows.write_text("\n".join(rows) + "\n")
    shutil.copy(inputs.rows, folder / "evalscope" / "main" / "test.jsonl")
    (folder / "evalscope" / "README.md").write_text(EVALSCOPE_CARD)
    prompt = json.dumps(PROMPT.replace("{question}", "{{question}}"))
    (folder / "lm_eval" / "gsm8k_rows.yaml").write_text(LM_EVAL_TASK.format(rows=inputs.rows, prompt=prompt))
    (folder / "inspect_task.py").write_text(INSPECT_TASK.format(prompt=PROMPT, rows=str(inputs.rows)))
    return inputs


def run(command: list[str], seconds_max: float, cwd: Path = ROOT, env: dict[str, str] | None = None) -> None:
    """Run a command and everything it starts to its end.

    Raises:
        Failed: It took too long, or its exit status is not 0; the message has the last lines it wrote.
    """
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            cwd=cwd,
            env=env,
        )
        try:
            status = process.wait(seconds_max)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                raise Failed(f"still running after {seconds_max:.0f} s") from error
            raise
        if status:
            output.seek(0)
            last = [line.strip() for line in output.read().splitlines() if line.strip()][-12:]
            raise Failed("\n    ".join([f"exit status {status}:", *last]))


def cpu_of_children() -> float:
    """Return the CPU seconds of all processes that this one has started and that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def install(tool: Tool, environments: Path) -> Path:
    """Return the folder of a tool's programs; create its environment unless these very pins are there."""
    if not tool.requirements:
        return Path(sys.executable).parent
    folder = environments / tool.name
    stamp, wanted = folder / "pins.txt", "\n".join([sys.version, *tool.requirements])
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"installing {' '.join(tool.requirements)}", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        python = str(folder / "bin" / "python")
        if uv := shutil.which("uv"):
            make = [uv, "venv", "--quiet", "--python", sys.executable, str(folder)]
            fill = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python, *tool.requirements]
        else:
            make = [sys.executable, "-m", "venv", str(folder)]
            fill = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *tool.requirements]
        run(make, INSTALL_SECONDS_MAX)
        run(fill, INSTALL_SECONDS_MAX)
        stamp.write_text(wanted)
    return folder / "bin"


def offline(home: Path) -> dict[str, str]:
    """Return an environment with caches in a folder, a key that means nothing, and no hub.

    Other rows need another folder: evalscope takes the rows of the warm-up from its cache, though the path is another.
    """
    no = dict.fromkeys(("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE", "DO_NOT_TRACK"), "1")
    caches = {"HF_HOME": f"{home}/hf", "MODELSCOPE_CACHE": f"{home}/ms", "EVALSCOPE_CACHE": f"{home}/es"}
    caches |= {"XDG_CACHE_HOME": f"{home}/xdg-cache", "XDG_DATA_HOME": f"{home}/xdg-data"}
    keys = {"OPENAI_API_KEY": "x", "LOCAL_API_KEY": "x", "HF_HUB_DISABLE_TELEMETRY": "1"}
    return {**os.environ, **no, **caches, **keys}


def measure(tool: Tool, programs: Path, inputs: Inputs, home: Path) -> Measurement:
    """Run a tool against a fresh server and read the server's log and the tool's artifacts.

    Raises:
        Failed: It failed, or did not answer and score every row.
    """
    with tempfile.TemporaryDirectory(dir=home) as name:
        folder, out, log = Path(name), Path(name) / "out", Path(name) / "access.log"
        out.mkdir()
        with instant_server(folder, log) as url:
            command = tool.command(programs, url, inputs, out)
            before, started = cpu_of_children(), time.time()
            run(command, RUN_SECONDS_MAX, cwd=ROOT if tool.name == "nel" else folder, env=offline(inputs.folder))
            ended, cpu = time.time(), cpu_of_children() - before
        lines = [line.split() for line in log.read_text().splitlines()]
        times = [float(at) for at, method, status in lines if method == "POST" and status == "200"]
        if len(times) != inputs.n:
            raise Failed(f"the server answered {len(times):,} requests, not {inputs.n:,}")
        try:
            scored, share_right = tool.scored(programs, out)
        except (LookupError, TypeError, ValueError, subprocess.SubprocessError) as error:
            raise Failed(f"its artifacts cannot be read: {error!r}") from error
    if scored != inputs.n:
        raise Failed(f"it scored {scored:,} rows, not {inputs.n:,}")
    if abs(share_right - inputs.share_right) > 1e-4:
        raise Failed(f"it found {share_right:.4f} right, not {inputs.share_right:.4f}")
    return Measurement(len(times), scored, times[0] - started, times[-1] - times[0], ended - times[-1], cpu)


def attempt(what: str, tool: Tool, failures: dict[str, str], action: Callable[[], Result]) -> Result | None:
    """Do something for a tool that has not failed yet; note and say why when it fails."""
    if tool.name in failures:
        return None
    try:
        return action()
    except Failed as error:
        failures[tool.name] = f"{what}: {error}"
        print(f"{tool.name}: {failures[tool.name]}", file=sys.stderr)
        return None


COLUMNS: dict[str, Callable[[Measurement], float]] = {
    "s to first answer": lambda one: one.until_first,
    "samples/s, first to last answer": lambda one: one.rate,
    "samples/s, first answer to artifacts": lambda one: one.rate_written,
    "s in all": lambda one: one.whole,
    "CPU s": lambda one: one.cpu,
}


def table(tools: list[Tool], found: dict[str, list[Measurement]], failures: dict[str, str]) -> str:
    """Return the medians as a Markdown table, each with its ratio to nel's in brackets."""

    def cell(tool: Tool, column: str) -> str:
        middle = {name: statistics.median(map(COLUMNS[column], runs)) for name, runs in found.items()}
        value = f"{middle[tool.name]:,.{0 if 'samples' in column else 1}f}"
        if "nel" not in middle or tool.name == "nel":
            return value
        return f"{value} ({middle[tool.name] / middle['nel']:.2g}x)"

    lines = [["", "answered", "scored", *COLUMNS]]
    for tool in tools:
        label = f"{tool.name} {tool.requirements[0].split('==')[1] if tool.requirements else __version__}"
        if tool.name in failures:
            lines.append(
                [label, f"failed {failures[tool.name].splitlines()[0].rstrip(':')}", *[""] * (len(COLUMNS) + 1)]
            )
        else:
            counts = [f"{getattr(found[tool.name][0], key):,}" for key in ("answered", "scored")]
            lines.append([label, *counts, *(cell(tool, column) for column in COLUMNS)])
    head, *rows = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([head, f"|---|{'---:|' * (len(lines[0]) - 1)}", *rows])


def read_rows(path: Path) -> list[str]:
    """Return the lines of a file, also of a compressed one."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return [line.strip() for line in file if line.strip()]


def main() -> None:
    """Install, warm up, measure in rounds, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--environments", type=Path, help="where the peers are installed, and found again")
    parser.add_argument("--dataset", type=Path, default=DATA, help="GSM8K's test rows: question, answer")
    parser.add_argument("--tools", default=",".join(tool.name for tool in TOOLS))
    options = parser.parse_args()
    tools = [tool for tool in TOOLS if tool.name in options.tools.split(",")]
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    failures: dict[str, str] = {}
    found: dict[str, list[Measurement]] = {}
    if not options.dataset.exists():
        parser.error(f"{options.dataset} is not there; name a file of GSM8K's test rows with --dataset")
    if not tools:
        parser.error(f"--tools takes names of {', '.join(tool.name for tool in TOOLS)}")
    rows = read_rows(options.dataset)
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        environments = (options.environments or home / "environments").absolute()
        few, full = write_inputs(home / "few", rows[:ROWS_TO_WARM_UP]), write_inputs(home / "full", rows)

        programs: dict[str, Path] = {}
        for tool in tools:
            if folder := attempt("at installing", tool, failures, partial(install, tool, environments)):
                programs[tool.name] = folder

        def once(what: str, tool: Tool, inputs: Inputs) -> Measurement | None:
            return attempt(what, tool, failures, lambda: measure(tool, programs[tool.name], inputs, home))

        os.sched_setaffinity(0, cores)
        for tool in tools:
            once("at warming up", tool, few)
        for n in range(options.rounds):
            for tool in tools[n % len(tools) :] + tools[: n % len(tools)]:
                if one := once(f"in round {n + 1}", tool, full):
                    found.setdefault(tool.name, []).append(one)
                    print(f"round {n + 1} {tool.name:<12}{one.rate:8,.0f}/s{one.whole:8.1f} s", file=sys.stderr)
    print(table(tools, found, failures))
    print(
        f"\nmedian of {options.rounds} rounds, {len(rows):,} rows, {CONCURRENCY} requests at a time, "
        f"{len(cores)} cores for tool and server together, load average {os.getloadavg()[0]:.1f} at the end"
    )
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

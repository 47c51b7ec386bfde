"""EvalScope's two published adapters on rows of their benchmarks: as they stand, or with nel's import lines."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import nel
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.hub import FakeModelScope, running_hub
from tests.support.runs import SHARED, read_json, read_results, run_config, write_jsonl
from tests.support.runs import nel as cli

FILES = Path(__file__).parent / "adapter_files"
pytestmark = pytest.mark.shared_data


def rows(name: str, n: int) -> list[dict[str, Any]]:
    with gzip.open(SHARED / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line, _ in zip(lines, range(n), strict=False)]


def adapter_file(tmp_path: Path, name: str, *, as_published: bool = False) -> Path:
    """Write an adapter as a file, its imports as they are or from nel for a script that is run without nel.

    Before Python 3.12 no expression in an f-string may hold a backslash.
    """
    source = (FILES / f"{name}.txt").read_text(encoding="utf-8")
    if not as_published:
        source = re.sub(r"from evalscope[\w.]* import", "from nel.benchmarks import", source)
    if sys.version_info < (3, 12):
        source = source.replace(r"{'\n'.join(opt_str_list)}", "{chr(10).join(opt_str_list)}")
    path = tmp_path / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    return path


def gsm8k_data(tmp_path: Path) -> list[dict[str, Any]]:
    found = rows("gsm8k_test.jsonl.gz", 30)
    folder = tmp_path / "gsm8k"
    folder.mkdir()
    write_jsonl(folder / "main_test.jsonl", found[:10])
    write_jsonl(folder / "main_train.jsonl", found[10:])
    return found


def test_gsm8k(tmp_path: Path) -> None:
    """Four solved examples of the train split stand before each question, and the last number is the answer."""
    found = gsm8k_data(tmp_path)
    path = adapter_file(tmp_path, "gsm8k_adapter", as_published=True)
    golds = {row["question"]: row["answer"].rsplit("#### ", 1)[1] for row in found[:10]}

    def script(call: Call, _: int) -> Reply:
        text = call.body["messages"][-1]["content"]
        (question,) = [known for known in golds if known in text]
        wrong = question == found[3]["question"]
        return answer(f"Let me think. 1 + 1 = 2.\nANSWER: {'$1,000,000' if wrong else golds[question]}")

    with scripted(script, models=["m"]) as endpoint:
        done = cli(
            "eval", "run", "--bench", str(path), "--model-url", endpoint.url, "--model-id", "m", "-o", "out",
            "--run-id", "r", "-O", f"benchmarks.0.args.local_path={tmp_path / 'gsm8k'}", cwd=tmp_path,
        )  # fmt: skip
        texts = [call.body["messages"][-1]["content"] for call in endpoint.calls]
    assert done.returncode == 0, done.stderr
    assert len(texts) == 10
    for text in texts:
        assert all(row["question"] in text for row in found[10:14])
        assert found[14]["question"] not in text
        assert text.count("\n\nReasoning:\n") == 4
        assert text.endswith("you do not need to use a \\boxed command.\nReasoning:\n")
    results = read_results(tmp_path / "out" / "r", "gsm8k")
    assert [row["reward"] for row in results] == [1.0, 1.0, 1.0, 0.0] + [1.0] * 6
    assert results[0]["extracted_answer"] == golds[found[0]["question"]].replace(",", "")
    assert results[3]["extracted_answer"] == "1000000"
    assert results[0]["metadata"]["category"] == "main"


def mmlu_data(tmp_path: Path) -> list[dict[str, Any]]:
    found = rows("mmlu_pro_outputs_llama31_8b.jsonl.gz", 12_000)
    law = [row for row in found if row["category"] == "law"][:12]
    math = [row for row in found if row["category"] == "math"][:12]
    for row in (*law, *math):
        row["cot_content"] = f"A: Let's think step by step. So it is. The answer is ({row['answer']})."
    folder = tmp_path / "mmlu_pro"
    folder.mkdir()
    write_jsonl(folder / "default_test.jsonl", [*law[:6], *math[:6]])
    write_jsonl(folder / "default_validation.jsonl", [*law[6:], *math[6:]])
    return [*law, *math]


def test_mmlu_pro(tmp_path: Path) -> None:
    """Subjects are the subsets: each has five examples of its own, and a limit and a list hold for each."""
    found = mmlu_data(tmp_path)
    asked = {row["question"]: row for row in (*found[:6], *found[12:18])}

    def script(call: Call, _: int) -> Reply:
        text = call.body["messages"][-1]["content"]
        row = next(row for question, row in asked.items() if question in text)
        return answer(f"Thinking about it, A or B?\n\nANSWER: {row['answer']}" if row["category"] == "law" else "Hmm.")

    with scripted(script, models=["m"]) as endpoint:
        settings = run_config(
            endpoint.url,
            [
                {
                    "name": str(adapter_file(tmp_path, "mmlu_pro_adapter")),
                    "args": {"local_path": str(tmp_path / "mmlu_pro"), "subset_list": ["math", "law"], "limit": 4},
                }
            ],
            tmp_path / "out",
        )
        result = nel.evaluate(settings)
        texts = [call.body["messages"][-1]["content"] for call in endpoint.calls]
    assert result.exit_code == 0
    assert len(texts) == 8
    for text in texts:
        row = next(row for question, row in asked.items() if question in text)
        own = [other for other in found if other["category"] == row["category"]][6:11]
        assert all(f"Question:\n{other['question']}\nOptions:\nA {other['options'][0]}" in text for other in own)
        assert text.count("ANSWER: ") >= 5
        letters = ",".join("ABCDEFGHIJ"[: len(row["options"])])
        assert f"where LETTER is one of {letters}. Think step by step" in text
        assert f"\nOptions:\nA) {row['options'][0]}\nB) {row['options'][1]}\n" in text
    results = read_results(result.run_dir, "mmlu_pro")
    assert [(row["metadata"]["category"], row["reward"]) for row in results] == [("law", 1.0)] * 4 + [("math", 0.0)] * 4
    assert {row["outcome"]["state"] for row in results[4:]} == {"model_failure"}
    metrics = read_json(result.run_dir / "mmlu_pro" / "metrics.json")
    assert set(metrics["categories"]) == {"law", "math"}


TASK = """
from nel import TaskConfig, run_task
from nel.compat.evalscope.report import report_table

if __name__ == "__main__":
    import sys
    import gsm8k_adapter, mmlu_pro_adapter
    reports = run_task(task_cfg=TaskConfig(
        model="m", api_url=sys.argv[1], datasets=["gsm8k", "mmlu_pro"], limit=3, debug=True,
        dataset_args={
            "gsm8k": {"local_path": "gsm8k", "few_shot_num": 2},
            "mmlu_pro": {"local_path": "mmlu_pro", "subset_list": ["law", "math"]},
        },
    ))
    print(report_table(list(reports.values())))
"""


def test_run_task_and_its_table(tmp_path: Path) -> None:
    """The guide's own call: both benchmarks in one run, a limit for each subset, and the table of the guide."""
    gsm8k_data(tmp_path)
    mmlu = mmlu_data(tmp_path)
    for name in ("gsm8k_adapter", "mmlu_pro_adapter"):
        adapter_file(tmp_path, name)
    (tmp_path / "task.py").write_text(TASK)

    def script(call: Call, _: int) -> Reply:
        text = call.body["messages"][-1]["content"]
        row = next((row for row in mmlu if row["question"] in text[-len(row["question"]) - 3000 :]), None)
        return answer("ANSWER: A" if row else "ANSWER: 18")

    with scripted(script, models=["m"]) as endpoint:
        done = subprocess.run(
            [sys.executable, "task.py", endpoint.url],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=280,
            env={"PYTHONPATH": str(Path(nel.__file__).parents[1]), "PATH": ""},
        )  # fmt: skip
        n_calls = len(endpoint.calls)
    assert done.returncode == 0, done.stderr
    assert n_calls == 9
    right = sum(row["answer"] == "A" for row in mmlu[:3])
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if "|" in line]
    assert lines[0] == ["Model", "Dataset", "Metric", "Subset", "Num", "Score", "Cat.0"]
    assert lines[1][:5] == ["m", "gsm8k", "mean_acc", "main", "3"]
    assert lines[1][5:] == [str(round(1 / 3, 4)), "default"]
    assert lines[2][:5] == ["m", "mmlu_pro", "mean_acc", "law", "3"]
    assert float(lines[2][5]) == pytest.approx(right / 3, abs=1e-4)
    assert lines[3][:5] == ["m", "mmlu_pro", "mean_acc", "math", "3"]
    assert lines[4][3:5] == ["OVERALL", "6"]


MODELSCOPE_TASK = """
import sys
from nel import TaskConfig, run_task
import gsm8k_adapter

pinned = {"dataset_revision": sys.argv[2]} if sys.argv[2:] else {}
report = run_task(TaskConfig(
    model="m", api_url=sys.argv[1], datasets=["gsm8k"], dataset_hub="modelscope", limit=3,
    dataset_args={"gsm8k": {"few_shot_num": 2, **pinned}},
))["gsm8k"]
print(report.exit_code, report.score, report.run_dir)
"""


@pytest.mark.slow
def test_a_task_reads_from_modelscope(tmp_path: Path) -> None:
    """The adapter as published, with dataset_hub="modelscope": its questions and examples come from that hub, the run
    records the commit, and a run that names it asks the same without the hub.
    """
    pytest.importorskip("modelscope_hub")
    found = rows("gsm8k_test.jsonl.gz", 30)
    lines = [json.dumps(row).encode() + b"\n" for row in found]
    files = {"main/test.jsonl": b"".join(lines[:10]), "main/train.jsonl": b"".join(lines[10:])}
    adapter_file(tmp_path, "gsm8k_adapter")
    (tmp_path / "task.py").write_text(MODELSCOPE_TASK)
    gold = found[0]["answer"].rsplit("#### ", 1)[1]
    environment = {"PYTHONPATH": str(Path(nel.__file__).parents[1]), "PATH": "", "NO_PROXY": "*"}
    environment |= {"HOME": str(tmp_path), "MODELSCOPE_CACHE": str(tmp_path / "cache")}

    def run(*arguments: str) -> tuple[dict[str, Any], list[str]]:
        with scripted(lambda *_: answer(f"ANSWER: {gold}"), models=["m"]) as endpoint:
            done = subprocess.run(
                [sys.executable, "task.py", endpoint.url, *arguments],
                cwd=tmp_path, capture_output=True, text=True, check=False, timeout=280, env=environment,
            )  # fmt: skip
            prompts = [call.body["messages"][-1]["content"] for call in endpoint.calls if "messages" in call.body]
        assert done.returncode == 0, done.stderr
        exit_code, score, run_dir = done.stdout.split()
        assert exit_code == "0"
        assert float(score) == pytest.approx(sum(row["answer"].endswith(f"#### {gold}") for row in found[:3]) / 3)
        asked = sorted(prompt for prompt in prompts if any(row["question"] in prompt for row in found[:3]))
        return read_json(tmp_path / run_dir / "gsm8k" / "eval-gsm8k.json"), asked

    with running_hub(FakeModelScope(repos={"AI-ModelScope/gsm8k": [files]})) as hub:
        environment["MODELSCOPE_ENDPOINT"] = hub.url
        bundle, asked = run()
        commit = hub.commit("AI-ModelScope/gsm8k")
    assert commit in json.dumps(bundle)
    assert len(asked) == 3
    assert all(sum(row["question"] in prompt for row in found[10:]) == 2 for prompt in asked)
    _, again = run(commit)
    assert again == asked

"""The same rows at the same server, asked by nel and by lm-evaluation-harness: equal sample by sample."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers.running import HOME, KEY, MODEL, Server, is_installed, nel, run, started
from tests.servers.test_servers import FACTS, write
from tests.support.runs import read_results

pytestmark = pytest.mark.slow
DIFFERENCE_MAX = 1e-4
"""Between two log-likelihoods of one text in float32; requests are put together in other batches."""
RANKED = """
task: ranked_local
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{question}}}}"
doc_to_choice: "{{{{words}}}}"
doc_to_target: 1
target_delimiter: " "
"""
WRITTEN = """
task: written_local
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: ["\\n\\n\\n\\n"], max_gen_toks: 12, do_sample: false, temperature: 0}}
metric_list: [{{metric: exact_match}}]
"""


@pytest.fixture(scope="module")
def vllm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not (is_installed("vllm") and is_installed("lm_eval")):
        pytest.skip("vllm and lm_eval are not installed; run: make test-servers")
    with started("vllm", tmp_path_factory.mktemp("vllm")) as server:
        yield server


def harness(server: Server, home: Path, task: str, text: str) -> list[dict[str, Any]]:
    """Return what lm-evaluation-harness logs of each sample, asked one at a time."""
    rows = [{"question": ask, "words": [wrong, right], "answer": right} for ask, right, wrong in FACTS]
    (home / "lm_rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (home / "tasks").mkdir()
    (home / "tasks" / f"{task}.yaml").write_text(text.format(rows=home / "lm_rows.jsonl"))
    arguments = {
        "base_url": f"{server.url}/completions", "model": MODEL, "num_concurrent": 1, "tokenized_requests": True,
        "tokenizer_backend": "huggingface", "tokenizer": HOME / "vllm" / "model", "max_length": 512,
    }  # fmt: skip
    done = run(
        [
            HOME / "lm_eval" / "bin" / "lm_eval", "run", "--model", "local-completions", "--model_args",
            ",".join(f"{name}={value}" for name, value in arguments.items()), "--include_path", home / "tasks",
            "--tasks", task, "--output_path", home / "lm", "--log_samples",
        ],
        cwd=home, env={"OPENAI_API_KEY": KEY, "HF_HUB_OFFLINE": "1", "HF_HOME": str(home / "hf")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    (path,) = (home / "lm").rglob(f"samples_{task}_*.jsonl")
    return sorted((json.loads(line) for line in path.read_text().splitlines()), key=lambda row: row["doc_id"])


def test_log_likelihoods_are_those_of_lm_eval(vllm: Server, tmp_path: Path) -> None:
    """Each choice of each sample within 1e-4, so that every sample has the same verdict."""
    write(tmp_path)
    done = nel(
        "eval", "run", "--bench", "ranked.py", "--model-url", vllm.url, "--model-id", MODEL, "--api-key-env",
        "SERVER_KEY", "-o", "out", "-O", "output.run_id=r", "--concurrency", "1", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    measured = [row["scoring_details"]["metrics"] for row in read_results(tmp_path / "out" / "r", "ranked")]
    own = [(found["sum_0"], found["sum_1"]) for found in measured]
    theirs = harness(vllm, tmp_path, "ranked_local", RANKED)
    assert len(own) == len(theirs) == len(FACTS)
    for choices, sample in zip(own, theirs, strict=True):
        for choice, answer in zip(choices, sample["filtered_resps"], strict=True):
            assert math.isclose(choice, float(answer[0]), abs_tol=DIFFERENCE_MAX), (choice, answer)


def test_answers_are_those_of_lm_eval(vllm: Server, tmp_path: Path) -> None:
    """At one request at a time and temperature 0 the generated texts are equal, character by character."""
    write(tmp_path)
    done = nel(
        "eval", "run", "--bench", "facts.py", "--model-url", vllm.url, "--model-id", MODEL, "--api-key-env",
        "SERVER_KEY", "-o", "out", "-O", "output.run_id=r", "--concurrency", "1", "--protocol", "completions",
        "--temperature", "0", "--max-tokens", "12", "-O", "benchmarks.0.truncated=score", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    own = [row["model_response"] for row in read_results(tmp_path / "out" / "r", "facts")]
    theirs = [sample["resps"][0][0] for sample in harness(vllm, tmp_path, "written_local", WRITTEN)]
    assert own == theirs

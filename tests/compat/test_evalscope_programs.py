"""Adapters that run programs, as EvalScope has them: what counts as passed, and what a fault of the sandbox means."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from nel.authoring.registry import find_benchmark
from nel.compat.evalscope.ifeval import process_results
from nel.compat.evalscope.mathematics import compare_answers
from nel.compat.evalscope.programs import extract_code_from_freeform_completion
from nel.errors import PluginError, SandboxError, ScorerError
from nel.sandbox import Program, ProgramVerdict, Sandbox
from nel.scoring.protocol import scoring
from nel.types import Score, ScorerInput

ADAPTER = """
from evalscope.api.benchmark import BenchmarkMeta, DefaultDataAdapter
from evalscope.api.dataset import Sample
from evalscope.api.metric import Score
from evalscope.api.mixin import CodeExecutionSandboxMixin
from evalscope.api.registry import register_benchmark


@register_benchmark(BenchmarkMeta(
    name="own", dataset_id="rows.jsonl", metric_list=["acc"], review_timeout=4, sandbox_config={"image": "IMAGE"},
))
class Own(CodeExecutionSandboxMixin, DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target="", metadata={"test": record["test"]})

    def match_score(self, original_prediction, filtered_prediction, reference, task_state):
        score = Score(extracted_prediction=filtered_prediction, prediction=original_prediction)
        if not self.use_sandbox:
            raise RuntimeError("no sandbox")
        program = filtered_prediction + "\\n" + task_state.metadata["test"]
        try:
            res = self.execute_code_in_sandbox(code=program, timeout=self.review_timeout, language="python")
            score.value = {"acc": res.get("status") == "success" and TEST}
        except Exception as error:
            score.value = {"acc": False}
        return score
"""


@dataclass
class OfThisProcess:
    """A sandbox that runs what it is given as it is, or is out of order."""

    fault: SandboxError | None = None
    asked: Program | None = None

    def run(self, program: Program) -> ProgramVerdict:
        self.asked = program
        if self.fault is not None:
            raise self.fault
        done = subprocess.run([sys.executable, "-I", "-c", program.source], capture_output=True, text=True, check=False)
        return ProgramVerdict(
            verdict="runtime_error" if done.returncode else "wrong",
            mode="shared",
            stdout=done.stdout,
            stderr=done.stderr,
        )


def score(
    folder: Path, reply: str, sandbox: OfThisProcess | Sandbox, *, test: str = "assert f(2) == 4", **words: str
) -> Score:
    path = folder / "own.py"
    path.write_text(
        ADAPTER.replace("IMAGE", words.get("image", "python:3.11-slim")).replace("TEST", words.get("passed", "True")),
        encoding="utf-8",
    )
    benchmark = find_benchmark(str(path))
    sample = benchmark.sample({"q": "Double.", "test": test}, sample_id="0")
    scorer_input = ScorerInput(
        response=reply, target="", metadata=dict(sample.metadata), sample=sample, sandbox=sandbox
    )
    with scoring(benchmark.scorer, scorer_input):
        result = benchmark.scorer(scorer_input)
    assert isinstance(result, Score)
    return result


@pytest.mark.parametrize(
    ("reply", "passed"),
    [
        ("def f(x): return 2 * x", True),
        ("def f(x): return x", False),
        ("import sys\nsys.exit(0)", False),
        ("import os\nprint('TEST_PASSED', flush=True)\nos._exit(0)", False),
    ],
)
def test_a_program_passes_that_reaches_the_end_of_its_tests(tmp_path: Path, reply: str, passed: bool) -> None:
    """One that ends itself before its tests has not passed them; the verdict says that it shared its process."""
    sandbox = OfThisProcess()
    result = score(tmp_path, reply, sandbox)
    assert result.value == {"acc": passed}
    assert (result.metadata["mode"], result.metadata["verdict"] == "passed") == ("shared", passed)
    assert sandbox.asked is not None
    assert sandbox.asked.limits is not None
    assert sandbox.asked.limits.cpu_seconds == 4


def test_a_program_that_is_given_its_input_may_end_where_it_likes(tmp_path: Path) -> None:
    """Its output is what LiveCodeBench's adapter compares, without nel's mark at its end."""
    given = "import io\nimport sys\n\n# Redirect stdin\nsys.stdin = io.TextIOWrapper(io.BytesIO(b'3'))\n"
    printed = 'res["output"].strip() == "6"'
    for ending, passed in (("", True), ("sys.exit(0)", True), ("print(7)", False)):
        reply = f"{given}print(2 * int(input()))\n{ending}"
        assert score(tmp_path, reply, OfThisProcess(), test="", passed=printed).value == {"acc": passed}


def test_a_fault_of_the_sandbox_leaves_the_sample_unscored_whatever_the_adapter_makes_of_it(tmp_path: Path) -> None:
    """The adapter catches it and counts the answer as wrong; nel does not."""
    with pytest.raises(SandboxError, match="no engine"):
        score(tmp_path, "def f(x): return 2 * x", OfThisProcess(fault=SandboxError("no engine", kind="no_engine")))


def test_an_adapter_whose_programs_need_another_image_is_refused_when_its_file_is_read(tmp_path: Path) -> None:
    """Its programs would fail for what nel's image lacks."""
    with pytest.raises(PluginError, match="in the image sandbox-fusion:server"):
        score(tmp_path, "", OfThisProcess(), image="sandbox-fusion:server")


def test_a_package_that_the_image_promises_and_the_sandbox_lacks_is_no_fault_of_a_program(tmp_path: Path) -> None:
    """HumanEval+ tests with numpy, which nel's image holds where it is asked for."""
    with pytest.raises(SandboxError, match="nel sandbox build python --packages nopkg"):
        score(tmp_path, "import nopkg", OfThisProcess(), image="python:3.11-with-nopkg")
    assert score(tmp_path, "import nopkg", OfThisProcess()).value == {"acc": False}


@pytest.mark.docker
def test_nels_own_sandbox_tells_where_a_program_ended(tmp_path: Path) -> None:
    """Its output is given back, and the verdict counts as one that shared its process."""
    with Sandbox() as sandbox:
        assert score(tmp_path, "def f(x): return 2 * x", sandbox).value == {"acc": True}
        ended = score(tmp_path, "import os\nos._exit(0)", sandbox)
    assert (ended.value, ended.metadata["mode"]) == ({"acc": False}, "shared")


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("One:\n```python\nx = 1\n```\nTwo:\n```py\ny = 2\n```", ("x = 1", "fenced")),
        ("```\nz = 3", ("z = 3", "incomplete_fenced")),
        ("So\nimport re\ndef f(x):\n\n    return x\n\nDone", ("import re\ndef f(x):\n    return x\n", "heuristic")),
        ('```python\nx = 1\nif __name__ == "__main__":\n    f()\n```', ("x = 1", "fenced")),
        ("x = 1", ("", "empty")),
    ],
)
def test_code_is_taken_out_of_a_reply_as_evalscope_does(reply: str, code: tuple[str, str]) -> None:
    """Fenced blocks, else one without an end, else what looks like functions; never the part of a main program."""
    assert extract_code_from_freeform_completion(reply, "python", first_block_only=True) == code


def test_ifeval_is_checked_by_nels_own_rules() -> None:
    """Strictly and loosely, by prompt and by instruction, from the row as the dataset has it."""
    row = {
        "key": 1,
        "prompt": "Write.",
        "instruction_id_list": ["punctuation:no_comma", "startend:quotation"],
        "kwargs": [{}, {"num_words": None}],
    }
    assert process_results(row, ['Sure:\n"No comma here"']) == {
        "prompt_level_strict": 0.0,
        "inst_level_strict": 0.5,
        "prompt_level_loose": 1.0,
        "inst_level_loose": 1.0,
    }


@pytest.mark.parametrize(
    ("answer", "gold", "options", "matched"),
    [
        ("3.14", "3.14", {"absolute_tolerance": [1e-8]}, True),
        ("1.01", "1", {"absolute_tolerance": [0.01]}, True),
        ("1.02", "1", {"absolute_tolerance": [0.01]}, False),
        ("\\frac{1}{3}", "0.333", {"absolute_tolerance": [0.01]}, True),
        ("2, 1", "1,2", {"absolute_tolerance": [1e-8], "multiple_answers": True}, True),
        ("1,1", "1", {"absolute_tolerance": [1e-8], "multiple_answers": True}, False),
        ("\\pm 2", "-2, 2", {"absolute_tolerance": [1e-8], "multiple_answers": True}, True),
        ("3.05, 1", "1,3", {"absolute_tolerance": [1e-8, 0.1], "multiple_answers": True}, True),
        ("100.1", "100", {"relative_tolerance": 0.0015, "numeric_reference": True}, True),
    ],
)
def test_numbers_are_compared_within_the_tolerances_that_an_adapter_gives(
    answer: str, gold: str, options: dict[str, object], matched: bool
) -> None:
    """OlympiadBench gives 1e-8 where a row has none, and DocMath a share of the reference."""
    assert compare_answers(answer, gold, **options).matched == matched  # type: ignore[arg-type]


def test_overlap_is_that_of_rouge_chinese_and_nltk() -> None:
    """Numbers of rouge-chinese 1.0.3 and NLTK 3.9, on words as jieba 0.42.1 and NLTK split them."""
    pytest.importorskip("jieba", reason="jieba is not installed: pip install jieba")
    pytest.importorskip("nltk", reason="nltk is not installed: pip install nltk")
    from nel.compat.evalscope.overlap import bleu_ngram_one_sample, compute_rouge_score_one_sample_zh

    rouge = compute_rouge_score_one_sample_zh(["今天天气很好，我们去公园。"], ["今天我们去公园玩吧！天气好。"])
    assert rouge["Rouge-L-R"] == pytest.approx(0.4444444444444444)
    bleu = bleu_ngram_one_sample("Dr. Smith can't go.", "Dr. Smith cannot go there.")
    assert bleu["bleu-1"] == pytest.approx(0.5643211499270759)


def test_a_score_that_an_adapter_does_not_return_is_a_fault(tmp_path: Path) -> None:
    """General-QA returns None where a metric fails."""
    path = tmp_path / "own.py"
    path.write_text(ADAPTER.replace("IMAGE", "python").replace("        return score\n", ""), encoding="utf-8")
    benchmark = find_benchmark(str(path))
    sample = benchmark.sample({"q": "Double.", "test": ""}, sample_id="0")
    scorer_input = ScorerInput(response="x = 1", target="", metadata=dict(sample.metadata), sample=sample)
    scorer_input.sandbox = OfThisProcess()
    with scoring(benchmark.scorer, scorer_input), pytest.raises(ScorerError, match="returned None"):
        benchmark.scorer(scorer_input)

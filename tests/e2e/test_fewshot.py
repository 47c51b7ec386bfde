"""Few-shot examples end to end: the flag, what is sent, resumes, and refusals that cost nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, write_jsonl

BENCH = """
from nel import ScorerInput, benchmark, scorer

@benchmark(name="sums", dataset="test.jsonl", prompt="Q: {q}\\nA:", target_field="a", %s)
@scorer
def sums(sample: ScorerInput) -> dict:
    return {"correct": sample.response == sample.target}
"""


def write(tmp_path: Path, options: str, n: int = 4) -> None:
    (tmp_path / "bench.py").write_text(BENCH % options)
    write_jsonl(tmp_path / "test.jsonl", [{"q": f"{i}+{i}", "a": str(2 * i)} for i in range(n)])
    write_jsonl(tmp_path / "train.jsonl", [{"q": f"{i}+1", "a": str(i + 1)} for i in range(8)])


def add(call: Call, _: int) -> Reply:
    """Answer the last sum of the prompt."""
    text = call.body["messages"][-1]["content"].rsplit("Q: ", 1)[1]
    left, right = text.removesuffix("\nA:").split("+")
    return answer(str(int(left) + int(right)))


def run(tmp_path: Path, url: str, *more: str) -> Any:
    return nel(
        "eval", "run", "--bench", "bench.py", "--model-url", url, "--model-id", "m", "-o", "out", *more, cwd=tmp_path
    )


def test_a_resume_with_other_examples_is_refused(tmp_path: Path) -> None:
    """Another number, and other examples of the same number, are named; the same go on and send nothing twice."""
    write(tmp_path, 'fewshot_dataset="train.jsonl", num_fewshot=1')
    broken = True

    def script(call: Call, number: int) -> Reply:
        failing = broken and "3+3" in str(call.body)
        return Reply(status=501, body={}) if failing else add(call, number)

    with scripted(script, models=["m"]) as endpoint:
        assert run(tmp_path, endpoint.url, "-O", "engine.faults_in_a_row_max=50").returncode == 3
        broken, before = False, len(endpoint.calls)
        other = run(tmp_path, endpoint.url, "--resume", "--num-fewshot", "2")
        assert other.returncode == 2
        assert "num_fewshot: 1 -> 2" in other.stderr
        train = (tmp_path / "train.jsonl").read_text()
        write_jsonl(tmp_path / "train.jsonl", [{"q": "9+9", "a": "18"}, {"q": "8+8", "a": "16"}])
        changed = run(tmp_path, endpoint.url, "--resume")
        assert changed.returncode == 2
        assert "prompt.sha256" in changed.stderr
        assert len(endpoint.calls) == before
        (tmp_path / "train.jsonl").write_text(train)
        (tmp_path / "bench.py").write_text(
            BENCH % 'fewshot_dataset="train.jsonl", num_fewshot=1, fewshot_sampler="seeded"'
        )
        assert "fewshot.sampler: first -> seeded" in run(tmp_path, endpoint.url, "--resume").stderr
        (tmp_path / "bench.py").write_text(BENCH % 'fewshot_dataset="train.jsonl", num_fewshot=1')
        assert run(tmp_path, endpoint.url, "--resume").returncode == 0
        assert len(endpoint.calls) == before + 1

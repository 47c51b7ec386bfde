"""Several prompts of one benchmark: each asked and scored by itself, in one grid over the endpoints."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import nel
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.matrices import N, matrix_config
from tests.support.runs import nel as run_nel
from tests.support.runs import read_json

FLAGS = ("--prompt", "short.txt", "--prompt", "long.txt")
GRID = """
benchmark one two
gsm8k@short 100.00 % (88.65 – 100.00 %) 50.00 % (33.15 – 66.85 %)
gsm8k@long 66.67 % (48.78 – 80.77 %) 0.00 % (0.00 – 11.35 %)
ended done done
"""
"""What `_right_below` answers, with Wilson's intervals of 30, 15, 20 and 0 right answers of 30."""


def _right_below(*, short: int, long: int) -> Callable[[Call, int], Reply]:
    """Return a script that is right where the number of the question is below a bound of its prompt."""

    def script(call: Call, _: int) -> Reply:
        number = call.number
        is_right = number < (short if call.text.startswith("Q:") else long)
        return answer(f"#### {2 * number if is_right else -1}")

    return script


def _write(folder: Path, urls: dict[str, str]) -> None:
    config = matrix_config(folder, urls)
    config["benchmarks"] = config["benchmarks"][:1]
    (folder / "m.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (folder / "short.txt").write_text("Q: {question}", encoding="utf-8")
    (folder / "long.txt").write_text("Think first.\nThen answer: {question}", encoding="utf-8")


def test_prompts_by_models_are_one_grid_that_survives_a_kill(tmp_path: Path) -> None:
    """A dry run shows each prompt; a killed run goes on without the files of the prompts and of the
    rows, asks what has no answer, and ends in a grid of known scores.
    """
    one_script, two_script = _right_below(short=N, long=20), _right_below(short=15, long=0)
    with scripted(one_script, models=["m"]) as one, scripted(two_script, models=["m"]) as two:
        _write(tmp_path, {"one": one.url, "two": two.url})
        dry = run_nel("eval", "run", "m.yaml", *FLAGS, "--dry-run", cwd=tmp_path)
        assert (one.of_samples, two.of_samples) == ([], [])
        assert 'first request of gsm8k@short at one:\n  model: "m"\n  [user]\n  Q: What is 0 plus 0?' in dry.stdout
        assert 'first request of gsm8k@long at one:\n  model: "m"\n  [user]\n  Think first.' in dry.stdout
        killed = run_nel("eval", "run", "m.yaml", *FLAGS, cwd=tmp_path, env={"NEL_FAILPOINT": "after_commit:3"})
        assert killed.returncode == -9
        for name in ("short.txt", "long.txt", "data.jsonl"):
            (tmp_path / name).unlink()
        done = run_nel("eval", "resume", "out/matrix", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        asked = [call.text for call in (*one.of_samples, *two.of_samples)]
    assert len(set(asked)) == 2 * N
    assert 4 * N <= len(asked) < 6 * N
    shown = [re.sub(r"\s+", " ", line).strip() for line in done.stdout.splitlines() if "─" not in line]
    assert shown[1 : shown.index("ended done done") + 1] == GRID.split("\n")[1:-1]
    runs = read_json(tmp_path / "out" / "matrix" / "matrix_results.json")["runs"]
    values = {run["name"]: {slot: score["value"] for slot, score in run["benchmarks"].items()} for run in runs}
    assert values["one"] == {"gsm8k@short": 1.0, "gsm8k@long": pytest.approx(2 / 3)}
    ranked = run_nel("leaderboard", "out/matrix", "--bench", "gsm8k@long", "--json", cwd=tmp_path)
    assert ranked.returncode == 0, ranked.stderr


@pytest.mark.parametrize(
    ("prompts", "message"),
    [
        (["{question}", "Think."], 'leaves out the question of gsm8k, which is {question}; the fields are '),
        (["{question}!", "{question}!"], "the prompts of gsm8k@prompt-1 and gsm8k@prompt-2 are equal; leave one of them out"),
    ],
    ids=["no-field", "equal"],
)  # fmt: skip
def test_prompts_that_cannot_be_compared_are_refused(prompts: list[str], message: str, tmp_path: Path) -> None:
    """One prompt of several that asks nothing, or what another asks, is an error before anything is sent."""
    with scripted(_right_below(short=N, long=N), models=["m"]) as endpoint:
        config = matrix_config(tmp_path, {})
        config |= {
            "benchmarks": [{**config["benchmarks"][0], "prompt": prompts}],
            "endpoint": {"url": endpoint.url, "model": "m"},
        }
        with pytest.raises(nel.NelError, match=re.escape(message)):
            nel.evaluate(config)
        assert endpoint.of_samples == []

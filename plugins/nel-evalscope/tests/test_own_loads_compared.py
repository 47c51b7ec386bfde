"""Adapters with a step of loading of their own: what nel makes of the file is what EvalScope itself loads and asks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.support.own_loads import STEPS, write_adapter, write_rows

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
OF_NEL = """
import json, sys
sys.path.insert(0, sys.argv[1])
from nel_itself import WithoutEvalScope
from importlib.machinery import PathFinder
sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutEvalScope
from nel.authoring.registry import find_benchmark
from nel.datasets.source import open_dataset

told = []
for case in json.load(sys.stdin)["cases"]:
    found = find_benchmark(case["home"]).with_arguments(case["arguments"])
    rows = found.select(open_dataset(found.dataset).read())
    samples = [found.sample(row.data, sample_id=str(row.number)) for row in rows]
    told.append([(one.subset, one.input, one.target) for one in samples])
sys.stdout.write("\\n" + json.dumps(told))
"""


def test_each_step_loads_what_evalscope_loads(tmp_path: Path) -> None:
    """Subsets, order, prompts and examples of all eight."""
    pytest.importorskip("evalscope", reason="evalscope is not installed: pip install evalscope")
    rows = str(write_rows(tmp_path / "rows"))
    cases = [
        {"name": path.stem, "home": str(path), "arguments": {"local_path": rows}}
        for path in (write_adapter(tmp_path, step) for step in STEPS)
    ]
    environment = {
        **os.environ,
        "HF_HOME": str(tmp_path / "hf"),
        "EVALSCOPE_CACHE": str(tmp_path / "cache"),
    }
    programs = [[str(HERE / "evalscope_itself.py")], ["-c", OF_NEL, str(HERE)]]
    said = []
    for program in programs:
        done = subprocess.run(
            [sys.executable, *program], input=json.dumps({"cases": cases, "replies": []}), env=environment,
            capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        said.append(json.loads(done.stdout.splitlines()[-1]))
    theirs, ours = said
    for case, told, made in zip(cases, theirs, ours, strict=True):
        assert "error" not in told, (case["name"], told)
        wanted = [(one["subset"], one["messages"][0]["content"]) for one in told["samples"]]
        assert [(subset, prompt) for subset, prompt, _ in made] == wanted, case["name"]

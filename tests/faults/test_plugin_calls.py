"""Plugins that do what no plugin should while nel calls them: the command's own output and exit code stay true."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.faults.invariants import read_run, totals_agree
from tests.faults.runs import nel_cli, write_config
from tests.faults.server import serving
from tests.support.distributions import install, path_with
from tests.support.runs import only_run
from tests.support.tiers import representatives

METRIC = "from nel.scorers import *\n\n@metric\ndef m():\n    def f(scores):\n        {}\n    return f"


def _run(tmp_path: Path, group: str, source: str, *arguments: str) -> Any:
    """Run four sums with a plugin of a group, named ``plug``, that stands in a package of its own."""
    entries = {f"nel.{group}": {"plug": "plug_module:m"}}
    install(tmp_path / "site", "plug", entries, modules={"plug_module": source})
    with serving() as server:
        path = write_config(tmp_path, server.url, n=4)
        command = ["eval", "run", str(path), "--json", *arguments]
        return nel_cli(command, tmp_path, env=path_with(tmp_path / "site"))


@pytest.mark.parametrize(
    ("source", "exit_code"),
    representatives(
        [(METRIC.format("print('y' * 100_000); return 0.5"), 0), (METRIC.format("raise SystemExit(0)"), 3)],
        "prints",
        ids=["prints", "exits"],
    ),
)
def test_a_metric_harms_neither_stdout_nor_the_run(tmp_path: Path, source: str, exit_code: int) -> None:
    """What it prints is on stderr, and what it raises is in its row."""
    done = _run(tmp_path, "metrics", source, "--metric", "plug")
    ran = read_run(only_run(tmp_path / "out"), done.returncode)
    totals_agree(ran, stdout=json.loads(done.stdout))
    assert (done.returncode, ran.accounting["n_scored"]) == (exit_code, 4)


@pytest.mark.parametrize(
    ("group", "source", "arguments"),
    representatives(
        [
            ("datasets", "def m(*_):\n    raise SystemExit(0)", ("--dataset", "plug://x")),
            ("executors", "def m(**_):\n    raise SystemExit(0)", ("--executor", "plug")),
            ("bridges", "def m(*_):\n    raise SystemExit(0)", ("--bench", "plug://x")),
        ],
        "bridges",
        ids=["datasets", "executors", "bridges"],
    ),
)
def test_a_plugin_that_ends_the_process_is_no_success(
    tmp_path: Path, group: str, source: str, arguments: tuple[str, ...]
) -> None:
    """``sys.exit(0)`` in a plugin is an error that names it, and never the exit code of a run that was not made."""
    done = _run(tmp_path, group, source, *arguments)
    assert done.returncode == 2, done.stderr
    assert "SystemExit" in done.stderr
    assert "plug" in done.stderr
    assert "Traceback" not in done.stderr


def test_code_that_ends_the_process_where_nothing_expects_it(tmp_path: Path) -> None:
    """A benchmark's prompt function, say: the place is named, and the exit code is not that of a success."""
    data = tmp_path / "rows.jsonl"
    data.write_text('{"q": "1", "a": "1"}\n')
    bench = tmp_path / "b.py"
    bench.write_text(
        "import sys\nfrom nel import benchmark, scorer\n"
        "def rows():\n    yield {'q': '1', 'a': '1'}\n    sys.exit(0)\n"
        "@benchmark(name='b', dataset=rows, prompt='{q}', target_field='a')\n@scorer\ndef b(sample):\n    return True\n"
    )
    done = nel_cli(
        ["eval", "run", "--bench", str(bench), "--model-url", "http://127.0.0.1:9/v1", "--model-id", "m"], tmp_path
    )
    assert done.returncode == 2, done.stderr
    assert "SystemExit" in done.stderr

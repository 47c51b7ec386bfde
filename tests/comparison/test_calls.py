"""`nel.compare` and `nel.gate` decide as the commands do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nel
from nel.errors import ConfigError, OutputError, UsageError
from tests.support.runs import nel as cli
from tests.support.runs import write_jsonl

POLICY = {"defaults": {"max_drop": 0.6}}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two scored runs of 40 recorded answers, one with five more wrong."""
    folder = tmp_path_factory.mktemp("runs")
    made = {}
    for name, n_wrong in (("a", 4), ("b", 9)):
        rows = [
            {"question": f"{n} + {n}?", "answer": f"#### {2 * n}", "said": str(n if n < n_wrong else 2 * n)}
            for n in range(1, 41)
        ]
        data = write_jsonl(folder / f"{name}.jsonl", rows)
        result = nel.evaluate(
            {
                "benchmarks": [{"name": "gsm8k", "dataset": str(data), "response_field": "said"}],
                "output": {"dir": str(folder), "run_id": name},
            }
        )
        assert result.exit_code == 0
        made[name] = result.run_dir
    return made


def test_compare_gives_the_comparison_of_the_command(runs: dict[str, Path], tmp_path: Path) -> None:
    """The document is that of --json, verdicts are by run and benchmark, and a notebook shows a table."""
    done = cli("compare", str(runs["a"]), str(runs["b"]), "--json", "--despite", "dataset", cwd=tmp_path)
    compared = nel.compare(runs["a"], runs["b"], despite=["dataset"])
    assert compared.document == json.loads(done.stdout)
    assert compared.verdicts == {
        "b": {"gsm8k": compared.document["candidates"][0]["benchmarks"][0]["headline"]["verdict"]}
    }
    assert "95 % interval" in repr(compared)
    assert "<td" in compared._repr_html_()


def test_gate_decides_as_the_command(runs: dict[str, Path], tmp_path: Path) -> None:
    """The document is decision.json, truth is GO alone, and files are written where that is asked for."""
    policy = tmp_path / "policy.yaml"
    policy.write_text(json.dumps(POLICY))
    sides = (str(runs["a"]), str(runs["b"]))
    done = cli("gate", *sides, "--policy", str(policy), "--despite", "dataset", "-o", "out", cwd=tmp_path)
    decided = nel.gate(*sides, policy=POLICY, despite=["dataset"])
    assert decided.document == json.loads((tmp_path / "out/decision.json").read_text())
    assert (decided.exit_code, bool(decided), decided.decision) == (done.returncode, True, "GO")
    refused = nel.gate(runs["b"], floors={"accuracy": 0.99}, output_dir=tmp_path / "floors")
    assert (refused.exit_code, bool(refused), refused.decision) == (4, False, "NO-GO")
    assert repr(refused).startswith("NO-GO\n")
    assert json.loads((tmp_path / "floors/decision.json").read_text()) == refused.document


def test_what_is_wrong_is_said_in_arguments(runs: dict[str, Path], tmp_path: Path) -> None:
    """A missing candidate, a missing policy, a wrong key and a directory that is not there."""
    with pytest.raises(UsageError, match="compare needs a candidate"):
        nel.compare(runs["a"])
    with pytest.raises(ConfigError, match="gate needs a candidate and a policy, or floors="):
        nel.gate(runs["a"], runs["b"])
    with pytest.raises(ConfigError, match="leave candidate, policy and despite out"):
        nel.gate(runs["a"], floors={"accuracy": 0.5}, despite=["dataset"])
    with pytest.raises(ConfigError, match=r"^floors accuracy=80: .* 0\.8 is 80 %"):
        nel.gate(runs["a"], floors={"accuracy": 80})
    refused = cli("gate", "a", "--fail-under", "accuracy=0.5", "--despite", "dataset", cwd=tmp_path)
    assert (refused.returncode, "leave out --policy, --baseline, --despite" in refused.stderr) == (2, True)
    with pytest.raises(ConfigError, match="policy: "):
        nel.gate(runs["a"], runs["b"], policy={"defalts": {}})
    with pytest.raises(OutputError, match="there is no "):
        nel.compare(runs["a"], tmp_path / "none")

"""Multi-turn rows through nel's own runs: every gold trajectory passes, and verdicts are BFCL's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("bfcl_eval")
sys.path.insert(0, str(Path(__file__).parents[3]))

from nel_bfcl import multi_turn
from trajectories import Script, Trajectory, calling, gold_trajectory, mutated_trajectory, playing

from nel import Sample
from nel.tools import ToolError
from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted
from tests.support.runs import nel, only_run, read_results

CATEGORIES = ("base", "miss_func", "miss_param", "long_context")
ALL = pytest.param(200, marks=[pytest.mark.slow, pytest.mark.timeout(900)])
SAME_FIRST_TURN = ("_40", "_43")


def rows_of(category: str, n: int = 200) -> list[dict[str, Any]]:
    return list(multi_turn.rows_of(category))[:n]


def run(
    tmp_path: Path, category: str, n: int, script: Script
) -> tuple[dict[str, dict[str, Any]], Endpoint]:
    """Run the first n rows against a script; return the lines by id, and the endpoint."""
    name = f"bfcl_multi_turn_{category}"
    with scripted(script) as endpoint:
        done = nel(
            *(
                "eval",
                "run",
                "--bench",
                name,
                "--model-url",
                endpoint.url,
                "--model-id",
                "m",
                "-o",
                "out",
            ),
            *("--max-problems", str(n)),
            cwd=tmp_path,
            timeout=800,
        )
    assert done.returncode == 0, done.stderr
    lines = read_results(only_run(tmp_path / "out"), name)
    return {line["sample_id"]: line for line in lines}, endpoint


def rewards(lines: dict[str, dict[str, Any]]) -> dict[str, float]:
    return {name: line["reward"] for name, line in lines.items()}


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("n", [12, ALL])
def test_gold_calls_pass_every_row(tmp_path: Path, category: str, n: int) -> None:
    """An endpoint that plays the gold calls turn by turn scores 1 on each row."""
    rows = rows_of(category, n)
    lines, _ = run(tmp_path, category, n, playing((row, gold_trajectory(row)) for row in rows))
    assert rewards(lines) == {row["id"]: 1.0 for row in rows}


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("n", [12, ALL])
def test_no_calls_pass_no_row(tmp_path: Path, category: str, n: int) -> None:
    """An endpoint that never calls anything scores 0 on each row."""
    lines, _ = run(tmp_path, category, n, lambda *_: answer("I cannot."))
    assert rewards(lines) == {row["id"]: 0.0 for row in rows_of(category, n)}


@pytest.mark.parametrize(
    ("category", "seed", "n"),
    [
        *[(category, 1, 12) for category in CATEGORIES],
        *[pytest.param(category, 1, *ALL.values, marks=ALL.marks) for category in CATEGORIES],
        pytest.param("base", 2, *ALL.values, marks=ALL.marks),
    ],
)
def test_verdicts_on_mutated_trajectories_are_those_of_bfcl(
    tmp_path: Path, category: str, seed: int, n: int
) -> None:
    """BFCL's own loop, decoding and checker come to the same verdict on the same answers of a model."""
    official_run = pytest.importorskip("official_run")
    rows = rows_of(category, n)
    script = playing((row, _trajectory(row, seed)) for row in rows)
    lines, _ = run(tmp_path, category, n, script)
    theirs = official_run.verdicts(f"multi_turn_{category}", n, script)
    assert rewards(lines) == {name: float(valid) for name, valid in theirs.items()}
    assert len(set(theirs.values())) == 2


def _trajectory(row: dict[str, Any], seed: int) -> Trajectory:
    """Return a row's mutated calls; the gold ones of two rows that begin with the same turn."""
    return (
        gold_trajectory(row)
        if row["id"].endswith(SAME_FIRST_TURN)
        else mutated_trajectory(row, seed)
    )


def of_first_row(steps: list[Reply]) -> Script:
    """Return a script for the first turn of a row; nothing is called in later ones."""

    def script(call: Call, _: int) -> Reply:
        messages = call.body["messages"]
        n_asked = sum(message["role"] == "user" for message in messages)
        number = sum(message["role"] == "assistant" for message in messages)
        return steps[number] if n_asked == 1 and number < len(steps) else answer("Done.")

    return script


def test_the_21st_step_of_a_turn_stops_the_model(tmp_path: Path) -> None:
    """Its calls run, no further turn is asked, and the row fails as BFCL's does."""
    lines, endpoint = run(tmp_path, "base", 1, of_first_row([calling([("pwd", {})])] * 30))
    (line,) = lines.values()
    assert len(endpoint.calls) == 21
    assert line["episode"]["tool_calls"] == 21
    assert line["scoring_details"]["error_type"] == "multi_turn:force_terminated"


def test_a_call_that_cannot_be_read_ends_its_turn(tmp_path: Path) -> None:
    """No call of that answer runs; the model is told why, and the user goes on."""
    steps = [calling([("mkdir", {"dir_name": "temp"}), ("cd", '{"folder": ')])]
    lines, endpoint = run(tmp_path, "base", 1, of_first_row(steps))
    second = endpoint.calls[1].body["messages"]
    assert [message["role"] for message in second] == ["user", "assistant", "tool", "tool", "user"]
    assert "cannot be read" in second[2]["content"] + second[3]["content"]
    (line,) = lines.values()
    assert line["episode"]["tool_errors"] == {"bad_json": 1}
    assert line["scoring_details"]["error_type"] == "multi_turn:empty_turn_model_response"


def test_functions_that_come_later_are_offered_from_their_turn_on(tmp_path: Path) -> None:
    """The user says so in a turn of its own; the endpoint is offered them in this request first."""
    (row,) = rows_of("miss_func", 1)
    _, endpoint = run(tmp_path, "miss_func", 1, playing([(row, gold_trajectory(row))]))
    ((turn, names),) = row["later_functions"].items()
    for call in endpoint.calls:
        n_asked = sum(message["role"] == "user" for message in call.body["messages"])
        offered = {tool["function"]["name"] for tool in call.body["tools"]}
        assert set(names).issubset(offered) == (n_asked > int(turn))
    assert row["turns"][int(turn)].startswith("I have updated some more functions")


def environment_of(category: str) -> multi_turn.Functions:
    (row,) = rows_of(category, 1)
    made = multi_turn.Functions(Sample(id=row["id"], input="", metadata=row))
    made.on_turn(0)
    return made


def test_a_function_that_is_not_offered_runs_as_in_bfcl() -> None:
    """What a model calls by a guess acts on the objects, and counts."""
    functions = environment_of("miss_func")
    assert "sort" not in {tool.name for tool in functions.tools()}
    assert "document" in functions.call("ls", {})
    functions.call("cd", {"folder": "document"})
    assert "Year2024" in functions.call("sort", {"file_name": "final_report.pdf"})


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("open", {"file": "written", "mode": "w"}),
        ("ls", {"a=open('written', 'w')": True}),
        ("_load_scenario", {}),
    ],
)
def test_what_a_model_writes_is_never_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, arguments: dict[str, Any]
) -> None:
    """BFCL evaluates calls as Python; only functions of its classes run here, and only with values."""
    monkeypatch.chdir(tmp_path)
    functions = environment_of("base")
    with pytest.raises(ToolError, match="Error during execution"):
        functions.call(name, arguments)
    assert not (tmp_path / "written").exists()

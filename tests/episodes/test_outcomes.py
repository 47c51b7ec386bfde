"""What an episode comes to: what the model did is text to it, and no fault of anything else is ever a score."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.episodes.bank import calling, depositing, n_results, results, write_bank
from tests.support.endpoint import Call, Reply, Script, answer, scripted
from tests.support.runs import nel, only_run, read_results

ONE = ("--model-id", "m", "-o", "out")


def run(
    tmp_path: Path, script: Script, name: str = "bank", *options: str, n: int = 1
) -> tuple[list[dict], list[Call], int]:
    """Run a benchmark of the bank; return its lines, the requests and the exit code."""
    path = write_bank(tmp_path, n)
    with scripted(script) as endpoint:
        done = nel(
            *("eval", "run", "--bench", f"{path}:{name}", "--model-url", endpoint.url, *ONE, *options),
            cwd=tmp_path,
            env={"MAILS": str(tmp_path / "mails")},
        )
    return read_results(only_run(tmp_path / "out"), name), endpoint.calls, done.returncode


def test_an_episode_is_scored_by_what_its_environment_says(tmp_path: Path) -> None:
    """The scorer sees the evidence and the whole conversation; the line says what the episode came to."""
    lines, calls, code = run(tmp_path, depositing, n=3)
    assert code == 0
    assert [line["reward"] for line in lines] == [1.0, 1.0, 1.0]
    assert lines[0]["scoring_details"]["metrics"]["messages"] == 9
    assert lines[0]["episode"] == {
        "solver": "react",
        "steps": 4,
        "tool_calls": 4,
        "tool_errors": {},
        "bytes_cut": 0,
        "ended_by": "solver",
        "cost": None,
    }
    assert lines[0]["tokens"]["prompt"] == 4 * 7
    assert len(calls) == 12


def test_only_the_scorer_sees_a_gold_field(tmp_path: Path) -> None:
    """Neither the target nor a hidden field reaches tools or the endpoint."""
    lines, calls, _ = run(tmp_path, depositing)
    assert "canary" not in str([call.body for call in calls])
    store = next((tmp_path / "out").glob("*/run.db")).parent
    assert lines[0]["metadata"]["secret"] == "canary"
    assert "canary" not in _evidence(store)


def _evidence(run_dir: Path) -> str:
    import sqlite3  # the store itself, as anybody may read it

    with closing(sqlite3.connect(run_dir / "run.db")) as store:
        return str(store.execute("SELECT request FROM steps WHERE role > 1").fetchall())


def test_the_model_reads_what_it_did_wrong(tmp_path: Path) -> None:
    """The episode goes on after calls that failed by the model's doing, and counts each by its kind."""
    wrong = {
        'no tool "nothing"': ("nothing", {}),
        "not JSON": ("deposit", '{"amount": 1'),
        "is not of type 'integer'": ("deposit", {"amount": "3"}),
        "'to' was unexpected": ("deposit", {"amount": 3, "to": "me"}),
        "never negative": ("deposit", {"amount": -3}),
    }

    def script(request: Call, _: int) -> Reply:
        return calling(*wrong.values(), ("deposit", {"amount": 0})) if n_results(request) == 0 else answer("done")

    lines, calls, code = run(tmp_path, script)
    counts = {"unknown_tool": 1, "bad_json": 1, "bad_arguments": 2, "tool_error": 1}
    assert (code, lines[0]["reward"], lines[0]["episode"]["tool_errors"]) == (0, 1.0, counts)
    *told, last = results(calls[1])
    assert [words in text for words, text in zip(wrong, told, strict=True)] == [True] * len(wrong)
    assert last == '{"balance":10}'


def test_a_toolset_may_run_calls_of_any_name(tmp_path: Path) -> None:
    """What runs them is not offered to the model, and takes part in the state."""

    def script(request: Call, _: int) -> Reply:
        if n_results(request) == 0:
            return calling(("ls", {}), ("rm", {}), ("mv", {}))
        return answer("done")

    lines, calls, code = run(tmp_path, script, "shell")
    assert (code, lines[0]["reward"], lines[0]["episode"]["tool_errors"]) == (0, 1.0, {})
    assert [tool["function"]["name"] for tool in calls[0].body["tools"]] == ["ls"]
    assert results(calls[1]) == ["a b", "rm: not found", "mv: not found"]


def test_a_long_output_keeps_head_and_tail(tmp_path: Path) -> None:
    """The model reads how many bytes are missing, and the line counts them."""

    def script(request: Call, _: int) -> Reply:
        return calling(("long_list", {"n": 20_000})) if n_results(request) == 0 else answer("done")

    lines, calls, _ = run(tmp_path, script)
    assert "3,616 bytes of the output are left out here" in results(calls[1])[0]
    assert lines[0]["episode"]["bytes_cut"] == 3_616


@pytest.mark.parametrize(("how", "kind"), [("raise", "tool_raised"), ("die", "tool_died")])
def test_a_fault_of_a_tool_is_never_a_score(tmp_path: Path, how: str, kind: str) -> None:
    """The sample is unscored by its environment, and the run exits 3."""

    def script(request: Call, _: int) -> Reply:
        return calling(("crash", {"how": how})) if n_results(request) == 0 else answer("done")

    lines, calls, code = run(tmp_path, script, "functions")
    assert code == 3
    assert lines[0]["reward"] is None
    assert (lines[0]["outcome"]["cause"], lines[0]["outcome"]["kind"]) == ("environment", kind)
    assert len(calls) == (3 if kind == "tool_died" else 1)
    assert (lines[0]["episode"]["steps"], lines[0]["episode"]["ended_by"]) == (1, f"environment:{kind}")
    assert lines[0]["timing"]["episode"]["attempts"] == len(calls)


def test_a_tool_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    """The model reads so, and other tools go on in a new process."""

    def script(request: Call, _: int) -> Reply:
        if n_results(request) == 0:
            return calling(("crash", {"how": "hang"}), ("add", {"a": 1}))
        return answer("done")

    lines, calls, code = run(tmp_path, script, "functions")
    assert (code, lines[0]["reward"], lines[0]["episode"]["tool_errors"]) == (0, 1.0, {"timeout": 1})
    assert results(calls[1]) == ["crash took longer than 0.3 s and was stopped.", "2"]


def test_an_endpoint_that_is_lost_in_a_step_scores_nothing(tmp_path: Path) -> None:
    """A step without an answer leaves the sample unscored, whatever came before."""

    def script(request: Call, _: int) -> Reply:
        if n_results(request) == 0:
            return calling(("deposit", {"amount": 0}))
        return Reply(status=400, body={"error": {"message": "bad request", "type": "odd"}})

    lines, _, code = run(tmp_path, script)
    assert code != 0
    assert (lines[0]["reward"], lines[0]["outcome"]["cause"]) == (None, "infra")


def test_what_a_limit_ends_is_scored_as_it_stands(tmp_path: Path) -> None:
    """The limit that ended it is named; the state that was reached counts."""

    def script(request: Call, _: int) -> Reply:
        return calling(("deposit", {"amount": 0})) if n_results(request) == 0 else calling(("add", {"a": 1}))

    lines, calls, code = run(tmp_path, script, "bank", "--max-steps", "3")
    assert (code, lines[0]["reward"], lines[0]["episode"]["ended_by"]) == (0, 1.0, "limit:steps")
    assert len(calls) == 3


def test_a_row_may_have_limits_of_its_own(tmp_path: Path) -> None:
    """They hold for its sample alone; a row whose limits cannot be read is a bad row, and the run goes on."""
    lines, _, code = run(tmp_path, depositing, "rationed", n=3)
    assert code == 3
    assert [line["outcome"]["cause"] for line in lines] == [None, None, "bad_row"]
    assert [line["episode"]["ended_by"] for line in lines[:2]] == ["limit:steps", "solver"]
    assert "episode" not in lines[2]
    assert "stepz" in lines[2]["outcome"]["detail"]


def test_a_solver_cannot_end_the_run(tmp_path: Path) -> None:
    """`sys.exit` in a solver is its own error, and its sample is unscored."""
    lines, _, code = run(tmp_path, depositing, "exiting")
    assert (code, lines[0]["outcome"]["kind"]) == (3, "solver_raised")


def test_a_model_that_repeats_itself_is_stuck(tmp_path: Path) -> None:
    """The same call with the same result, again and again, ends the episode."""

    lines, calls, _ = run(
        tmp_path, lambda *_: calling(("add", {"a": 1})), "bank", "-O", "benchmarks.0.limits.equal_calls=4"
    )
    assert lines[0]["episode"]["ended_by"] == "limit:equal_calls"
    assert len(calls) == 4


def test_a_benchmark_may_have_a_limit_fail(tmp_path: Path) -> None:
    """With on_limit="fail" it is a failure of the model of that kind, which counts 0."""
    lines, _, _ = run(tmp_path, lambda *_: calling(("add", {"a": 1})), "strict")
    assert (lines[0]["reward"], lines[0]["outcome"]["kind"]) == (0.0, "limit")


def once(*calls: tuple) -> Script:
    """Play a model that makes calls, and is done once it has their results."""
    return lambda request, _: calling(*calls) if n_results(request) == 0 else answer("done")


def test_the_model_is_shown_what_a_tool_returns(tmp_path: Path) -> None:
    """Text as it is, anything else as JSON, of an async tool too; what a tool prints is not its result."""
    odd = [("odd", {"what": what}) for what in ("set", "nan", "none")]
    lines, calls, code = run(tmp_path, once(("print", {"n": 2}), *odd, ("double", {"n": 4})), "functions")
    assert (code, lines[0]["reward"], results(calls[1])) == (0, 1.0, ["yy", "[1]", "NaN", "", "8"])


@pytest.mark.parametrize(
    ("name", "fault", "kind", "n_calls"),
    [
        ("faulty", "init", "setup", 0),
        ("faulty", "evidence", "verifier_raised", 2),
        ("silent", "", "never_asked", 0),
        ("raising", "", "solver_raised", 1),
        ("functions", "", "tool_raised", 1),
    ],
)
def test_a_fault_of_the_benchmark_is_never_a_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, fault: str, kind: str, n_calls: int
) -> None:
    """Its set-up, its evidence, its solver, a tool's result that is not JSON: unscored, and named; the run exits 3."""
    monkeypatch.setenv("FAULT", fault)
    call = ("odd", {"what": "object"}) if name == "functions" else ("add", {"a": 1})
    lines, calls, code = run(tmp_path, once(call), name)
    outcome = lines[0]["outcome"]
    assert (code, len(calls)) == (3, n_calls)
    assert (lines[0]["reward"], outcome["cause"], outcome["kind"]) == (None, "environment", kind)


def test_a_solver_cannot_hide_what_ended_its_episode(tmp_path: Path) -> None:
    """An endpoint that is lost leaves the sample unscored, even where the solver caught it and answered."""
    name = "swallowing"
    refusal = Reply(status=400, body={"error": {"message": "bad request", "type": "odd"}})
    lines, _, code = run(
        tmp_path, lambda call, _: calling(("add", {"a": 1})) if n_results(call) == 0 else refusal, name
    )
    assert code != 0
    assert (lines[0]["reward"], lines[0]["outcome"]["cause"]) == (None, "infra")


def test_a_solver_that_never_ends_is_abandoned(tmp_path: Path) -> None:
    """A bare `except` in `while True` swallows every ending: its sample is unscored, named, and the run ends."""
    lines, calls, code = run(tmp_path, lambda *_: calling(("add", {"a": 1})), "spinning", "--max-steps", "2", n=2)
    assert (code, len(calls)) == (3, 4)
    assert {(line["reward"], line["outcome"]["kind"]) for line in lines} == {(None, "solver_stuck")}
    assert "limit steps: 2 is reached" in lines[0]["outcome"]["detail"]


FULL = {"message": "This model's maximum context length is 10 tokens.", "code": "context_length_exceeded"}


@pytest.mark.parametrize(
    ("last", "kind"),
    [
        (Reply(status=400, body={"error": {**FULL, "type": "invalid_request_error"}}), "context_exceeded"),
        (answer(None, refusal="I will not."), "refusal"),
    ],
)
def test_how_the_last_answer_failed_counts_where_nothing_is_solved(tmp_path: Path, last: Reply, kind: str) -> None:
    """The final state is verified first: solved it is a reward, otherwise a failure of the model of that kind."""

    def script(request: Call, _: int) -> Reply:
        amount = 1 if "Add 1" in request.text else 5
        return calling(("deposit", {"amount": amount})) if n_results(request) == 0 else last

    lines, _, code = run(tmp_path, script, n=2)
    assert code == 0
    assert [(line["reward"], line["outcome"]["kind"]) for line in lines] == [(0.0, kind), (1.0, None)]

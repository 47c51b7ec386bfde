"""What the process of an episode's tools has of the run, what it leaves behind, and how its faults are called."""

from __future__ import annotations

from pathlib import Path

from tests.episodes.bank import calling, n_results, results
from tests.support.endpoint import Call, Script, answer, scripted
from tests.support.runs import nel, only_run, read_results

SOURCE = '''
import os, subprocess, sys, time
from pathlib import Path
from pydantic import BaseModel, field_validator
from nel import benchmark, scorer
from nel.tools import Toolset, tool

rows = [{"question": f"Add {i}.", "target": i} for i in range(2)]

class Even(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def is_even(cls, number):
        if number % 2:
            raise ValueError("it is odd")
        return number

@tool
def look() -> dict:
    """Return the variables of this process and of those above it, and what its descriptors are."""
    environ, pid = "", os.getpid()
    while pid > 1:
        environ += Path(f"/proc/{pid}/environ").read_text(errors="replace")
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        if pid > 1 and os.readlink(f"/proc/{pid}/exe") != os.readlink("/proc/self/exe"):
            break
    names = sorted(os.listdir("/proc/self/fd"), key=int)
    kinds = [os.readlink(f"/proc/self/fd/{name}") for name in names if os.path.exists(f"/proc/self/fd/{name}")]
    variables = subprocess.run(["env"], capture_output=True, text=True).stdout
    return {"environ": environ, "variables": variables, "handles": kinds}

@tool
def leave() -> str:
    """Start a process that outlives the episode, unless it is ended."""
    code = "import os, time; os.fork() and os._exit(0); open('left', 'a').write(f'{os.getpid()} '); time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    while not (os.path.exists("left") and open("left").read()):
        time.sleep(0.01)
    return "started"

@tool
def count_left() -> int:
    """Return how many of the processes that were left behind are there."""
    return sum(os.path.exists(f"/proc/{pid}") for pid in open("left").read().split())

@tool
def kill_parent() -> str:
    """Kill the process above."""
    os.kill(os.getppid(), 9)
    time.sleep(60)

@tool
def halve(even: Even) -> int:
    """Halve a number."""
    return Even(number=even.number // 2).number

@tool
def ratio(a: float, b: float) -> dict:
    """Divide."""
    return {"ratio": a / b if b else float("nan")}

@tool(parallel=True)
def stall() -> None:
    """Take too long."""
    time.sleep(60)

def parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])

@tool
def count_processes() -> int:
    """Return how many processes of tools the run has."""
    server = parent_of(os.getppid())
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return sum(parent_of(pid) == server for pid in pids if os.path.exists(f"/proc/{pid}/stat"))

class Scale(Toolset):
    def evidence(self):
        return {"weights": [1.0, float("inf")]}

tools = [look, leave, count_left, kill_parent, halve, ratio, stall, count_processes]

def declare(name, **more):
    @benchmark(name=name, dataset=lambda: rows, prompt="{question}", tools=tools, env="DECLARED", **more)
    @scorer
    def scored(sample):
        return True
    return scored

async def noting(sample, episode):
    episode.note("share", (0.5, float("nan")))
    return "done"

tooled, weighed = declare("tooled"), declare("weighed", environment=Scale)
hasty = declare("hasty", limits={"tool_seconds": 0.3})
noted = declare("noted", solver=noting)
'''
KEY = "sk-planted-0123456789-abcdef"


def run(tmp_path: Path, script: Script, bench: str = "tooled", *options: str) -> tuple[list[dict], list[Call], int]:
    """Run it one sample after the other; return the result lines, the requests and the exit code."""
    (tmp_path / "b.py").write_text(SOURCE, encoding="utf-8")
    with scripted(script) as endpoint:
        where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out", "--concurrency", "1", "--episodes", "1")
        env = {"OTHER_API_KEY": KEY, "DECLARED": "as declared", "UNDECLARED": "stays with nel"}
        done = nel("eval", "run", "--bench", f"b.py:{bench}", *where, *options, cwd=tmp_path, env=env)
    return read_results(only_run(tmp_path / "out"), bench), endpoint.calls, done.returncode


def calls_once(name: str, arguments: dict | str = "{}") -> Script:
    """Return a script that calls a tool once in each episode."""
    return lambda call, _: answer("done") if n_results(call) else calling((name, arguments))


def test_a_tool_has_the_variables_that_are_passed_on_and_nothing_of_the_run(tmp_path: Path) -> None:
    """Neither its own variables nor /proc/PID/environ of any process of nel hold the others; it has one connection."""
    lines, calls, code = run(tmp_path, calls_once("look"))
    assert code == 0, [line["outcome"] for line in lines]
    (shown,) = results(calls[1])
    assert KEY not in shown
    assert "stays with nel" not in shown
    assert "DECLARED=as declared" in shown
    assert "PATH=/" in shown
    assert shown.count("socket:") == 1
    assert "pipe:" not in shown
    assert "eventpoll" not in shown


def test_what_a_tool_starts_ends_with_its_episode(tmp_path: Path) -> None:
    """A process in a session of its own, whose parent is gone, is not there any more in the next episode."""

    def script(call: Call, _: int) -> object:
        name = "leave" if "Add 0" in call.text else "count_left"
        return answer("done") if n_results(call) else calling((name, {}))

    _, calls, code = run(tmp_path, script)
    assert (code, results(calls[1]), results(calls[3])) == (0, ["started"], ["0"])


def test_a_tool_that_kills_its_parent_ends_its_own_episode(tmp_path: Path) -> None:
    """The process above it is its own; the other episodes go on."""

    def script(call: Call, _: int) -> object:
        return calling(("kill_parent", {})) if "Add 0" in call.text and not n_results(call) else answer("done")

    lines, _, code = run(tmp_path, script)
    assert code == 3
    assert [(line["outcome"]["kind"], line["reward"]) for line in lines] == [("tool_died", None), (None, 1.0)]


def test_calls_at_once_that_take_too_long_leave_one_process(tmp_path: Path) -> None:
    """Each is stopped and the model reads so; the process that they shared is replaced once."""

    def script(call: Call, _: int) -> object:
        by_results = (calling(("stall", {}), ("stall", {}), ("stall", {})), *[calling(("count_processes", {}))] * 3)
        return answer("done") if n_results(call) > 3 else by_results[n_results(call)]

    _, calls, code = run(tmp_path, script, "hasty")
    stopped = "stall took longer than 0.3 s and was stopped."
    assert (code, results(calls[2])) == (0, [stopped] * 3 + ["1"])


def test_arguments_that_a_model_refuses_are_the_models_and_what_the_tool_builds_is_its_own(tmp_path: Path) -> None:
    """A validator is a part of the schema; the same error from inside the tool leaves the sample unscored."""

    def script(call: Call, _: int) -> object:
        number = 3 if "Add 0" in call.text else 6
        return answer("done") if n_results(call) else calling(("halve", {"even": {"number": number}}))

    lines, calls, code = run(tmp_path, script)
    assert code == 3
    assert "even.number: Value error, it is odd" in results(calls[1])[0]
    assert [line["outcome"]["kind"] for line in lines] == [None, "tool_raised"]


def test_a_number_that_json_has_not_is_named(tmp_path: Path) -> None:
    """NaN in a result is shown as NaN, in arguments it is an error for the model, and in evidence one of the author."""

    def script(call: Call, _: int) -> object:
        arguments = '{"a": 1, "b": 0}' if "Add 0" in call.text else '{"a": NaN, "b": 1e999}'
        return answer("done") if n_results(call) else calling(("ratio", arguments))

    _, calls, code = run(tmp_path, script)
    assert (code, results(calls[1])) == (0, ['{"ratio":NaN}'])
    assert "NaN is not a number of JSON" in results(calls[3])[0]


def test_evidence_without_a_json_form_is_unscored(tmp_path: Path) -> None:
    """Null would be another state than infinity; the path to it is named."""
    lines, _, code = run(tmp_path, lambda *_: answer("done"), "weighed")
    assert (code, {line["outcome"]["kind"] for line in lines}) == (3, {"verifier_raised"})
    assert "$.weights[1] is inf" in lines[0]["outcome"]["detail"]


def test_a_note_without_a_json_form_is_the_solvers_fault(tmp_path: Path) -> None:
    """It would be stored as null, which a reader of the transcript takes for another value."""
    lines, _, code = run(tmp_path, lambda *_: answer("done"), "noted")
    assert (code, {line["outcome"]["kind"] for line in lines}) == (3, {"solver_raised"})
    assert 'the note "share" has a number that JSON has no form for: $[1] is nan' in lines[0]["outcome"]["detail"]

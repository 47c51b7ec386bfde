"""Tasks of several stages: each is a conversation of its own in the environment that the one before left."""

from __future__ import annotations

from pathlib import Path

from tests.episodes.bank import calling, n_results
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, only_run, read_results

SOURCE = '''
from nel import benchmark, scorer
from nel.tools import EnvironmentMaker, Toolset, tool


class Stages(Toolset):
    """Counts, and asks for three numbers."""

    total, stage = 0, 1

    @tool
    def add(self, n: int) -> int:
        """Add a number."""
        self.total += n
        return self.total

    def next_stage(self):
        self.stage += 1
        return {"instruction": f"Add {self.stage}.", "work_seconds": 60} if self.stage < 4 else None

    def evidence(self):
        return [self.total, self.stage]


class Maker(EnvironmentMaker):
    """Makes it."""

    grace_seconds = 60.0

    def __call__(self, sample):
        return Stages(sample)


@benchmark(
    name="stages",
    dataset=lambda: [{"id": "a", "q": "Add 1.", "target": "", "limits": {"work_seconds": SECONDS}}],
    prompt="{q}",
    system_prompt="Be short.",
    limits_field="limits",
    environment=Maker(),
)
@scorer
def stages(sample):
    return sample.evidence == [6, 4]
'''


def adding(call: Call, _: int) -> Reply:
    """Play a model that adds the number that it is asked for."""
    if n_results(call):
        return answer("done")
    return calling(("add", {"n": int(call.text.split("Add ")[1][0])}))


def evaluate(home: Path, seconds: float, *options: str) -> tuple[dict, list[list[str]]]:
    """Run the benchmark; return its line, and the messages of each request."""
    (home / "stages.py").write_text(SOURCE.replace("SECONDS", str(seconds)))
    with scripted(adding) as endpoint:
        where = ("--bench", "./stages.py", "--model-url", endpoint.url, "--model-id", "m", "-o", "out")
        done = nel("eval", "run", *where, *options, cwd=home)
        assert done.returncode == 0, done.stderr
        asked = [[str(message["content"]) for message in call.body["messages"]] for call in endpoint.calls]
    return read_results(only_run(home / "out"), "stages")[0], asked


def test_a_stage_is_a_conversation_of_its_own_in_the_same_environment(tmp_path: Path) -> None:
    """The system prompt stays, the messages of the stage before do not; the evidence is that of all."""
    line, asked = evaluate(tmp_path, 60)
    assert (line["reward"], line["episode"]["ended_by"], line["episode"]["steps"]) == (1.0, "solver", 6)
    assert [messages for messages in asked if len(messages) == 2] == [["Be short.", f"Add {n}."] for n in (1, 2, 3)]
    assert len(asked) == 6


def test_where_the_time_of_a_stage_is_over_the_next_begins_and_another_limit_ends_all(tmp_path: Path) -> None:
    """The first stage has no time for a second request; the limit of steps ends the episode in the second."""
    line, asked = evaluate(tmp_path, 1e-9, "--max-steps", "3")
    assert [messages[1] for messages in asked] == ["Add 1.", "Add 2.", "Add 2."]
    assert (line["reward"], line["episode"]["ended_by"]) == (0.0, "limit:steps")

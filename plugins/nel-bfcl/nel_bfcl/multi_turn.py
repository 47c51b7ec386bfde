"""The multi-turn categories: an assistant that works on file systems, cars, orders and bookings
through the functions of BFCL's classes.

The functions run in the episode's own process. The verdict is that of BFCL's checker on the calls
that ran.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import getmembers, ismethod
from typing import Any, Final

from pydantic import BaseModel

from nel import Benchmark, Sample, Score, ScorerInput, benchmark, scorer
from nel.episodes import Episode
from nel.tools import ANY_NAME, Tool, ToolError, Toolset
from nel.types import Json, JsonObject, Message
from nel_bfcl.functions import offered_tools, with_hints
from nel_bfcl.gold import call_of
from nel_bfcl.official import (
    check_turns,
    dataset_of,
    forget_objects,
    import_classes,
    read_lines,
    run_calls,
)

STEPS_OF_TURN: Final = 21
"""BFCL counts a step once its calls have run, and stops the model when the count exceeds 20."""
_TURNS_MAX: Final = 8
LIVE: Final = "nel_live"
_FAILED: Final = "Error during execution: "
_UNDEFINED: Final = "no_such_function()"
"""Recorded for a call of what is not a function of the classes, and never for one that is."""


def rows_of(category: str) -> Iterable[dict[str, Any]]:
    """Return a category's rows; where functions come later, the user says so in a turn of its
    own.

    The first states are JSON text, which keeps the order of files in their folders.
    """
    answers = read_lines("possible_answer", f"BFCL_v4_multi_turn_{category}.json")
    gold = {answer["id"]: answer["ground_truth"] for answer in answers}
    from bfcl_eval.constants.default_prompts import (  # noqa: PLC0415
        DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC as MORE_FUNCTIONS,
    )

    rows = read_lines(f"BFCL_v4_multi_turn_{category}.json")
    import_classes({name for row in rows for name in row["involved_classes"]})
    for row in rows:
        yield {
            "id": row["id"],
            "turns": [
                messages[0]["content"] if messages else MORE_FUNCTIONS
                for messages in row["question"]
            ],
            "initial_config": json.dumps(row["initial_config"]),
            "involved_classes": row["involved_classes"],
            "later_functions": row.get("missed_function", {}),
            "target": gold[row["id"]],
        }


def tools_by_turn(row: Mapping[str, Any]) -> dict[int, list[JsonObject]]:
    """Return the tools that are new in a turn, in the OpenAI shape; those of the first are in turn
    0.
    """
    from bfcl_eval.constants.executable_backend_config import (  # noqa: PLC0415
        MULTI_TURN_FUNC_DOC_FILE_MAPPING as FILES,
    )

    functions = [
        function
        for name in row["involved_classes"]
        for function in read_lines("multi_turn_func_doc", FILES[name])
    ]
    later_functions: dict[int, list[JsonObject]] = {}
    for turn, names in row["later_functions"].items():
        later_functions[int(turn)] = [
            function for name in names for function in functions if function["name"] == name
        ]
    later_names = {name for names in row["later_functions"].values() for name in names}
    first_functions = [function for function in functions if function["name"] not in later_names]
    return {
        0: offered_tools(with_hints(first_functions, "python")),
        **{turn: offered_tools(functions) for turn, functions in later_functions.items()},
    }


@dataclass(frozen=True, kw_only=True)
class Function(Tool):
    """A function of BFCL's classes; arguments are not checked before, since BFCL runs any."""

    shape: JsonObject
    """As the model is offered it."""

    def as_json(self) -> JsonObject:
        """Return the tool in the OpenAI shape."""
        return self.shape

    def problems(self, arguments: object) -> list[str]:
        """Return nothing: what does not fit raises in the function."""
        return []

    def run(self, arguments: Mapping[str, object], sample: Sample) -> str:
        """Run the function that has the tool's name."""
        result: str = self.function(self.name, arguments)
        return result


class Functions(Toolset):
    """The objects of a row's classes, and what was called of them in each turn."""

    def __init__(self, sample: Sample) -> None:
        """Make the objects in their first state."""
        super().__init__(sample)
        self._row = sample.metadata
        self._added = tools_by_turn(self._row)
        self._turns: list[list[str]] = []
        forget_objects(LIVE)
        self._names = {
            name
            for item in self.make_objects(self._row).values()
            for name, _ in getmembers(item, ismethod)
            if not name.startswith("_")
        }

    def make_objects(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return new objects of a row's classes."""
        return run_calls(row, [], name=LIVE)[1]

    def on_turn(self, turn: int) -> None:
        """Begin the record of a turn."""
        self._turns.append([])

    def tools(self) -> Sequence[Tool]:
        """Return the functions up to this turn.

        BFCL runs a function that is offered later, or not at all, when it is called.
        """
        shapes = [
            shape
            for turn, added in self._added.items()
            if turn < len(self._turns)
            for shape in added
        ]
        by_name = {shape["function"]["name"]: shape for shape in shapes}
        return [
            Function(
                name=name,
                description="",
                function=self.call,
                arguments=BaseModel,
                owner=self,
                shape=shape,
            )
            for name, shape in {**by_name, ANY_NAME: {"function": {"name": ANY_NAME}}}.items()
        ]

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Run a call as BFCL does and return its result.

        Raises:
            ToolError: The function does not exist or failed, in BFCL's words.
        """
        exists = name in self._names
        source = source_of(name, arguments) if exists else _UNDEFINED
        self._turns[-1].append(source)
        if not exists:
            raise ToolError(f"{_FAILED}name '{name}' is not defined")
        (result,), _ = run_calls(self._row, [source], name=LIVE)
        if result.startswith(_FAILED):
            raise ToolError(result)
        return result

    def evidence(self) -> Json:
        """Return the calls that ran in each turn that began."""
        return {"turns": self._turns}


def source_of(name: str, arguments: Mapping[str, object]) -> str:
    """Return a call as Python source, which BFCL evaluates.

    A name of an argument that is none in Python cannot become a part of the program.

    >>> source_of("cd", {"folder": "a'b"})
    'cd(folder="a\\'b")'
    >>> source_of("cd", {"folder=exit()": 1})
    "cd(**{'folder=exit()': 1})"
    """
    if all(key.isidentifier() and not keyword.iskeyword(key) for key in arguments):
        return f"{name}({','.join(f'{key}={value!r}' for key, value in arguments.items())})"
    return f"{name}(**{dict(arguments)!r})"


async def assistant_turns(sample: Sample, episode: Episode) -> str | None:
    """Go through the user's turns by BFCL's rules.

    A turn ends with the first answer that calls nothing or has a call that cannot be read, of which
    then none runs. In the 21st step of a turn the model is stopped, and the turns after it are not
    asked.
    """
    for number in range(len(sample.turns) + 1):
        if number:
            await episode.user(sample.turns[number - 1])
        if await answer_turn(episode) is None:
            break
    return None


async def answer_turn(episode: Episode) -> str | None:
    """Return the text of the answer that ends a turn; None where the model is stopped."""
    for _ in range(STEPS_OF_TURN):
        reply = await episode.ask()
        if not reply.calls:
            return reply.text
        if any(call.parse_error for call in reply.calls):
            for call in reply.calls:
                if call.parse_error:
                    await episode.call(call)
                else:
                    not_run = "Not run, since another call of this answer cannot be read."
                    episode.messages.append(
                        Message(role="tool", content=not_run, tool_call_id=call.id)
                    )
            return reply.text
        await episode.call_all(reply.calls)
    return None


def gold_steps(sample: Sample) -> list[dict[str, object]]:
    """Return the gold calls of each turn in one answer, and a text that ends the turn."""
    shapes: list[Any] = [
        shape for added in tools_by_turn(sample.metadata).values() for shape in added
    ]
    parameters = {
        shape["function"]["name"]: list(shape["function"]["parameters"]["properties"])
        for shape in shapes
    }
    target: Any = sample.target
    steps: list[dict[str, object]] = []
    for sources in target:
        if sources:
            steps.append({"calls": [call_of(source, parameters) for source in sources]})
        steps.append({"text": "That is done."})
    return steps


@scorer
def same_states(sample: ScorerInput) -> Score:
    """Compare the objects and results after each turn with those of the gold calls, as BFCL
    does.
    """
    evidence: Any = sample.evidence
    verdict = check_turns(sample.metadata, sample.target, evidence["turns"])
    error_type = verdict.get("error_type")
    return Score(
        value=verdict["valid"],
        explanation=None if verdict["valid"] else f"{error_type}: {verdict.get('error_message')}",
        metadata={"error_type": error_type},
    )


def _benchmark(category: str, description: str) -> Benchmark:
    return benchmark(
        name=f"bfcl_multi_turn_{category}",
        description=f"BFCL v4, several turns: {description}",
        dataset=dataset_of(rows_of, category),
        prompt="{turn}",
        turns_field="turns",
        endpoint_type="chat",
        environment=Functions,
        solver=assistant_turns,
        gold_steps=gold_steps,
        limits={"steps": STEPS_OF_TURN * _TURNS_MAX, "tool_bytes": 1 << 20, "equal_calls": 10_000},
    )(same_states)


base = _benchmark("base", "all that is needed is there")
miss_func = _benchmark("miss_func", "a function that is needed comes later")
miss_param = _benchmark("miss_param", "the user says later what is needed")
long_context = _benchmark("long_context", "results are long")

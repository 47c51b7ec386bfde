"""The memory categories: an assistant keeps notes over several conversations, of which a question
asks later in a conversation of its own.

Each question's episode has all conversations before it, so that samples share nothing. Their
requests are equal for all questions of a scenario, and a response cache has each answered once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from nel import Benchmark, Sample, Score, ScorerInput, benchmark, scorer
from nel.episodes import EnvironmentFault, Episode
from nel.types import Message, ToolCall
from nel_bfcl.multi_turn import LIVE, STEPS_OF_TURN, Functions, answer_turn
from nel_bfcl.official import check_answer, dataset_of, import_classes, place_object, read_lines

_TURNS_MAX: Final = 110
_EMPTY: Final = {
    "kv": "There is no content in the core memory at this point.",
    "rec_sum": "There is no content in the memory at this point.",
}
_READERS: Final = {"kv": "core_memory_retrieve_all", "rec_sum": "memory_retrieve"}
"""The function that returns what BFCL writes into the system message."""


def rows_of(backend: str) -> Iterable[dict[str, Any]]:
    """Return the questions, each with the user's messages of the conversations before it."""
    import_classes({f"MemoryAPI_{backend}"})
    answers = {answer["id"]: answer["ground_truth"] for answer in _answers()}
    for row in read_lines("BFCL_v4_memory.json"):
        conversations = [*_conversations(row["scenario"]), row["question"]]
        yield {
            "id": row["id"].replace("memory", f"memory_{backend}", 1),
            "turns": [messages[0]["content"] for turns in conversations for messages in turns],
            "n_turns": [len(turns) for turns in conversations],
            "scenario": row["scenario"],
            "backend": backend,
            "involved_classes": [f"MemoryAPI_{backend}"],
            "initial_config": "{}",
            "later_functions": {},
            "target": answers[row["id"]],
        }


def _conversations(scenario: str) -> list[list[list[dict[str, str]]]]:
    rows = read_lines("memory_prereq_conversation", f"memory_{scenario}.json")
    return [row["question"] for row in rows]


@cache
def _answers() -> tuple[dict[str, Any], ...]:
    return tuple(read_lines("possible_answer", "BFCL_v4_memory.json"))


class Memory(Functions):
    """The functions of one kind of memory, which is empty at first."""

    def make_objects(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the memory; BFCL's own way to make one reads files of earlier conversations."""
        place_object(row, name=LIVE)
        return super().make_objects(row)


async def remember_and_answer(sample: Sample, episode: Episode) -> str | None:
    """Go through the conversations by BFCL's rules, the last of which is the question.

    The model that is stopped in the 21st step of a turn goes on with the next conversation; in the
    question it has no answer.
    """
    if not episode.has_cache:
        raise EnvironmentFault(
            "no_cache",
            "each question repeats the conversations that it asks of; give a response cache"
            " (--cache DIR), with which they are paid for once",
        )
    row: Any = sample.metadata
    prompt = list(episode.messages)
    turns_before = 0
    text: str | None = None
    for number, n_turns in enumerate(row["n_turns"], 1):
        system = await _system_message(row, episode, is_question=number == len(row["n_turns"]))
        episode.messages = [system, *prompt]
        prompt = []
        for turn in range(turns_before, turns_before + n_turns):
            if turn:
                await episode.user(sample.turns[turn - 1])
            text = await answer_turn(episode)
            if text is None:
                break
        turns_before += n_turns
    return text or ""


async def _system_message(row: Any, episode: Episode, *, is_question: bool) -> Message:
    from bfcl_eval.constants import default_prompts as prompts  # noqa: PLC0415

    backend = row["backend"]
    result = await episode.call(ToolCall(id="memory", name=_READERS[backend], arguments="{}"))
    content = json.loads(result.text)
    if backend == "kv":
        template = prompts.MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL
        memory = json.dumps(content, indent=4) if content else _EMPTY[backend]
    else:
        template = prompts.MEMORY_BACKEND_INSTRUCTION_UNIFIED
        memory = content.get("memory_content", _EMPTY[backend])
    setting = prompts.MEMORY_AGENT_SETTINGS[row["scenario"]]
    text = template.format(scenario_setting=setting, memory_content=memory)
    if is_question:
        text += f"\n\n{prompts.ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT}"
    return Message(role="system", content=text)


@scorer
def holds_answer(sample: ScorerInput) -> Score:
    """Look for a possible answer in the last text, as BFCL does."""
    verdict = check_answer(sample.response, sample.target)
    error_type = verdict.get("error_type")
    return Score(
        value=verdict["valid"],
        explanation=None if verdict["valid"] else f"{error_type}: {verdict['error_message']}",
        metadata={"error_type": error_type},
    )


def gold_steps(sample: Sample) -> list[dict[str, object]]:
    """Return what is right: all facts are kept in the first conversation, and looked up for the
    question. BFCL has no gold calls here, but the sentences that the questions are about.
    """
    row: Any = sample.metadata
    answers = [answer for answer in _answers() if f"-{row['scenario']}-" in answer["id"]]
    calls = [_note_call(row["backend"], number, answer) for number, answer in enumerate(answers)]
    target: Any = sample.target
    answered: dict[str, object] = {"text": "I keep that in mind."}
    return [
        {"calls": calls},
        *[answered] * len(sample.turns),
        {"calls": [_lookup_call(row)]},
        {"text": json.dumps({"answer": target[0], "context": "You told me so."})},
    ]


def _note_call(backend: str, number: int, answer: Mapping[str, Any]) -> dict[str, Any]:
    if backend == "kv":
        arguments = {"key": f"fact_{number}", "value": answer["source"]}
        return {"name": "archival_memory_add", "arguments": arguments}
    return {"name": "memory_append", "arguments": {"text": f"{answer['source']}\n"}}


def _lookup_call(row: Mapping[str, Any]) -> dict[str, Any]:
    if row["backend"] == "kv":
        number = row["id"].rpartition("-")[2]
        return {"name": "archival_memory_retrieve", "arguments": {"key": f"fact_{number}"}}
    return {"name": "memory_retrieve"}


def _benchmark(backend: str, description: str) -> Benchmark:
    return benchmark(
        name=f"bfcl_memory_{backend}",
        description=f"BFCL v4, memory: {description} (needs --cache)",
        dataset=dataset_of(rows_of, backend),
        prompt="{turn}",
        turns_field="turns",
        endpoint_type="chat",
        environment=Memory,
        solver=remember_and_answer,
        gold_steps=gold_steps,
        limits={"steps": STEPS_OF_TURN * _TURNS_MAX, "tool_bytes": 1 << 20, "equal_calls": 10_000},
    )(holds_answer)


kv = _benchmark("kv", "keys and values, in a core and an archive")
rec_sum = _benchmark("rec_sum", "one text")

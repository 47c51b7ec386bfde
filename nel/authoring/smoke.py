"""Tries a scorer on answers made up for the purpose: the gold one in several phrasings, an empty
one, a wrong one. The scorer is code of the benchmark's author and may hang, so it runs in a thread
that is abandoned after `SECONDS_MAX`.
"""

from __future__ import annotations

import asyncio
import inspect
import sysconfig
import threading
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from nel.authoring.benchmark import Benchmark
from nel.authoring.problem import LETTERS
from nel.errors import DatasetError, NelError, did_you_mean
from nel.scoring.decisions import gold_decision
from nel.scoring.protocol import await_result
from nel.scoring.result import outcome_of
from nel.types import Sample, Scored, Scorer, ScorerInput

T = TypeVar("T")
SECONDS_MAX: Final = 10.0
"""How long a scorer may take for one answer."""
PHRASINGS: Final = (
    "{gold}",
    "Answer: {gold}",
    "The answer is {gold}.",
    "the answer is ({gold})",
    "#### {gold}",
    "```\n{gold}\n```",
)
_WRONG: Final = "I looked everywhere and have nothing to say on this ⚠ {}"
_SHOWN_MAX: Final = 30
_NEL: Final = f"{Path(__file__).parents[1]}/"
_STANDARD: Final = f"{sysconfig.get_path('stdlib')}/"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerTrial:
    """What a scorer made of one answer."""

    response: str
    returned: Any = None
    reward: float | None = None
    """None where it gave no score; 0 for an answer without one."""
    problem: str | None = None
    """Why it gave no score, and what to do."""
    is_refused: bool = False
    """Whether the scorer refused the sample with an error of nel."""
    is_hung: bool = False
    """Whether it did not return in time."""


def gold_texts(sample: Sample) -> list[str]:
    """Return the gold answer as models may put it; an index also as the letter that it may stand
    for, and ``1`` or ``Y`` also as the yes.
    """
    golds = list(sample.target) if isinstance(sample.target, list) else [sample.target]
    for gold in map(str, list(golds)):  # of a copy, since letters are added to the list
        if gold.isdecimal() and int(gold) < len(LETTERS):
            golds.append(LETTERS[int(gold)])
        with suppress(DatasetError):
            golds.append(gold_decision(gold))
    texts = []
    for gold in dict.fromkeys(map(str, golds)):
        texts += [phrasing.format(gold=gold) for phrasing in PHRASINGS]
    return texts


def gold_attempts(benchmark: Benchmark, sample: Sample) -> Iterator[ScorerTrial]:
    """Yield what the scorer makes of right answers, or of each choice ranked as the likeliest."""
    if benchmark.loglikelihood:
        choices = list(sample.choices or ())
        for index, choice in enumerate(choices):
            # Any two log-probabilities will do, of which this choice has the larger.
            sums = [-1.0 if number == index else -9.0 for number in range(len(choices))]
            greedy = [number == index for number in range(len(choices))]
            ranked = {"_choices": choices, "_choices_logprobs": sums, "_choices_is_greedy": greedy}
            yield attempt(benchmark, sample, choice, ranked)
        return
    for text in gold_texts(sample):
        yield attempt(benchmark, sample, text)


def odd_attempts(benchmark: Benchmark, sample: Sample) -> list[ScorerTrial]:
    """Return trials of an empty answer and one that says nothing; none where choices are ranked."""
    if benchmark.loglikelihood:
        return []
    return [attempt(benchmark, sample, ""), attempt(benchmark, sample, _WRONG)]


def attempt(
    benchmark: Benchmark,
    sample: Sample,
    response: str,
    reserved: Mapping[str, object] | None = None,
) -> ScorerTrial:
    """Return what a benchmark's scorer makes of one answer."""
    conversation = turn_index = None
    if benchmark.turns_field:
        conversation, turn_index = [{"role": "assistant", "content": response}], 0
    scorer_input = ScorerInput(
        response=response,
        target=sample.target,
        metadata={**sample.metadata, **(reserved or {})},
        model_call_fn=lambda *_, **__: _Reply(response),
        config=dict(benchmark.extra),
        conversation=conversation,
        turn_index=turn_index,
        sample=sample,
    )
    # Programs in the sandbox have limits of their own, and its images may have to be started first.
    seconds = None if benchmark.languages else SECONDS_MAX
    return try_scorer(benchmark.scorer, scorer_input, seconds=seconds)


def try_scorer(
    scorer: Scorer, scorer_input: ScorerInput, *, seconds: float | None = SECONDS_MAX
) -> ScorerTrial:
    """Return what a scorer makes of its input; given up after so many seconds."""
    response = scorer_input.response
    try:
        returned = result_of(scorer, scorer_input, seconds)
        outcome = outcome_of(returned, response)
    except KeyError as error:
        return ScorerTrial(response=response, problem=_missing_field(error, scorer_input.metadata))
    except Exception as error:  # noqa: BLE001 - whatever a scorer raises is what is being asked for
        return ScorerTrial(
            response=response,
            problem=fault_of(error),
            is_refused=isinstance(error, NelError),
            is_hung=isinstance(error, TimeoutError),
        )
    reward = outcome.reward if isinstance(outcome, Scored) else 0.0
    return ScorerTrial(response=response, returned=returned, reward=reward)


class _Reply(str):
    """A text that may be awaited, as a scorer may do with an answer of the model."""

    __slots__ = ()

    def __await__(self) -> Generator[object, None, str]:
        yield from ()
        return str(self)


def result_of(scorer: Scorer, scorer_input: ScorerInput, seconds: float | None) -> object:
    """Return what a scorer returns, awaited; raises as `call_within_limit` does."""
    return call_within_limit(lambda: _value_of(scorer(scorer_input)), "the scorer", seconds)


def call_within_limit(call: Callable[[], T], what: str, seconds: float | None = SECONDS_MAX) -> T:
    """Return what a call of an author's code returns.

    Args:
        call: Runs in a thread, which is abandoned when its time is up.
        what: Is called, for messages.
        seconds: How long it may take; None: without limit.

    Raises:
        TimeoutError: It did not return in time.
        RuntimeError: It tried to end the process.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001 - re-raised in the waiting thread
            errors.append(error)

    thread = threading.Thread(target=run, name="nel-smoke", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        if isinstance(errors[0], Exception):
            raise errors[0]
        raise RuntimeError(f"{what} left with {type(errors[0]).__name__}") from errors[0]
    if not results:
        raise TimeoutError(f"{what} did not return within {seconds:g} s; bound what it waits for")
    return results[0]


def _value_of(result: object) -> object:
    return asyncio.run(await_result(result)) if inspect.isawaitable(result) else result


def fault_of(error: Exception) -> str:
    """Return what an author's code raised, with its file and line; the message alone of nel's own
    errors, which say where.
    """
    if isinstance(error, NelError):
        return str(error)
    return f"{type(error).__name__}: {error}{line_of(error)}"


def _missing_field(error: KeyError, row: Mapping[str, object]) -> str:
    name = str(error.args[0]) if error.args else "?"
    hint = did_you_mean(name, row) or ";"
    return (
        f'KeyError: the scorer reads "{name}"{line_of(error)}{hint} the row has'
        f" {', '.join(sorted(row)[:_SHOWN_MAX])}"
    )


def line_of(error: BaseException) -> str:
    """Return the last line of an author's own that led to an error, else the last line."""
    # An error of nel has the author's as its cause.
    frames = traceback.extract_tb((error.__cause__ or error).__traceback__)
    candidates = [frame for frame in frames if not _is_library(frame.filename)] or frames
    if not candidates:
        return ""
    last = candidates[-1]
    return f" ({Path(last.filename).name}, line {last.lineno})"


def _is_library(filename: str) -> bool:
    return filename.startswith(_NEL) or (
        filename.startswith(_STANDARD) and "site-packages" not in filename
    )

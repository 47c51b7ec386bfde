"""Tries a scorer on answers made up for the purpose: the gold one in several phrasings, an empty
one, a wrong one. The scorer is code of the benchmark's author and may hang, so it runs in a thread
that is abandoned after `SECONDS_MAX`.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import traceback
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from nel.authoring.benchmark import Benchmark
from nel.authoring.problem import LETTERS
from nel.errors import NelError, did_you_mean
from nel.scoring.result import outcome_of
from nel.types import Sample, Scored, Scorer, ScorerInput

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


def gold_texts(sample: Sample) -> list[str]:
    """Return a sample's gold answer as a model might put it; an index as the letter that it may
    stand for, too.
    """
    golds = list(sample.target) if isinstance(sample.target, list) else [sample.target]
    golds += [
        LETTERS[int(gold)]
        for gold in map(str, golds)
        if gold.isdecimal() and int(gold) < len(LETTERS)
    ]
    return [phrasing.format(gold=gold) for gold in golds for phrasing in PHRASINGS]


def gold_attempts(benchmark: Benchmark, sample: Sample) -> Iterator[ScorerTrial]:
    """Yield what the scorer makes of right answers; of each choice as the likeliest where choices
    are ranked.
    """
    if benchmark.loglikelihood:
        choices = list(sample.choices or ())
        for best, choice in enumerate(choices):
            sums = [-1.0 if number == best else -9.0 for number in range(len(choices))]
            greedy = [number == best for number in range(len(choices))]
            ranked = {"_choices": choices, "_choices_logprobs": sums, "_choices_is_greedy": greedy}
            yield attempt(benchmark, sample, choice, ranked)
        return
    for text in gold_texts(sample):
        yield attempt(benchmark, sample, text)


def odd_attempts(benchmark: Benchmark, sample: Sample) -> list[ScorerTrial]:
    """Return what the scorer makes of an empty answer and of one that says nothing; none where
    choices are ranked.
    """
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
    scorer_input = ScorerInput(
        response=response,
        target=sample.target,
        metadata={**sample.metadata, **(reserved or {})},
        model_call_fn=lambda *_, **__: _Reply(response),
        config=dict(benchmark.extra),
        conversation=(
            [{"role": "assistant", "content": response}] if benchmark.turns_field else None
        ),
        turn_index=0 if benchmark.turns_field else None,
        sample=sample,
    )
    # Programs in the sandbox have limits of their own, and its images may have to be started first.
    return try_scorer(
        benchmark.scorer, scorer_input, seconds=None if benchmark.languages else SECONDS_MAX
    )


def try_scorer(
    scorer: Scorer, scorer_input: ScorerInput, *, seconds: float | None = SECONDS_MAX
) -> ScorerTrial:
    """Return what a scorer makes of its input; given up after so many seconds."""
    response = scorer_input.response
    try:
        returned = result_of(scorer, scorer_input, seconds)
        outcome = outcome_of(returned, response)
    except NelError as error:
        return ScorerTrial(response=response, problem=str(error), is_refused=True)
    except KeyError as error:
        return ScorerTrial(response=response, problem=_missing_field(error, scorer_input.metadata))
    except Exception as error:  # noqa: BLE001 - whatever a scorer raises is what is being asked for
        return ScorerTrial(
            response=response, problem=f"{type(error).__name__}: {error}{_location(error)}"
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
    """Return what a scorer returns, awaited where it has to be; raises `TimeoutError` after so many
    seconds.
    """
    results: list[object] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            result = scorer(scorer_input)
            results.append(
                asyncio.run(_await_result(result)) if inspect.isawaitable(result) else result
            )
        except BaseException as error:  # noqa: BLE001 - re-raised in the waiting thread
            errors.append(error)

    thread = threading.Thread(target=run, name="nel-smoke", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        if isinstance(errors[0], Exception):
            raise errors[0]
        raise RuntimeError(f"the scorer left with {type(errors[0]).__name__}") from errors[0]
    if not results:
        raise TimeoutError(
            f"the scorer did not return within {seconds:g} s; bound what it waits for"
        )
    return results[0]


async def _await_result(result: Any) -> object:
    return await result


def _missing_field(error: KeyError, row: Mapping[str, object]) -> str:
    name = str(error.args[0]) if error.args else "?"
    hint = did_you_mean(name, row) or ";"
    return (
        f'KeyError: the scorer reads "{name}"{_location(error)}{hint} the row has'
        f" {', '.join(sorted(row)[:_SHOWN_MAX])}"
    )


def _location(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    return f" ({frames[-1].filename.rpartition('/')[2]}, line {frames[-1].lineno})"

"""Where nel takes the place of Inspect's models: the only module that changes Inspect's own names.

Everything changed here does what it did before unless a task's code runs for nel (`INSIDE`,
`WATCH`). The names are Inspect's private ones; a version without them is refused rather than run
half guarded.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps
from importlib import metadata
from inspect import signature
from threading import Lock
from typing import Any, Final

from nel.errors import MissingExtra
from nel_inspect.graders import GRADING, Grading, grade_in, reply_of
from nel_inspect.stand_ins import stand_in
from nel_inspect.tools import offer_of, output_of
from nel_inspect.watching import INSIDE, WATCH

_LOCK: Final = Lock()
_MARK: Final = "guarded_by_nel"


def install() -> None:
    """Put nel in the place of Inspect's models, once.

    Raises:
        MissingExtra: This version of Inspect is made in another way.
    """
    from inspect_ai.model import _model as models  # noqa: PLC0415 - heavy
    from inspect_ai.scorer import _model as graded  # noqa: PLC0415 - heavy

    with _LOCK:
        if hasattr(models.Model.generate, _MARK):
            return
        changes = (
            (models.Model, "generate", _generating),
            (models, "registry_find", _finding),
            (models, "cached_model", _remembering),
            (graded, "_model_graded_qa_single", _grading),
            (graded, "model_scoring_prompt", _prompting),
            (graded, "multi_scorer", _voting),
        )
        absent_names = [name for home, name, _ in changes if not hasattr(home, name)]
        if absent_names:
            version = metadata.version("inspect_ai")
            raise MissingExtra(
                f"nel-inspect does not know inspect_ai {version}, without {absent_names[0]}; install"
                " 0.3.285"
            )
        for home, name, wrap in changes:
            wrapper = wrap(getattr(home, name))
            setattr(wrapper, _MARK, True)
            setattr(home, name, wrapper)


def _generating(original: Any) -> Any:
    shape = signature(original)

    @wraps(original)
    async def generate(self: Any, *args: Any, **options: Any) -> Any:
        watch = WATCH.get()
        if watch is None:
            return await original(self, *args, **options)
        if not watch.is_scoring:
            raise watch.refuse("calls a model itself in a solver, as agents and critics do")
        arguments = shape.bind(self, *args, **options).arguments
        offer = await offer_of(arguments.get("tools"), arguments.get("tool_choice"), watch)
        text, calls = await reply_of(
            self, arguments["input"], offer, arguments.get("config"), watch
        )
        return output_of(str(self), text, calls, offer)

    return generate


def _finding(original: Any) -> Any:
    """Have ``get_model("provider/name")`` make a model that needs no key and no package of the
    provider.
    """

    @wraps(original)
    def find(predicate: Any) -> Any:
        registered = original(predicate)
        if not INSIDE.get():
            return registered
        return [_maker(entry) for entry in registered]

    return find


def _maker(provider_class: Any) -> Any:
    from inspect_ai._util.registry import registry_unqualified_name  # noqa: PLC0415 - heavy

    provider = str(registry_unqualified_name(provider_class))

    def make(model_name: str, **_: Any) -> Any:
        return stand_in(provider, model_name).api

    return make if provider != "mockllm" else provider_class


def _remembering(original: Any) -> Any:
    """Keep stand-ins and real models apart in Inspect's own cache."""

    @wraps(original)
    def find_cached(key: str) -> Any:
        cached_value = original(key)
        is_stand_in = cached_value is not None and hasattr(cached_value.api, "nel_judge")
        return cached_value if is_stand_in == INSIDE.get() else None

    return find_cached


def _grading(original: Any) -> Any:
    """Have Inspect's grader make the prompt, and nel the grade."""

    @wraps(original)
    def grader(
        grading_template: str,
        instructions: str | None = None,
        grade_pattern: str | None = None,
        include_history: Any = False,
        partial_credit: bool = False,
        model: Any = None,
    ) -> Any:
        scorer = original(
            grading_template, instructions, grade_pattern, include_history, partial_credit, model
        )
        grades = "CPI" if partial_credit or instructions else "CI"

        @wraps(scorer)
        async def score(state: Any, target: Any) -> Any:
            if WATCH.get() is None:
                return await scorer(state, target)
            return await _grade(
                scorer, Grading(pattern=grade_pattern, grades=grades), state, target
            )

        score.nel_grader = (scorer, grade_pattern, grades, model)  # type: ignore[attr-defined]
        return score

    return grader


async def _grade(scorer: Any, grading: Grading, state: Any, target: Any) -> Any:
    from inspect_ai.scorer import Score  # noqa: PLC0415 - heavy

    token = GRADING.set(grading)
    try:
        await scorer(state, target)
    finally:
        GRADING.reset(token)
    value = grade_in(grading)
    opinions = grading.judgement.opinions if grading.judgement is not None else ()
    reply_text = next((opinion.reply for opinion in opinions if opinion.grade is not None), None)
    return Score(value=value, answer=state.output.completion, explanation=reply_text)


def _prompting(original: Any) -> Any:
    """Note what of a grader's prompt others wrote."""

    @wraps(original)
    def prompt(**fields: Any) -> Any:
        from inspect_ai.scorer._model import (  # noqa: PLC0415 - heavy
            neutralize_structural_delimiters,
        )

        message = original(**fields)
        grading = GRADING.get()
        if grading is not None:
            texts = [
                fields["output"].completion,
                fields["question"],
                fields["criterion"],
                *_leaves(fields["metadata"]),
            ]
            insertions = {neutralize_structural_delimiters(text) for text in texts if text.strip()}
            grading.foreign = tuple(sorted(text for text in insertions if text in message.text))
        return message

    return prompt


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)


def _voting(original: Any) -> Any:
    """Have several graders of one answer be a panel of nel's, where Inspect would take their
    majority.
    """

    @wraps(original)
    def multi(scorers: Any, reducer: Any) -> Any:
        scorer = original(scorers, reducer)
        graders = [grader.nel_grader for grader in scorers if hasattr(grader, "nel_grader")]
        names = {str(grader[3]) for grader in graders}
        if reducer != "majority" or len(names) < len(scorers):
            return scorer

        @wraps(scorer)
        async def score(state: Any, target: Any) -> Any:
            if WATCH.get() is None:
                return await scorer(state, target)
            from inspect_ai.model import get_model  # noqa: PLC0415 - heavy

            main, pattern, grades, _ = graders[0]
            models = [get_model(grader[3]) for grader in graders]
            return await _grade(
                main, Grading(pattern=pattern, grades=grades, models=models), state, target
            )

        return score

    return multi

"""The part of a sample's response that its scorer reads. Depends on `nel.reading.asked`."""

from __future__ import annotations

from nel.core.thinking import split_reasoning
from nel.reading.asked import parse_asked_form
from nel.reading.response import Answer, own_response
from nel.types import ScorerInput


def prompt_of(sample: ScorerInput) -> str:
    """Return what a response answers, an empty text where that is not known, as outside a run."""
    prompt = "" if sample.sample is None else sample.sample.input
    if isinstance(prompt, str):
        return prompt
    return "\n\n".join(str(message.content) for message in prompt)


def own_answer(sample: ScorerInput) -> tuple[Answer, dict[str, bool]]:
    """Return the part of a response that answers its prompt, and details for the result.

    Returns:
        The response, with the form that the benchmark declares in ``answer_form``; and for a scorer
        to add to its result ``in_asked_form``, whether that form occurs, where one is declared, and
        ``ran_on`` where the prompt is known, as in a run.
    """
    received = sample.response or ""
    if sample.sample is None:  # outside a run nothing has split it before
        received = split_reasoning(received)[1]
    config = sample.config or {}
    form = config.get("answer_form")
    asked_form = None
    if form is not None:
        asked_form = parse_asked_form(str(form), is_strict=bool(config.get("strict_form")))
    response = own_response(received, prompt_of(sample), asked_form)
    details = {}
    if asked_form is not None:
        details["in_asked_form"] = asked_form.pattern.search(response.plain) is not None
    if sample.sample is not None:
        details["ran_on"] = len(response.text.rstrip()) < len(received.rstrip())
    return response, details

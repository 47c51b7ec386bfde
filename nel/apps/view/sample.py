"""One answer to one question with all that the run knows of it, for the page of a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, NamedTuple

from nel.apps.view.finding import FoundRun
from nel.apps.view.index.building import asked_in
from nel.apps.view.left_out import left_out
from nel.apps.view.samples import RepeatVerdict, extracted_text, verdict_of
from nel.apps.view.summary import BenchmarkSummary
from nel.apps.view.transcript import AttemptView, transcript_of
from nel.artifacts.readings import AnswerReadings, read_again
from nel.artifacts.results import (
    Result,
    not_asked_line,
    read_result,
    result_line,
    reward_of,
)
from nel.core.message_json import MESSAGE_FIELDS, messages_in, with_calls
from nel.core.strict_json import loads
from nel.engine.store.browsing import BrowsedStore
from nel.engine.store.projections.replies import replies
from nel.engine.store.projections.results import results
from nel.engine.store.rows import CHOICE, JUDGE, SCORER, TURN, Row, response_in
from nel.errors import NelError, StoreError
from nel.judges.record import KEY as JUDGEMENTS
from nel.reading.types import SCORED
from nel.reports.choices import Options, in_place_of_answer, options_of
from nel.reports.judge_section import shown_judgements
from nel.reports.numbers import count
from nel.reports.samples import facts_of
from nel.reports.text import WHOLE_CHARACTERS_MAX, as_text, content_text, whole
from nel.types import JsonObject, Response, Sample, SampleKey, Scored, Unscored

_READ_MAX: Final = 200_000
"""An answer of more characters is not read again for its page."""
_CALLS_MAX: Final = 40
_PROGRAM_KEYS: Final = ("stderr", "stdout", "output", "traceback", "detail")

Segments = Sequence[tuple[str, bool]]
"""Parts of a text in order, each with whether it is marked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way of reading the answer."""

    name: str
    value: str | None
    form: str
    reward: float | None
    start: int | None = None
    end: int | None = None
    rejected: Sequence[tuple[str, str]] = ()
    """Reason and text of each candidate that was not taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FurtherRequest:
    """A further request of the sample: an earlier turn, a judge, its scorer's."""

    title: str
    sent: Sequence[tuple[str, str]]
    """Role and text of each message."""
    answer: str
    reasoning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleView:
    """One (sample, repeat)."""

    result: Result
    reward: float | None
    verdicts: Sequence[RepeatVerdict]
    question: str
    options: Options | None
    """Of a multiple-choice question."""
    prompt: Sequence[tuple[str, str]]
    """Role and text of each message, as sent."""
    settings: Mapping[str, object]
    """What was sent beside the messages."""
    was_sent: bool
    """Whether the prompt is what was sent, not what would be."""
    answer: Segments
    is_cut: bool
    """Whether a text is shown without its middle."""
    reasoning: str
    extracted: str | None
    not_extracted: str
    """What stands in its place."""
    target: str | None
    ways: Sequence[Way]
    without_reading: str
    judgements: Sequence[JsonObject]
    program: Sequence[tuple[str, str]]
    """What a program wrote, and what was said of it."""
    details: JsonObject
    """The rest of what the scorer said."""
    metadata: JsonObject
    calls: Sequence[FurtherRequest]
    attempts: Sequence[AttemptView]
    """Of an episode, the last one at the end."""
    facts: Sequence[tuple[str, str]]

    @property
    def verdict(self) -> RepeatVerdict:
        """Return what came of this repeat."""
        return self.verdicts[self.result.repeat]


def sample_view(
    run: FoundRun, benchmark: BenchmarkSummary, idx: int, repeat: int
) -> SampleView | None:
    """Return a sample, None where the benchmark has none there.

    Raises:
        NelError: The run cannot be read, or the sample is damaged.
    """
    with BrowsedStore(run.store) as store:
        repeats = list(results(store, benchmark.key, benchmark.repeats, first=idx, last=idx))
        omitted = left_out(store, benchmark.key)
        exchanges = _exchanges_of(store, SampleKey(benchmark.key, idx, repeat))
        price = store.price
    if not 0 <= repeat < len(repeats):
        return None
    result = read_result(repeats[repeat], price=price)
    sample, response, outcome = result.sample, result.response, result.outcome
    verdicts = [verdict_of(result_row, omitted) for result_row in repeats]
    prompt, settings = _prompt(result, exchanges.body, benchmark)
    ways, why, span = _read(benchmark, result)
    text = "" if response is None else response.text
    extracted = extracted_text(outcome)
    return SampleView(
        result=result,
        reward=None if idx in omitted else reward_of(outcome),
        verdicts=verdicts,
        question=whole(asked_in(sample)),
        options=options_of(sample),
        prompt=_whole_messages(prompt),
        settings=settings,
        was_sent=bool(exchanges.body),
        answer=[*_answer(text, extracted, span), *_calls(result)],
        is_cut=max(len(text), *(len(message) for _, message in prompt), 0) > WHOLE_CHARACTERS_MAX,
        reasoning=whole(_reasoning(response)),
        extracted=extracted,
        not_extracted=in_place_of_answer(outcome.details, is_scored=isinstance(outcome, Scored)),
        target=_target(sample),
        ways=ways,
        without_reading=why,
        **_fields_of_details(outcome.details),
        metadata=sample.metadata if sample else {},
        calls=exchanges.further,
        attempts=exchanges.attempts,
        facts=facts_of(result_line(result, benchmark.head)) if response else [],
    )


def sample_json(
    run: FoundRun, benchmark: BenchmarkSummary, idx: int, repeat: int
) -> dict[str, Any] | None:
    """Return a sample as its line of results.jsonl, with its request; None where there is none.

    Raises:
        NelError: The run cannot be read, or the sample is damaged.
    """
    with BrowsedStore(run.store) as store:
        repeats = list(results(store, benchmark.key, benchmark.repeats, first=idx, last=idx))
        is_omitted = idx in left_out(store, benchmark.key)
        request = store.request(benchmark.key, idx, repeat)
        price = store.price
    if not 0 <= repeat < len(repeats):
        return None
    result = read_result(repeats[repeat], price=price)
    if is_omitted:
        line = not_asked_line(result, benchmark.head, None, "left out by the stop rule")
    else:
        line = result_line(result, benchmark.head)
    with suppress(ValueError):  # a body that is not JSON stays a text
        request = None if request is None else loads(request)
    return {"run_id": run.path.name, **line, "request": request}


class _Exchanges(NamedTuple):
    """The requests for a sample and their responses."""

    body: str | None
    """Of its last request."""
    further: Sequence[FurtherRequest]
    attempts: Sequence[AttemptView]


def _exchanges_of(store: BrowsedStore, key: SampleKey) -> _Exchanges:
    further = [_call(row) for row in replies(store, key, _CALLS_MAX)]
    return _Exchanges(store.request(*key), further, transcript_of(store, key))


def _target(sample: Sample | None) -> str | None:
    if sample is None or sample.target is None:
        return None
    return as_text(sample.target)


def _reasoning(response: Response | None) -> str:
    return (response and response.reasoning) or ""


def _answer(text: str, extracted: str | None, span: tuple[int, int] | None) -> Segments:
    """Return the answer with what was extracted marked, unless that is the whole."""
    mark = span if span is not None else _place_of(text, extracted)
    is_whole = mark is not None and not (text[: mark[0]] + text[mark[1] :]).strip()
    return _segments(text, None if is_whole else mark)


def _fields_of_details(outcome_details: JsonObject) -> dict[str, Any]:
    """Return the fields of a view that show details: of judges, of a program, and the others."""
    details = dict(outcome_details)
    judgements = shown_judgements(details.pop(JUDGEMENTS, None))
    names = [name for name in _PROGRAM_KEYS if isinstance(details.get(name), str)]
    texts = [(name, details.pop(name)) for name in names]
    program = [(name, text) for name, text in texts if text]
    return {"judgements": judgements, "program": program, "details": details}


def _prompt(
    result: Result, body: str | None, benchmark: BenchmarkSummary
) -> tuple[list[tuple[str, str]], dict[str, object]]:
    """Return the messages as they were sent, or as they would be, and what was sent beside them."""
    if body is not None:
        messages, settings = _messages(body)
        if messages:
            return messages, settings
    if result.sample is None:
        return [], {}
    question = result.sample.input
    if isinstance(question, str):
        messages = [("user", question)]
    else:
        messages = [(message.role, content_text(message.content)) for message in question]
    system = benchmark.plan.get("system_prompt")
    if system:
        messages = [("system", system), *(item for item in messages if item[0] != "system")]
    return messages, {}


def _messages(request: str) -> tuple[list[tuple[str, str]], dict[str, object]]:
    """Return the messages of a request's body, and its other fields."""
    try:
        body = loads(request)
    except ValueError:
        return [("", request)], {}
    if not isinstance(body, dict):
        return [("", request)], {}
    if (messages := messages_in(body)) is not None:
        settings = {name: value for name, value in body.items() if name not in MESSAGE_FIELDS}
        return [_message(message) for message in messages], settings
    prompt = body.pop("prompt", None)
    if prompt is None:
        return [], body
    prompts = prompt if isinstance(prompt, list) else [prompt]
    return [("", as_text(message)) for message in prompts], body


def _message(item: object) -> tuple[str, str]:
    if not isinstance(item, dict):
        return "", as_text(item)
    return str(item.get("role", "")), content_text(item.get("content"))


def _read(
    benchmark: BenchmarkSummary, result: Result
) -> tuple[list[Way], str, tuple[int, int] | None]:
    """Return each way of reading the answer, why there is none, and where the answer stands."""
    if result.response is not None and len(result.response.text) > _READ_MAX:
        return [], f"the answer has more than {count(_READ_MAX)} characters", None
    try:
        # Without readings by a model: to read those would load a plugin, and a viewer runs no code
        # of a run's.
        readings = read_again(result, benchmark.plugin, benchmark.plan)
    except NelError as error:
        return [], str(error), None
    if isinstance(readings, str):
        return [], readings, None
    return _ways(readings, None if isinstance(result.outcome, Unscored) else result.outcome.answer)


def _scored_way(readings: AnswerReadings, answer: str | None) -> Way:
    """Return what the run's scorer took, which is the whole answer where it names none."""
    value, reward = answer or None, None
    if readings.scored is not None:
        value = answer or "the whole answer"
        reward = readings.reward
    return Way(name=SCORED, value=value, form="the scorer of the run", reward=reward)


def _ways(
    readings: AnswerReadings, answer: str | None
) -> tuple[list[Way], str, tuple[int, int] | None]:
    rewards = readings.rewards()
    ways = [_scored_way(readings, answer)]
    span = None
    for name, reading in readings.ways.read.items():
        rejected = [
            (candidate.why, readings.response[candidate.start : candidate.end])
            for candidate in reading.rejected
        ]
        way = Way(
            name=name,
            value=reading.value,
            form=reading.form.value,
            reward=None,
            rejected=rejected,
        )
        if reading.value is not None:
            way = replace(way, reward=rewards[name], start=reading.start, end=reading.end)
            # The first reading that took what the scorer took, and got its reward, shows where.
            agrees = rewards[name] == readings.reward and _is_same(reading.value, readings.scored)
            if span is None and agrees and reading.end > reading.start:
                span = reading.start, reading.end
        ways.append(way)
    return ways, "", span


def _is_same(value: str | None, scored: str | None) -> bool:
    if value is None or scored is None:
        return False
    return value == scored or scored.strip().endswith(value.strip())


def _place_of(text: str, extracted: str | None) -> tuple[int, int] | None:
    """Return where a text holds an extracted answer for the last time, None where it does not."""
    if not extracted or not extracted.strip():
        return None
    start = text.rfind(extracted)
    return (start, start + len(extracted)) if start >= 0 else None


def _segments(text: str, mark: tuple[int, int] | None) -> list[tuple[str, bool]]:
    """Return a text in parts, the marked one apart; of each long part the middle is cut out."""
    if mark is None or not 0 <= mark[0] < mark[1] <= len(text):
        return [(whole(text), False)] if text else []
    start, end = mark
    parts = [(text[:start], False), (text[start:end], True), (text[end:], False)]
    return [(whole(piece), is_marked) for piece, is_marked in parts if piece]


def _calls(result: Result) -> Segments:
    """Return the calls of tools after the answer's text."""
    if result.response is None or not result.response.tool_calls:
        return []
    text = with_calls("", list(map(asdict, result.response.tool_calls))) or ""
    return [(whole(f"\n{text}" if result.response.text else text), False)]


def _whole_messages(messages: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(role, whole(text)) for role, text in messages]


def _call(row: Row) -> FurtherRequest:
    titles = {
        JUDGE: f"Judge {row.name}",
        TURN: f"Turn {row.number}",
        CHOICE: f"choices-{row.number}",
        SCORER: "Asked by the scorer",
    }
    messages, _ = _messages(row.request or "")
    response: Response | None = None
    try:
        response = response_in(row)
        answer = _text_of_response(response)
    except StoreError as error:
        answer = str(error)
    return FurtherRequest(
        title=titles[row.role],
        sent=_whole_messages(messages),
        answer=whole(answer),
        reasoning=whole(_reasoning(response)),
    )


def _text_of_response(response: Response | None) -> str:
    if response is None:
        return ""
    if response.error is not None:
        return response.error.message
    return with_calls(response.text, list(map(asdict, response.tool_calls))) or ""

"""``inspect://PKG/TASK``: a task of Inspect as a benchmark of nel.

The messages that its solvers make become nel's samples, so that its client sends them, its store
keeps them and its artifacts show them; the task's own scorers judge the answers, and whatever model
they ask is a judge of the run. The scorer runs in a process of its own, which is forked after the
task was loaded; a rescoring loads it again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from math import isnan
from pathlib import PurePath
from typing import Any, ClassVar, Final, Self

from nel import Benchmark, Sample, Score, ScorerInput
from nel.core.addresses import split_address
from nel.errors import ConfigError, DatasetError, JudgeError, ScorerError
from nel.judges.parsing.formats import may_hold_verdict
from nel.judges.types import Case, Judgement
from nel.prompts import load_template
from nel.scoring.model_graded import GRADER
from nel.types import Message
from nel_inspect.grading import score_of
from nel_inspect.records import as_json
from nel_inspect.solving import NamedScore, score
from nel_inspect.tasks import Address, Rows, load_task
from nel_inspect.turns import as_turn, message_of
from nel_inspect.watching import Graders, Refusal

_GRADES: Final = ("C", "I", "P", "N")


@dataclass(frozen=True, kw_only=True)
class TaskScorer:
    """The task's own scorers, as one of nel's."""

    address: Address
    graders: Graders = field(default_factory=Graders)
    """Whom they may ask in this run."""
    judges: tuple[str, ...] = ()
    """Whom they are known to ask, by the names of the run."""
    name: ClassVar[str] = "TaskScorer"

    @property
    def asks_judge(self) -> bool:
        """Return whether a model grades."""
        return bool(self.judges)

    @property
    def params(self) -> dict[str, Any]:
        """Return what names it in a run's identity; its judges do so themselves."""
        return {"address": self.address}

    async def __call__(self, sample: ScorerInput) -> Score:
        """Return one value, or one for each scorer and each key of theirs.

        Raises:
            JudgeError: A grader gave no grade that can be used.
            ScorerError: A scorer gave no value or none that is a number, or the task did what nel
                cannot do for it.
        """
        request = None  # outside of a run, where no prompt was sent
        if sample.sample is not None:
            sent = sample.sample.input
            messages = [Message(role="user", content=sent)] if isinstance(sent, str) else sent
            turns = [as_turn(message) for message in messages]
            request = (turns, list(sample.sample.tools))
        task = load_task(self.address)
        try:
            scores = await score(
                task.task,
                task.samples.of(sample.metadata),
                sample.response,
                calls=sample.tool_calls,
                request=request,
                graders=self.graders,
                judge=sample.judge_fn or _no_judge,
            )
        except Refusal as error:
            raise ScorerError(f"{self.address.task} {error}") from error
        return _merge(scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBenchmark(Benchmark):
    """A benchmark whose rows are a task's samples with their messages."""

    places_no_shots: ClassVar[str] = (
        "it chooses its own examples; instead of --num-fewshot give the task's own argument, where"
        " it has one: inspect://PKG/TASK?fewshot=N"
    )

    def sample(self, row: Mapping[str, Any], *, sample_id: str) -> Sample:
        """Return the sample that a row of `LoadedTask.rows` describes.

        Raises:
            DatasetError: The task cannot ask it, or it lacks the recorded answer that is to be
                scored.
        """
        if "fault" in row:
            raise DatasetError(str(row["fault"]))
        record = row["sample"]
        choices = record.get("choices")
        cluster = (self.group_field or "").removeprefix("metadata.")
        group = (record.get("metadata") or {}).get(cluster)
        return Sample(
            id=sample_id,
            input=tuple(message_of(turn) for turn in row["messages"]),
            tools=tuple(row.get("tools", ())),
            tool_choice=row.get("tool_choice"),
            target=record["target"],
            choices=tuple(choices) if choices else None,
            metadata=dict(record),
            group=None if group is None else str(group),
            recorded_response=self.recorded_in(record),
        )

    def with_judges(self, panel: Mapping[str, str], roles: Mapping[str, str]) -> Self:
        """Return the benchmark for a run with these judges, having seen whom the task's scorers
        ask.

        Raises:
            ConfigError: They ask somebody who is not there or what cannot be asked, or read a
                panel's replies.
        """
        if not isinstance(self.scorer, TaskScorer):
            return self
        task = load_task(self.scorer.address)
        graders = task.graders(panel, roles)
        wants = task.wants(graders)
        if (
            len(panel) > 1
            and GRADER not in roles
            and any(want.is_free and GRADER in want.judges for want in wants)
        ):
            raise ConfigError(
                f"{self.name}: a scorer of the task reads its grader's replies itself, and the run"
                f" has {len(panel)} judges; say which is asked: model_roles: {{{GRADER}: …}}"
            )
        judges = tuple(dict.fromkeys(name for want in wants for name in want.judges))
        return replace(self, scorer=replace(self.scorer, graders=graders, judges=judges))


def open_task(uri: str) -> Benchmark:
    """Return the benchmark that ``inspect://PKG/TASK?ARGUMENT=VALUE`` or
    ``inspect:///PATH/FILE.py@TASK`` names.

    Raises:
        ConfigError: The address or the task cannot be run.
        DatasetError: The task or its data set cannot be had.
        MissingExtra: inspect_ai is not installed.
    """
    address = parse_address(uri)
    task = load_task(address)
    title = address.task if address.is_file else f"{address.home}-{address.task}"
    slug = re.sub(r"[^a-z0-9_-]+", "-", title.lower()).strip("-")
    return TaskBenchmark(
        name=f"inspect-{slug}",
        description=(
            f"{title} of Inspect, inspect_ai {metadata.version('inspect_ai')}{task.notes()}"
        ),
        dataset=Rows(task),
        prompt=load_template("made by Inspect", name="prompt"),
        scorer=TaskScorer(address=address),
        group_field=None if task.cluster is None else f"metadata.{task.cluster}",
        protocol="chat",
        generation=task.generation,
        extra={"task": task.digest},
    )


def parse_address(uri: str) -> Address:
    """Return what a URI names.

    Raises:
        ConfigError: It names no package and task, no file and task, a relative path, or an argument
            twice.

    >>> parse_address("inspect://inspect_evals/gsm8k?fewshot=5")
    Address(home='inspect_evals', task='gsm8k', arguments=(('fewshot', '5'),))
    >>> parse_address("inspect:///tmp/capitals.py@capitals").home
    '/tmp/capitals.py'
    """
    location, arguments = split_address(uri)
    home, mark, task = location.rpartition("@")
    if not (mark and home.endswith(".py")):
        home, _, task = location.partition("/")
    if not home or not task or home.endswith(".py") != bool(mark):
        raise ConfigError(
            f"{uri} names no task; write inspect://PKG/TASK or inspect:///PATH/FILE.py@TASK"
        )
    if mark and not PurePath(home).is_absolute():
        raise ConfigError(
            f"{uri}: give the whole path, or a resume elsewhere would not find it:"
            f" inspect://$PWD/{home}"
        )
    return Address(home=home, task=task, arguments=tuple(sorted(arguments.items())))


def _merge(named_scores: Sequence[NamedScore]) -> Score:
    """Return what all scorers gave as one score.

    Raises:
        JudgeError: As `_check`, which holds for `ScorerError` too.
    """
    values: dict[str, Any] = {}
    details: dict[str, Any] = {}
    for named_score in named_scores:
        name, score = named_score.name, named_score.score
        _check(named_score)
        values |= _values(name, score.value, is_alone=len(named_scores) == 1)
        details |= (
            _details(score)
            if len(named_scores) == 1
            else {name: {"answer": score.answer, **_details(score)}}
        )
    main = named_scores[0].score
    value = next(iter(values.values())) if list(values) == [""] else values
    explanation = main.explanation if len(named_scores) == 1 else None
    return Score(value=value, answer=main.answer, explanation=explanation, metadata=details)


def _check(named_score: NamedScore) -> None:
    """Refuse what is not a score: none, NaN, one that says of itself that grading failed, or one of an
    empty verdict.

    Raises:
        JudgeError: The grader is to blame.
        ScorerError: The scorer is.
    """
    name, score = named_score.name, named_score.score
    reason = str(getattr(score, "reason", None) or "")
    explanation = getattr(score, "explanation", None) or reason
    blames_grader = reason.startswith("grader")
    if blames_grader or reason == "scoring_failed" or score is None or _has_nan(score.value):
        message = f"{name} gave no score{f': {explanation}' if explanation else ''}"
        if blames_grader or named_score.reply is not None:
            raise JudgeError(
                message, reply="" if named_score.reply is None else named_score.reply[1]
            )
        raise ScorerError(message)
    if named_score.reply is not None and not may_hold_verdict(*named_score.reply):
        raise JudgeError(
            f"{name}: the grader's reply holds no verdict of any form", reply=named_score.reply[1]
        )


async def _no_judge(_: Case) -> Judgement:
    raise JudgeError("the scorer asks a grader and was called outside of a run", kind="no_judge")


def _values(name: str, value: Any, *, is_alone: bool) -> dict[str, Any]:
    """Return a value by the names of its metrics; a lone value that is not a mapping has the empty
    name.
    """
    if isinstance(value, Mapping):
        # Without the first value the next one would be the headline of this sample.
        main = next(iter(value), None)
        if main is not None and value[main] is None:
            raise ScorerError(f"{name} gave no {main}")
        begin = "" if is_alone else f"{name}_"
        return {
            f"{begin}{key}": _number(name, item) for key, item in value.items() if item is not None
        }
    if is_alone:
        return {"": value if isinstance(value, str) and value in _GRADES else _number(name, value)}
    return {name: _number(name, value)}


def _has_nan(value: Any) -> bool:
    """Return whether a value is or holds Inspect's sign of an answer that could not be scored."""
    values = value.values() if isinstance(value, Mapping) else [value]
    return any(isinstance(item, float) and isnan(item) for item in values)


def _number(name: str, value: Any) -> float | bool:
    """Return what Inspect's metrics make of a value, but no 0 of what it cannot read.

    Raises:
        ScorerError: It is not a grade, no number and no word that Inspect counts.
    """
    if isinstance(value, (bool, int, float)):
        return value
    number = score_of(value) if isinstance(value, str) else None
    if number is None:
        raise ScorerError(f"{name} gave {value!r}, which is not a grade and no number")
    return number


def _details(score: Any) -> dict[str, Any]:
    reason = getattr(score, "reason", None)
    return {
        **as_json(score.metadata or {}, repr),
        **({} if reason is None else {"reason": str(reason)}),
    }

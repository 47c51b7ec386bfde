"""Every extension point of nel: its entry-point group, and the object that an entry point names.

``nel list``, ``nel plugin check`` and docs/reference/extension-points.md are made from this module.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from nel.artifacts.answer_readers import AnswerReader
from nel.authoring.benchmark import Benchmark
from nel.authoring.lent_names import LentNames
from nel.authoring.registry import as_benchmark
from nel.discovery.contracts import (
    Bridge,
    CommandFunction,
    DatasetReader,
    ExecutorFactory,
    Exporter,
    Importer,
    MetricFactory,
    ObserverFactory,
    ReducerFactory,
    ReportWriter,
    ScorerFunction,
    SolverFunction,
)
from nel.engine.store.remote import RunStore
from nel.judges.types import Judge
from nel.models.wire.base import Wire
from nel.plugins import GROUPS


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionPoint:
    """One kind of plugin: what its entry points name, and how nel uses it."""

    kind: str
    """A key of `nel.plugins.GROUPS`."""
    contract: type
    """The class that the object is an instance of, or the protocol of the function that it is."""
    what: str
    """What an entry point names."""
    used_by: str
    """How a user names the plugin."""
    called: str
    """When and where nel calls it."""
    errors: str
    """What happens when it raises."""

    @property
    def group(self) -> str:
        """Return the entry-point group."""
        return GROUPS[self.kind]

    @property
    def signature(self) -> inspect.Signature | None:
        """Return the signature that nel calls the object with; None for an instance of a class."""
        if not getattr(self.contract, "_is_protocol", False):
            return None
        function: Callable[..., object] = self.contract.__call__
        signature = inspect.signature(function)
        _, *parameters = signature.parameters.values()  # without self
        return signature.replace(parameters=parameters)


EXTENSION_POINTS: Final[Mapping[str, ExtensionPoint]] = {
    point.kind: point
    for point in (
        ExtensionPoint(
            kind="benchmarks",
            contract=Benchmark,
            what=(
                "A `nel.Benchmark`, which is what `@nel.benchmark` returns, or a registered adapter"
                " class."
            ),
            used_by="`--bench NAME`, `benchmarks: [NAME]`",
            called=(
                "Imported when a run is planned; `sample` renders each row, `scorer` scores each"
                " response."
            ),
            errors="A row that `sample` refuses with `DatasetError` is unscored as `bad_row`.",
        ),
        ExtensionPoint(
            kind="bridges",
            contract=Bridge,
            what=(
                "What another tool has, in nel. An entry point's name is a scheme, and it names a"
                " function from a URI to a benchmark; or it is ``MODULE.names``, and names a"
                " ``LentNames``: the modules that a file written for the tool finds while it is"
                " loaded, unless the tool is installed; or it is ``TOOL.configuration``, and names"
                " a function of the mapping that a YAML file holds, which returns why nel does not"
                " run it and what to write instead, or None for a file that is not the tool's."
            ),
            used_by="`--bench NAME://...`",
            called=(
                "Once for each run, resume or rescoring, when it is planned and before anything is"
                " sent."
            ),
            errors=(
                "Any error ends the command with exit code 2; the message of an error of nel stays"
                " as it is."
            ),
        ),
        ExtensionPoint(
            kind="scorers",
            contract=ScorerFunction,
            what=(
                "A scorer, sync or async; a factory that builds one from options; or a class with a"
                " `score` method."
            ),
            used_by="`--scorer NAME:key=value,...`",
            called=(
                "Once for each response, beside the event loop, each call for"
                " `engine.scorer_timeout_seconds`."
            ),
            errors=(
                "What it raises leaves that sample unscored as `scorer`; `DatasetError` as"
                " `bad_row`."
            ),
        ),
        ExtensionPoint(
            kind="judges",
            contract=Judge,
            what="A `nel.Judge`: the questions about a case, and how replies become a grade.",
            used_by="`--judge-template NAME`, `judge: {template: NAME}`, `template=` of a scorer",
            called=(
                "`ask`, `read` and `settle` run in a thread, each call for"
                " `engine.scorer_timeout_seconds`."
            ),
            errors="`JudgeError` and any other error leave the sample unscored as `judge`.",
        ),
        ExtensionPoint(
            kind="metrics",
            contract=MetricFactory,
            what=(
                "A factory of functions over the scores of all samples; `@nel.scorers.metric` gives"
                " them a name."
            ),
            used_by="`--metric NAME:key=value,...`",
            called=(
                "The factory when a run is planned; the function when its artifacts are written."
            ),
            errors=(
                "A factory that raises ends the command with exit code 2; a metric that raises has"
                " the value null."
            ),
        ),
        ExtensionPoint(
            kind="reducers",
            contract=ReducerFactory,
            what=(
                "A factory of functions over the scores of one sample's repeats; `NAME_3` gives it"
                " the option `k=3`."
            ),
            used_by="`--reducer NAME`, `--reducer NAME_3`",
            called=(
                "The factory when a run is planned; the function for each sample when its artifacts"
                " are written."
            ),
            errors="A factory that raises ends the command with exit code 2.",
        ),
        ExtensionPoint(
            kind="datasets",
            contract=DatasetReader,
            what="A reader of a URI scheme. The entry point's name is the scheme.",
            used_by='`dataset="NAME://..."`, `--dataset NAME://...`',
            called="When a run is planned; `read` once for each session, in the order of the rows.",
            errors=(
                "Any error ends the command with exit code 2; the message of an error of nel stays"
                " as it is."
            ),
        ),
        ExtensionPoint(
            kind="reports",
            contract=ReportWriter,
            what="A function that writes one file about a finished run.",
            used_by="`output.reports: [NAME]`, `nel report DIR --format NAME`",
            called=(
                "After all artifacts of a session are written. It is imported before anything is"
                " sent."
            ),
            errors=(
                "The run stays as it is, its exit code too; the error is shown. `nel report`"
                " exits 2."
            ),
        ),
        ExtensionPoint(
            kind="readers",
            contract=AnswerReader,
            what=(
                "A `nel.AnswerReader`: the question to a model about an answer, and how its reply"
                " is read."
            ),
            used_by="`nel scorer audit DIR --reader URL --reader-form NAME`",
            called=(
                "`ask` once for each answer that no rule could read; `read` whenever the audit is"
                " written."
            ),
            errors=(
                "What either raises ends the command with exit code 2; nothing was sent when `ask`"
                " did."
            ),
        ),
        ExtensionPoint(
            kind="exporters",
            contract=Exporter,
            what="A function that writes the results of a run as files of another format.",
            used_by="`nel export DIR --to NAME -o OUT`",
            called=(
                "Once, with the run's directory and an empty directory that becomes OUT when it"
                " returns."
            ),
            errors=(
                "Any error ends the command with exit code 2 and leaves no OUT; a message of nel"
                " stays as it is."
            ),
        ),
        ExtensionPoint(
            kind="importers",
            contract=Importer,
            what=(
                "A function that reads results of another tool, as the types of"
                " `nel.artifacts.importing`."
            ),
            used_by="`nel import SOURCE -o DIR`, `--from NAME`",
            called=(
                "Once, with the source; each benchmark's `results` twice. Without `--from` until"
                " one knows it."
            ),
            errors=(
                "Any error ends the command with exit code 2 and leaves no DIR; a message of nel"
                " stays as it is."
            ),
        ),
        ExtensionPoint(
            kind="executors",
            contract=ExecutorFactory,
            what=(
                "A factory of executors, which compute scores and run programs; it takes the"
                " options of its name."
            ),
            used_by="`--executor NAME`, `--executor NAME:key=value,...`, `--executor NAME://...`",
            called=(
                "Once for each session, before the run forks; `start` on the event loop before"
                " anything is sent."
            ),
            errors=(
                "What the factory or `start` raises ends the command with exit code 2;"
                " `StoppedEarly`: 75."
            ),
        ),
        ExtensionPoint(
            kind="clients",
            contract=Wire,
            what=(
                "A `nel.clients.Wire`: how a protocol writes a request and reads its answer. nel"
                " sends and retries."
            ),
            used_by="`--protocol NAME`, `endpoint: {protocol: NAME}`, and of a judge alike",
            called=(
                "On the event loop: `body`, `answer` or `stream` for each request, `sign` for each"
                " attempt."
            ),
            errors=(
                "What `body`, `answer` or `sign` raises leaves that sample unscored as `infra`;"
                " `ConfigError` of `check` ends the command with exit code 2."
            ),
        ),
        ExtensionPoint(
            kind="commands",
            contract=CommandFunction,
            what=(
                "A Typer app or a function with Typer's annotations; `eval_NAME` is a command of"
                " `nel eval`."
            ),
            used_by="`nel NAME`",
            called="Imported when the command is called; the list of commands reads metadata.",
            errors="An error of nel is one line and its exit code; any other error is a traceback.",
        ),
        ExtensionPoint(
            kind="observers",
            contract=ObserverFactory,
            what=(
                "A factory of observers of a run: a function of the run's directory and of options."
            ),
            used_by="`--observer NAME:key=value,...`, `observability: {observers: [NAME]}`",
            called=(
                "Once for each session, before anything is sent; the events on the run's thread,"
                " `tick` beside it."
            ),
            errors=(
                "What the factory raises ends the command with exit code 2; an event that raises"
                " drops it."
            ),
        ),
        ExtensionPoint(
            kind="solvers",
            contract=SolverFunction,
            what=(
                "An async function that drives the episode of one sample: it asks the model and"
                " calls tools until it has an answer."
            ),
            used_by="`--solver NAME:key=value,...`, `benchmarks: [{name: NAME, solver: NAME}]`",
            called=(
                "Once for each (sample, repeat) and attempt, on the run's event loop; a resume calls"
                " it again, and stored steps answer it."
            ),
            errors="What it raises leaves the sample unscored as `environment`.",
        ),
        ExtensionPoint(
            kind="stores",
            contract=RunStore,
            what=(
                "A `nel.RunStore`, which keeps runs at URLs. The entry point's name is the scheme."
            ),
            used_by="`-o NAME://...`, and wherever a command takes the directory of a run",
            called=(
                "`uploading` around a session, whose run works on a local disk; the others when a"
                " command names a URL."
            ),
            errors=(
                "An error of nel ends the command with its exit code. An upload that fails costs"
                " the run nothing: exit code 75."
            ),
        ),
        ExtensionPoint(
            kind="suites",
            contract=Mapping,
            what=(
                "A mapping as a YAML file of a suite holds it: `suite`, its name, and `members`,"
                " names of benchmarks and sub-scores with members of their own."
            ),
            used_by="`--bench suite:NAME`",
            called="Read when a run is planned.",
            errors="A mapping that is not a suite ends the command with exit code 2.",
        ),
    )
}
"""By kind, in the order of `nel.plugins.GROUPS`."""


def shape_error(kind: str, plugin: object) -> str | None:
    """Return how an object differs from what an entry point of this kind names, or None."""
    point = EXTENSION_POINTS[kind]
    if point.signature is None:
        benchmark = as_benchmark(plugin)
        if isinstance(benchmark, point.contract):
            return None
        return f"it is {_a(benchmark)}, not a nel.{point.contract.__name__}"
    if kind == "bridges" and isinstance(plugin, LentNames):
        return None
    if not callable(plugin):
        return f"it is {_a(plugin)}, which cannot be called"
    parameters = list(point.signature.parameters)
    if kind == "scorers" or "options" in parameters:
        return None  # factories may need options
    try:
        inspect.signature(plugin).bind(*parameters)
    except (TypeError, ValueError) as error:
        return f"it cannot be called as ({', '.join(parameters)}): {error}"
    return None


def _a(value: object) -> str:
    return f"a {type(value).__name__}"

"""A task of Inspect is found, checked and read into rows; what its name and settings mean to nel.

Its prompts and verdicts come from `solving`. A task whose data are shuffled without a seed is
another task each time it is loaded, which the run's identity shows and a resume refuses.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import yaml

from nel.errors import ConfigError, DatasetError, MissingExtra, did_you_mean
from nel_inspect.records import Samples, record_of
from nel_inspect.running import apart
from nel_inspect.settings import by_our_names
from nel_inspect.solving import ask, plan_of, wants_of
from nel_inspect.watching import Graders, Refusal, TaskRequest, Want

_PROBED_MAX: Final = 8
"""So many samples are asked twice before a run, to find prompts that are drawn at random."""
_MEANS: Final = ("accuracy", "mean", "std", "stderr", "var", "bootstrap_stderr", "ci")
"""What nel says of any scores by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """What ``inspect://…`` names."""

    home: str
    """A package that registers tasks with Inspect, or the path of a Python file."""
    task: str
    arguments: tuple[tuple[str, str], ...] = ()
    """The task's own arguments, as they stand in the address."""

    @property
    def is_file(self) -> bool:
        """Return whether the task is in a file."""
        return self.home.endswith(".py")

    @property
    def spec(self) -> str:
        """Return the name by which Inspect knows the task."""
        return f"{self.home}@{self.task}" if self.is_file else f"{self.home}/{self.task}"


class Rows:
    """A function that returns a task's rows, and says in messages and reports whose they are."""

    def __init__(self, task: LoadedTask) -> None:
        """Take the task."""
        self.task = task
        self.__module__ = "inspect_ai"
        self.__qualname__ = task.address.task

    def __call__(self) -> Iterator[dict[str, Any]]:
        """Return `LoadedTask.rows`."""
        return self.task.rows()


class LoadedTask:
    """One task of Inspect, ready to give requests and to score answers."""

    def __init__(self, address: Address, task: Any, digest: str) -> None:
        """Check that nel can ask and score it, by its declarations and by asking its first samples.

        Raises:
            ConfigError: It needs what nel has not: tools, agents, a sandbox, a judge, several
                answers …
            DatasetError: It has no samples.
        """
        self.address = address
        self.task = task
        self.digest = digest
        self.samples = Samples(task.dataset)
        self._check_declared()
        self.first, self.sample = self._probe()
        self.generation = self._generation(self.first)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each sample with its messages, or with what is wrong with it."""
        for sample in self.task.dataset:
            row: dict[str, Any] = {} if sample.id is None else {"id": sample.id}
            try:
                row["sample"] = record_of(sample)
                request = self._ask(sample)
                row["messages"] = [dict(message) for message in request.messages]
                if request.tools:
                    row |= {"tools": list(request.tools), "tool_choice": request.tool_choice}
                if request.settings != self.first.settings:
                    row["fault"] = "is asked with other generation settings than the first sample"
            except Refusal as error:
                row["fault"] = f"{self.address.task} {error}"
            except Exception as error:  # noqa: BLE001 - a solver's fault concerns its own sample
                row["fault"] = f"the task cannot ask it: {type(error).__name__}: {error}"
            row.setdefault("sample", {})
            yield row

    def graders(self, panel: Mapping[str, str], roles: Mapping[str, str]) -> Graders:
        """Return whom the task's scorers may ask in a run with this panel and these roles, by name
        with the model.
        """
        return Graders(panel=panel, roles=roles, task_roles=self.task.model_roles or {})

    def wants(self, graders: Graders) -> list[Want]:
        """Return whom the scorers ask about the first sample that can be asked, as far as trying
        them out shows.

        Each is tried on an empty answer and on the target, bare and after ``ANSWER:``, since some
        look at an answer before they ask about it.

        Raises:
            ConfigError: They ask what cannot be asked, or somebody who is not there.
        """
        from inspect_ai._util.error import PrerequisiteError  # noqa: PLC0415 - heavy

        target = "".join(self.sample.target)
        try:
            return [
                want
                for answer in dict.fromkeys(["", target, f"ANSWER: {target}"])
                for want in wants_of(self.task, self.sample, answer, graders)
            ]
        except Refusal as error:
            raise ConfigError(
                f"{self.address.task} {error}; this bridge cannot run it so"
            ) from error
        except PrerequisiteError as error:
            raise ConfigError(
                f"{self.address.task} cannot be scored: {error.message} Give --judge-url and"
                " --judge-id, or name the model under model_roles"
            ) from error
        except TimeoutError:  # in the run each sample's scorer has its own time
            return []

    @property
    def cluster(self) -> str | None:
        """Return the field of the metadata by which the first `stderr(cluster=…)` of the task joins
        samples that are not independent.
        """
        from inspect_ai._util.registry import (  # noqa: PLC0415 - heavy
            is_registry_object,
            registry_params,
        )

        registered = filter(is_registry_object, _metrics_of(self.task))
        clusters = (registry_params(metric).get("cluster") for metric in registered)
        return next((str(field) for field in clusters if field), None)

    def notes(self) -> str:
        """Return what Inspect would do beyond what nel does, for the benchmark's description."""
        notes = []
        names = dict.fromkeys(_plain_name(metric) for metric in _metrics_of(self.task))
        metrics = [name for name in names if name not in _MEANS]
        if metrics:
            notes.append(f"without {', '.join(metrics)}, computed by Inspect alone")
        if (self.task.epochs or 1) > 1:
            notes.append(
                f"Inspect asks each sample {self.task.epochs} times: --repeats {self.task.epochs}"
            )
        return "".join(f"; {note}" for note in notes)

    def _check_declared(self) -> None:
        name, task = self.address.task, self.task
        needs = {
            "a sandbox": task.sandbox is not None,
            "a source of samples that grows as it runs": task.sample_source is not None,
            "to stop early by its own rule": task.early_stopping is not None,
            "to clean up after each sample": task.cleanup is not None,
        }
        for need, is_needed in needs.items():
            if is_needed:
                raise ConfigError(
                    f"{name} needs {need}, which this bridge has not; run it with inspect eval"
                )
        agents = [_plain_name(step) for step in plan_of(task).steps if _is_agent(step)]
        if agents:
            raise ConfigError(
                f"{name} runs the agent {agents[0]}, which asks again and again; run it with"
                " inspect eval"
            )
        if not task.scorer:
            raise ConfigError(f"{name} has no scorer")
        if not len(task.dataset):
            raise DatasetError(f"{name} has no samples")

    def _probe(self) -> tuple[TaskRequest, Any]:
        """Return what is asked of the first sample that can be asked, and that; several are asked
        twice.
        """
        probe: tuple[TaskRequest, Any] | None = None
        faults: list[Exception] = []
        for position in range(min(_PROBED_MAX, len(self.task.dataset))):
            sample = self.task.dataset[position]
            try:
                record_of(sample)
                request = self._ask(sample)
                if request != self._ask(sample):
                    raise Refusal(
                        "shapes its prompt at random; shuffle when the data are read, with a seed"
                    )
                probe = probe or (request, sample)
            except Refusal as error:
                raise ConfigError(
                    f"{self.address.task} {error}; this bridge cannot run it"
                ) from error
            except Exception as error:  # noqa: BLE001 - of this sample alone: its row will say so
                faults.append(error)
        if probe is None:
            raise DatasetError(
                f"{self.address.task} fails before it asks the model: {type(faults[0]).__name__}:"
                f" {faults[0]}"
            )
        return probe

    def _ask(self, sample: Any) -> TaskRequest:
        if sample.sandbox is not None or sample.files or sample.setup:
            raise Refusal("needs a sandbox for its samples")
        return ask(self.task, sample)

    def _generation(self, request: TaskRequest) -> dict[str, Any]:
        """Return the generation settings by nel's names."""
        generation, unsendable = by_our_names(request.settings, has_tools=bool(request.tools))
        if unsendable:
            raise ConfigError(
                f"{self.address.task} sets {', '.join(unsendable)}, which this bridge cannot send"
            )
        return generation


def _metrics_of(task: Any) -> Iterator[Any]:
    from inspect_ai.scorer._scorer import scorer_metrics  # noqa: PLC0415 - heavy

    entries = [task.metrics] if task.metrics else [scorer_metrics(entry) for entry in task.scorer]
    while entries:
        entry = entries.pop(0)
        if isinstance(entry, Mapping):
            entries += entry.values()
        elif isinstance(entry, (list, tuple)):
            entries += entry
        else:
            yield entry


def _plain_name(registered: Any) -> str:
    """Return the name under which something was registered; of a plain function, its own."""
    from inspect_ai._util.registry import (  # noqa: PLC0415 - heavy
        is_registry_object,
        registry_unqualified_name,
    )

    if is_registry_object(registered):
        return str(registry_unqualified_name(registered))
    return str(getattr(registered, "__name__", type(registered).__name__))


def _is_agent(step: Any) -> bool:
    """Return whether a solver is an agent, which Inspect registers under the same name as both."""
    from inspect_ai._util.registry import (  # noqa: PLC0415 - heavy
        is_registry_object,
        registry_info,
        registry_lookup,
    )

    return (
        is_registry_object(step) and registry_lookup("agent", registry_info(step).name) is not None
    )


@lru_cache(maxsize=32)
def load_task(address: Address) -> LoadedTask:
    """Return a task of an installed package or of a file, with its data set.

    Raises:
        MissingExtra: inspect_ai is not installed.
        ConfigError: There is no such task or argument, or nel cannot run it.
        DatasetError: The task or its data set cannot be had.
    """
    try:
        import inspect_ai  # noqa: F401, PLC0415 - heavy
    except ImportError as error:
        raise MissingExtra(
            f"inspect://{address.spec} needs inspect_ai: pip install inspect_ai ({error})"
        ) from error
    if address.is_file and not Path(address.home).is_file():
        raise ConfigError(f"inspect://{address.spec}: there is no file {address.home}")
    try:
        factory = apart(lambda: _find(address))
        arguments = {name: yaml.safe_load(value) for name, value in address.arguments}
        _check_arguments(address, factory)
        (task,) = apart(lambda: _create(address, arguments))
    except ConfigError:
        raise
    except Exception as error:
        raise DatasetError(
            f"inspect_ai cannot load {address.spec}: {type(error).__name__}: {error}"
        ) from error
    return LoadedTask(address, task, _digest(address, factory))


def _find(address: Address) -> Any:
    """Return the registered function that makes the task."""
    from inspect_ai._eval.loader import load_file_tasks  # noqa: PLC0415 - heavy
    from inspect_ai._util.registry import (  # noqa: PLC0415 - heavy
        registry_find,
        registry_info,
        registry_lookup,
    )

    if address.is_file:
        load_file_tasks(Path(address.home).absolute())
    factory = registry_lookup("task", address.task if address.is_file else address.spec)
    if factory is not None:
        return factory
    tasks = registry_find(lambda info: info.type == "task")
    names = [registry_info(task).name for task in tasks]
    if address.is_file:
        hint = did_you_mean(address.task, [name for name in names if "/" not in name])
        raise ConfigError(f"{address.home} has no task {address.task}{hint}")
    package_names = [name for name in names if name.startswith(f"{address.home}/")]
    if not package_names:
        raise ConfigError(
            f"no installed package {address.home} registers tasks with Inspect; pip install it, or"
            " name a file: inspect:///PATH/FILE.py@TASK"
        )
    hint = (
        did_you_mean(address.spec, package_names)
        or f"; it has {', '.join(sorted(package_names)[:5])} …"
    )
    raise ConfigError(f"inspect_ai has no task {address.spec}{hint}")


def _create(address: Address, arguments: Mapping[str, Any]) -> list[Any]:
    from inspect_ai._eval.loader import create_file_tasks, load_tasks  # noqa: PLC0415 - heavy

    if address.is_file:
        return list(create_file_tasks(Path(address.home), [address.task], dict(arguments)))
    return list(load_tasks([address.spec], dict(arguments)))


def _check_arguments(address: Address, factory: Any) -> None:
    parameters = inspect.signature(factory).parameters
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    for name, _ in address.arguments:
        if name not in parameters:
            hint = did_you_mean(name, parameters) or f"; it takes {', '.join(parameters) or 'none'}"
            raise ConfigError(f'{address.spec} has no argument "{name}"{hint}')


def _digest(address: Address, factory: Any) -> str:
    """Return a digest of the file that defines the task, its arguments, and the versions of its
    package and Inspect.
    """
    source = inspect.getsourcefile(inspect.unwrap(factory))
    lines = [metadata.version("inspect_ai"), address.spec, repr(address.arguments)]
    if not address.is_file:
        homes = metadata.packages_distributions().get(address.home, [address.home])
        lines += [f"{home} {_version(home)}" for home in sorted(set(homes))]
    digest = hashlib.sha256("\n".join(lines).encode())
    if source is not None:
        digest.update(Path(source).read_bytes())
    return digest.hexdigest()


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"

"""Recognises a configuration file of NeMo Evaluator, and writes what stands for it in nel.

There are two forms, one model or several services, and that of its launcher. Nothing is run from
such a file: part of what it may hold has no counterpart, and a setting that is dropped without a
word is another evaluation. What is translated here is what its published examples hold. A
benchmark that nel cannot run is not written: the message names the one thing that it needs. The
file is looked at before variables are filled in, so that no key gets into the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from nel import plugins
from nel.authoring.registry import find_benchmark
from nel.core.json_values import inner, present
from nel.scoring.declarations import asks_judge
from nel.types import JsonObject

# ``${NAME}`` and ``${NAME:-default}``.
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}")
_SOME_KEY: Final = "MY_KEY"
_SOME_URL: Final = "https://HOST/v1"
_SAME: Final = ("name", "max_problems", "repeats", "system_prompt")
_SAMPLING: Final = ("temperature", "top_p", "max_tokens", "seed", "stop")
_STARTED: Final = ("vllm", "sglang", "nim", "docker_model", "dynamo")
"""Types of services that NeMo Evaluator starts by itself."""
_OTHER_BENCHMARKS: Final = {"mmlu": "mmlu_generative", "gpqa": "gpqa_diamond"}
"""Those that nel has under another name: its own mmlu ranks the choices by log-likelihood."""
_OWN_BRIDGES: Final = ("lm-eval",)
"""Of plugins of nel's that may still have to be installed; a run says so."""
_OTHER_SCORERS: Final = {"mcq_extract": "mcq_letter_extract"}
_COMPLETIONS: Final = ("completions", "completion")
_USUAL_PROTOCOLS: Final = (None, "chat", "chat_completions", *_COMPLETIONS)
_LAUNCHER_PARAMS: Final = {
    "max_new_tokens": "max_tokens",
    "limit_samples": "max_problems",
    "parallelism": "max_concurrent",
}
"""Settings of the launcher that have another name in the later forms."""
_PARAMS_SECTION: Final = "nemo_evaluator_config"
_DONE_BY: Final = {
    "cluster": "nel eval submit writes the files of a scheduler",
    "sandbox": "programs run in the containers of nel sandbox build",
    "export": "nel export --to NAME",
    "export_config": "nel export --to NAME",
}
"""Keys without a counterpart in a file, and the command that does what they do."""


def nemo_file_problem(data: JsonObject) -> str | None:
    """Return why a file of NeMo Evaluator is not run, and what to write instead; else None."""
    evaluation = inner(data, "evaluation")
    if "target" in data and isinstance(evaluation.get("tasks"), list):
        handled = ("evaluation", "target")
        rest_of_file = {key: value for key, value in data.items() if key not in handled}
        data = {**_of_launcher(evaluation, data), **rest_of_file}
    elif "endpoint" in data or not isinstance(data.get("benchmarks"), list):
        return None
    model = data.get("model")
    names_model = isinstance(model, Mapping) and "id" in model
    if not names_model and not isinstance(data.get("services"), Mapping):
        return None
    translation = _Translation()
    translation.write_file(data)
    needs = "; ".join(dict.fromkeys(translation.needs))
    if not translation.config["benchmarks"]:
        return f"this is a configuration of NeMo Evaluator that nel cannot run: {needs}"
    text = yaml.safe_dump(translation.config, sort_keys=False, allow_unicode=True).rstrip()
    parts = [f"this is a configuration of NeMo Evaluator; in nel it is\n\n{text}\n"]
    if needs:
        parts.append(f"\nNot in it, for nel cannot run them: {needs}")
    if translation.omissions:
        omissions = ", ".join(translation.omissions)
        parts.append(f"\nNot in it, for nel has no such key there: {omissions}")
    return "".join(parts)


def _of_launcher(evaluation: JsonObject, data: JsonObject) -> dict[str, Any]:
    """Return a file of the launcher, with its endpoint below ``target``, as one with a model."""
    endpoint = dict(inner(inner(data, "target"), "api_endpoint"))
    model = {"id": endpoint.pop("model_id", "NAME"), **endpoint}
    if "api_key_name" in model:
        model["api_key"] = f"${{{model.pop('api_key_name')}}}"
    shared = _launcher_params(evaluation)
    benchmarks = []
    for task in evaluation["tasks"]:
        if isinstance(task, Mapping):
            others = {key: value for key, value in task.items() if key != _PARAMS_SECTION}
            benchmarks.append({**others, **shared, **_launcher_params(task)})
    return {"model": model, "benchmarks": benchmarks}


def _launcher_params(section: JsonObject) -> dict[str, Any]:
    params = inner(inner(inner(section, _PARAMS_SECTION), "config"), "params")
    return {_LAUNCHER_PARAMS.get(key, key): value for key, value in params.items()}


@dataclass
class _Translation:
    """What is written so far, and the benchmarks and keys that it leaves out."""

    config: dict[str, Any] = field(default_factory=dict)
    """Of nel."""
    needs: list[str] = field(default_factory=list)
    """What each benchmark that is not written needs."""
    omissions: list[str] = field(default_factory=list)
    """Keys that are not written."""
    services: dict[str, JsonObject] = field(default_factory=dict)
    endpoint_service: str = ""
    """The service that the endpoint is."""
    has_judge: bool = False

    def write_file(self, data: JsonObject) -> None:
        """Write a file with a model or with services."""
        for name, service in inner(data, "services").items():
            if isinstance(service, Mapping):
                self.services[str(name)] = service
        model = data.get("model")
        if isinstance(model, Mapping):
            self._endpoint_of_run(model, "model")
        sections = [
            section if isinstance(section, Mapping) else {"name": section}
            for section in data["benchmarks"]
        ]
        self.has_judge = any(_judges_in(section.get("scoring")) for section in sections)
        entries, concurrencies = [], set()
        for index, section in enumerate(sections):
            need = self._need_of(index, section)
            if need is None:
                entries.append(self._benchmark(section, index))
                concurrencies.add(section.get("max_concurrent"))
            else:
                self.needs.append(need)
        self._write_concurrency(concurrencies)
        # The endpoint comes first in the file, and its service may be named by a benchmark.
        endpoint = self.config.pop("endpoint", None) or {"url": _SOME_URL, "model": "NAME"}
        self.config = {"endpoint": endpoint, "benchmarks": entries, **self.config}
        self._write_output(inner(data, "output"))
        handled = ("model", "services", "sandboxes", "benchmarks", "output")
        self.omissions += [_name_key(str(key), str(key)) for key in data if key not in handled]

    def _need_of(self, index: int, section: JsonObject) -> str | None:
        """Return the one thing that a benchmark needs; None where nel can run it."""
        if "playbook" in section:
            return f"benchmarks.{index}: nel has no playbook {section['playbook']}"
        name = str(section.get("name", "NAME"))
        problem = _missing_benchmark(name)
        if problem is not None:
            return problem
        kind = inner(section, "solver").get("type", "simple")
        if kind != "simple":
            return f"{name}: nel has no solver {kind}; nel list solvers shows its own"
        if not self.has_judge and _is_judged(name):
            return f"{name} needs a judge, and the file names none"
        return None

    def _endpoint_of_run(self, section: JsonObject, where: str) -> None:
        self.config["endpoint"] = self._endpoint(section, where)
        if generation := self._generation(section, where):
            self.config["generation"] = generation

    def _endpoint(self, section: JsonObject, where: str) -> dict[str, Any]:
        endpoint = {"url": section.get("url"), "model": section.get("id", section.get("model"))}
        # A server that NeMo Evaluator would start: its port and name are known, and the rest of the
        # section says how to start it.
        if section.get("type") in _STARTED:
            endpoint["url"] = f"http://localhost:{section.get('port', 8000)}/v1"
            endpoint["model"] = section.get("served_model_name", endpoint["model"])
            self.omissions.append(f"{where}, a server that nel does not start ({section['type']})")
            section = {"protocol": section.get("protocol")}
        endpoint = present(endpoint)
        if "@" in str(endpoint.get("url")):  # a password may stand before it
            endpoint["url"] = _SOME_URL
        if section.get("api_key"):
            # The name of the variable is kept; a key itself is never written.
            variable = _VARIABLE.fullmatch(str(section["api_key"]))
            endpoint["api_key_env"] = _SOME_KEY
            if variable:
                endpoint["api_key_env"] = variable[1]
        if section.get("protocol") in _COMPLETIONS:
            endpoint["protocol"] = "completions"
        elif section.get("protocol") not in _USUAL_PROTOCOLS:
            self.omissions.append(f"{where}.protocol")
        handled = ("type", "url", "id", "model", "api_key", "protocol", "generation", *_SAMPLING)
        self.omissions += [f"{where}.{key}" for key in section if key not in handled]
        return endpoint

    def _generation(self, section: JsonObject, where: str) -> dict[str, Any]:
        """Return the sampling settings in a section, and in its own section ``generation``."""
        settings = {key: section[key] for key in _SAMPLING if key in section}
        settings = present({**settings, **inner(section, "generation")})
        self.omissions += [f"{where}.generation.{key}" for key in settings if key not in _SAMPLING]
        return {key: settings[key] for key in _SAMPLING if key in settings}

    def _write_concurrency(self, values: set[Any]) -> None:
        """Write the concurrency, which is the run's in nel, where all benchmarks have the same."""
        if values <= {None}:
            return
        if len(values) == 1:
            self.config["engine"] = {"concurrency": values.pop()}
        else:
            self.omissions.append(
                "max_concurrent of each benchmark (engine.concurrency is the run's)"
            )

    def _benchmark(self, section: JsonObject, index: int) -> dict[str, Any]:
        where = f"benchmarks.{index}"
        benchmark: dict[str, Any] = {key: section[key] for key in _SAME if key in section}
        name = section.get("name", "NAME")
        benchmark["name"] = _OTHER_BENCHMARKS.get(str(name), name)
        self._write_endpoint(section, where)
        self._write_judge(section, where)
        solver = inner(section, "solver")
        generation = self._generation(section, where)
        generation |= self._generation(solver, f"{where}.solver")
        if "system_prompt" in solver:
            benchmark["system_prompt"] = solver["system_prompt"]
        self._omit_scoring(section, where)
        handled = (
            *_SAME, *_SAMPLING, "model", "solver", "generation", "scoring", "max_concurrent",
        )  # fmt: skip
        self.omissions += [
            _name_key(key, f"{where}.{key}") for key in section if key not in handled
        ]
        if generation:
            benchmark["generation"] = generation
        return benchmark

    def _omit_scoring(self, section: JsonObject, where: str) -> None:
        """Name the scorers that a file adds to a benchmark's own: nel scores again by another."""
        scoring = section.get("scoring")
        names = map(str, _metrics_in(scoring, "scorer", "name"))
        commands = [f"nel eval score DIR --scorer {_OTHER_SCORERS.get(n, n)}" for n in names]
        if commands:
            self.omissions.append(f"{where}.scoring ({', '.join(commands)})")
        elif scoring is not None and not _judges_in(scoring):
            self.omissions.append(f"{where}.scoring")

    def _write_endpoint(self, section: JsonObject, where: str) -> None:
        """Write the endpoint that a benchmark names, which is that of the run."""
        solver = inner(section, "solver")
        name = solver.get("service", section.get("model"))
        handled = ("type", "service", "system_prompt", "generation")
        self.omissions += [f"{where}.solver.{key}" for key in solver if key not in handled]
        service = self.services.get(str(name))
        if service is not None and "endpoint" not in self.config:
            self._endpoint_of_run(service, f"services.{name}")
            self.endpoint_service = str(name)
        elif service is not None and name != self.endpoint_service:
            self.omissions.append(f"{where}, which asks {name} (give it a file of its own)")

    def _write_judge(self, section: JsonObject, where: str) -> None:
        for name in _judges_in(section.get("scoring")):
            service = self.services.get(str(name))
            if service is None:
                self.omissions.append(f"{where}.judge")
            elif "judge" not in self.config:
                where = f"services.{name}"
                generation = self._generation(service, where)
                judge = self._endpoint(service, where)
                if generation:
                    judge["generation"] = generation
                self.config["judge"] = judge

    def _write_output(self, output: JsonObject) -> None:
        if "dir" in output:
            self.config["output"] = {"dir": output["dir"]}
        self.omissions += [_name_key(key, f"output.{key}") for key in output if key != "dir"]


def _metrics_in(scoring: object, kind: str, key: str) -> list[Any]:
    """Return one key of each metric of a ``scoring`` section, if all of them are of a kind."""
    metrics = scoring.get("metrics") if isinstance(scoring, Mapping) else None
    if not isinstance(metrics, list):
        return []
    if all(isinstance(metric, Mapping) and metric.get("type") == kind for metric in metrics):
        return [metric.get(key) for metric in metrics]
    return []


def _judges_in(scoring: object) -> list[Any]:
    return _metrics_in(scoring, "judge", "service")


def _is_judged(name: str) -> bool:
    return bool(plugins.matching("benchmarks", name)) and asks_judge(find_benchmark(name).scorer)


def _missing_benchmark(name: str) -> str | None:
    """Return that nel has no benchmark of this name, with one of a like name; None if it has it."""
    parts = plugins.split_uri(name)
    if parts is None:
        kind, plugin = "benchmarks", _OTHER_BENCHMARKS.get(name, name)
    else:
        kind, plugin = "bridges", parts[0]
    is_elsewhere = plugin in _OWN_BRIDGES or name.endswith((".py", ".yaml", ".yml"))
    if name == "NAME" or is_elsewhere or plugins.matching(kind, plugin):
        return None
    message = f"nel has no benchmark {name}"
    # ``simple-evals/MMLU-Pro`` is like mmlu_pro: of names that end it, the longest says most.
    ending = re.split("[#/]", name)[-1].lower().replace("-", "_")
    names = [ref.name for ref in plugins.discover("benchmarks") if ending.endswith(ref.name)]
    if names:
        message += f"; it has {max(names, key=len)}"
    return message


def _name_key(key: str, where: str) -> str:
    """Return where a key stands, and the command that does what it does."""
    return f"{where} ({_DONE_BY[key]})" if key in _DONE_BY else where

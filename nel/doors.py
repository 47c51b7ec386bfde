"""The modules of nel that other code may import; every other module is internal, and may change.

This is the one list: the reference page of public modules is made of it, and tests hold built-in
benchmarks, plugins and documented examples to it. A package's name with ``.*`` after it stands for
the modules in it.
"""

from __future__ import annotations

from typing import Final

PUBLIC: Final = {
    "nel": "runs, comparisons and gates from Python; benchmarks, scorers, judges, tools",
    "nel.benchmarks": "benchmarks as adapter classes, under EvalScope's names",
    "nel.byob": "a benchmark in one file, under NeMo Evaluator's names",
    "nel.byob.judge": "a judge's grade inside a scorer",
    "nel.byob.scorers": "scorers for a benchmark in one file",
    "nel.clients": "protocols of endpoints",
    "nel.datasets": "sources of rows",
    "nel.discovery.conformance": "the checks of `nel plugin check`, for the tests of a plugin",
    "nel.environments.toolset": "a container for each episode",
    "nel.episodes": "solvers of many steps",
    "nel.errors": "what nel raises, with exit codes",
    "nel.metrics": "metrics and reducers",
    "nel.metrics.aggregation": "their combinations",
    "nel.prompts": "templates",
    "nel.sandbox": "running programs without a run",
    "nel.scorers": "scorers, metrics and reducers under Inspect's names",
    "nel.scoring": "rules of scoring",
    "nel.scoring.types": "what a scorer gets, under NeMo Evaluator's name",
    "nel.tools": "tools that a model may call",
    "nel.types": "samples, requests, responses, scores and outcomes",
}
"""What benchmarks, scorers and programs of users import; by module, what for."""

RULES: Final = {
    "nel.reading.*": "how answers are read; a change raises the version of the reading rule",
    "nel.scoring.*": "the rules of scoring, one a module",
}
"""What the built-in benchmarks are made of, and another may be; changes are named in scores."""

CONTRACTS: Final = {
    "nel.apps.http_server": "serving an application of a test",
    "nel.apps.mock.demo": "the demo model inside a test",
    "nel.artifacts.exporting": "exporters",
    "nel.artifacts.exporting.contract": "exporters: what they return",
    "nel.artifacts.exporting.run": "exporters: what they read",
    "nel.artifacts.exporting.table": "exporters: tables of metrics and samples",
    "nel.artifacts.importing": "importers",
    "nel.compat.evalscope.report": "adapters: tables of reports",
    "nel.compat.evalscope.samples": "bridges: adapters' samples",
    "nel.authoring.lent_names": "bridges: names of another tool while a file is loaded",
    "nel.compat.evalscope.aggregation": "the bridge to EvalScope",
    "nel.compat.evalscope.own_aggregates": "the bridge to EvalScope",
    "nel.compat.evalscope.own_rows": "the bridge to EvalScope",
    "nel.compat.evalscope.refused": "the bridge to EvalScope",
    "nel.config.process_environment": "executors: variables that are passed on",
    "nel.core": "helpers without a domain",
    "nel.core.addresses": "helpers: URLs without their secrets",
    "nel.core.atomic_files": "helpers: files that are whole or not there",
    "nel.core.json_values": "helpers: what a value of JSON is",
    "nel.core.observer": "observers",
    "nel.core.paths": "helpers: names of files",
    "nel.core.reward_keys": "helpers: which number of a scorer is the reward",
    "nel.core.strict_json": "helpers: JSON without NaN",
    "nel.core.timed_regex": "helpers: patterns with a time limit",
    "nel.core.thinking": "helpers: answers without their reasoning",
    "nel.engine.executors": "executors",
    "nel.engine.executors.fleet": "executors: workers that join and leave",
    "nel.engine.executors.leased": "executors: work that is given out and taken back",
    "nel.engine.executors.pipes": "executors: a process at a pipe",
    "nel.engine.executors.wire": "executors: messages",
    "nel.engine.scorers.call": "executors: one answer that is to be scored",
    "nel.engine.store.lock": "stores: who holds a run",
    "nel.engine.store.projections.intact": "stores: a copy of a run in use",
    "nel.engine.store.remote": "stores",
    "nel.engine.store.snapshot": "stores: what is uploaded",
    "nel.judges.parsing.formats": "judges: forms of verdicts",
    "nel.judges.parsing.verdict": "judges: verdicts in a reply",
    "nel.judges.quoting": "judges: quoting an answer",
    "nel.judges.reply_formats": "judges: forms of replies",
    "nel.judges.types": "judges",
    "nel.reports.run_files": "exporters: the files of a run",
}
"""What plugins of further kinds import; it changes with nel, and the changelog says so."""


def is_door(module: str) -> bool:
    """Return whether other code may import a module.

    >>> is_door("nel.scorers"), is_door("nel.reading.numbers"), is_door("nel.engine.run")
    (True, True, False)
    """
    parent = module.rpartition(".")[0]
    return module in PUBLIC or module in CONTRACTS or f"{parent}.*" in RULES

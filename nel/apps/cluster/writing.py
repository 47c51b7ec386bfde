"""Writes the files of a submission into a directory beside where its run will be; sends nothing."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import yaml

from nel.apps.cluster.division import ShardConfig, divide, secrets_of
from nel.apps.cluster.kubernetes import DATA, KubernetesJob, kubernetes_files
from nel.apps.cluster.slurm import SlurmJob, slurm_files
from nel.authoring.registry import is_local, split_file
from nel.config.schema import RunConfig
from nel.core.atomic_files import write_file
from nel.engine.local_paths import (
    judges_of,
    path_settings,
    with_absolute_paths,
    with_prompts_as_text,
)
from nel.engine.planning.plan_checks import check_shard
from nel.engine.planning.resolution import make_plans, with_members
from nel.engine.run import refuse_secrets
from nel.engine.store.remote import is_remote
from nel.errors import ConfigError, OutputError
from nel.prompts import is_template_file, load_template, portable_text

Scheduler = Literal["slurm", "kubernetes"]
_ARRAY_MAX: Final = 1_000
"""Tasks of an array that Slurm takes by default (``MaxArraySize``)."""
_NAME_MAX: Final = 30
_NOTHING: Final = "none"
"""Stands where no key is needed; no manifest names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerTarget:
    """What only one of the schedulers needs."""

    options: Sequence[str] = ()
    """Of sbatch."""
    image: str | None = None
    claim: str | None = None
    secret: str | None = None
    """The name of the object that holds the keys."""
    namespace: str | None = None

    def check(self, scheduler: Scheduler) -> None:
        """Raise ConfigError where an option is one of the other scheduler."""
        of_kubernetes = {
            "--image": self.image,
            "--volume-claim": self.claim,
            "--secret": self.secret,
            "--namespace": self.namespace,
        }
        options = of_kubernetes if scheduler == "slurm" else {"--sbatch": self.options}
        unfit = [name for name, value in options.items() if value]
        if unfit:
            raise ConfigError(f"--to {scheduler} has no {', '.join(unfit)}; leave it out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """The files that start a run in shards."""

    directory: Path
    files: tuple[Path, ...]
    limits: tuple[str, ...]
    """What the limits are in each shard."""
    notes: tuple[str, ...]
    """What the user has to see to."""


def write_submission(
    config: RunConfig, scheduler: Scheduler, shards: int, target: SchedulerTarget
) -> Submission:
    """Write the scripts or manifests of a run in shards, and the configuration that they share.

    Raises:
        NelError: The configuration cannot be run in shards or on this scheduler, or the directory
            exists.
    """
    target.check(scheduler)
    if is_remote(config.output.dir):
        raise ConfigError(
            f"scripts and shards cannot be in {config.output.dir}; give a local --output-dir, and"
            " upload the merged run"
        )
    config = with_members(config)
    parts = divide(config, shards)
    for entry in config.benchmarks:
        check_shard(config.model_copy(update={"shard": f"1/{shards}"}), entry)
    secrets = secrets_of(config)
    refuse_secrets(config, [os.environ.get(name) for name in secrets])
    name = config.output.run_id or _name(config)
    directory = Path(config.output.dir).absolute() / f"{name}.shards"
    if scheduler == "slurm":
        files, notes = _for_slurm(name, directory, parts, shards, secrets, target.options)
    else:
        files, notes = _for_kubernetes(name, parts, shards, secrets, target)
    return Submission(
        directory=directory,
        files=_write_files(directory, files),
        limits=parts.limits,
        notes=(*notes, *_limiter_note(config), *_budget_note(config, shards)),
    )


def _for_slurm(
    name: str,
    directory: Path,
    parts: ShardConfig,
    shards: int,
    secrets: Sequence[str],
    options: Sequence[str],
) -> tuple[dict[str, str], list[str]]:
    config = RunConfig.model_validate(parts.config)
    make_plans(config)  # so that a wrong benchmark or dataset is named here, and not by every task
    job = SlurmJob(
        name=name,
        directory=directory,
        output=directory.with_name(name),
        shards=shards,
        nel=(sys.executable, "-m", "nel"),
        secrets=secrets,
        options=options,
        limits=parts.limits,
    )
    notes = ["every node needs these directories and this Python, as on a shared file system"]
    if shards > _ARRAY_MAX:
        notes.append(
            f"many clusters take at most {_ARRAY_MAX:,} tasks in an array (scontrol show config:"
            " MaxArraySize)"
        )
    return {"nel.yaml": _yaml(with_absolute_paths(config)), **slurm_files(job)}, notes


def _for_kubernetes(
    name: str, parts: ShardConfig, shards: int, secrets: Sequence[str], target: SchedulerTarget
) -> tuple[dict[str, str], list[str]]:
    if target.image is None or target.claim is None:
        flag = "--image" if target.image is None else "--volume-claim"
        raise ConfigError(f"--to kubernetes needs --image and --volume-claim; {flag} is missing")
    if secrets and target.secret is None:
        raise ConfigError(
            f"--to kubernetes needs --secret, the Secret that holds {', '.join(secrets)}"
        )
    secret = target.secret or _NOTHING
    _with_templates_as_text(parts.config)
    paths = _local_paths(parts.config)
    for path in paths:
        if not path.startswith("/"):
            raise ConfigError(
                f"{path} is a path on this machine; give the absolute path that it has in the pods"
            )
    job = KubernetesJob(
        name=name,
        shards=shards,
        image=target.image,
        claim=target.claim,
        secret=secret,
        secrets=secrets,
        namespace=target.namespace,
        config=_yaml(
            {**parts.config, "output": {**parts.config["output"], "dir": DATA, "run_id": None}}
        ),
        limits=parts.limits,
    )
    notes = [
        f"{path} has to be in the image or on the volume, which is mounted at {DATA}"
        for path in paths
    ]
    notes.append(
        f"the claim {target.claim} has to allow ReadWriteMany where pods run on several nodes"
    )
    if secrets:
        literals = " ".join(f'--from-literal={variable}="${variable}"' for variable in secrets)
        notes.append(f"the keys: kubectl create secret generic {secret} {literals}")
    return kubernetes_files(job), notes


def _local_paths(config: dict[str, Any]) -> list[str]:
    """Return the paths that a configuration names, but for those of templates."""
    paths = [section[key] for section, key in path_settings(config)]
    names = [entry["name"] for entry in config["benchmarks"] if is_local(entry["name"])]
    files = [str(split_file(name)[0] or name) for name in names]
    return [*dict.fromkeys([*paths, *files])]


def _with_templates_as_text(config: dict[str, Any]) -> None:
    """Put the texts of prompts and of a judge's template in the place of their files."""
    with_prompts_as_text(config)
    for judge in judges_of(config):
        if judge.get("template") and is_template_file(judge["template"]):
            judge["template"] = portable_text(load_template(judge["template"], name="judge"))


def _limiter_note(config: RunConfig) -> list[str]:
    url = config.limiter.url
    if url is None:
        return []
    note = f"start the limiter before the shards; every node has to reach it at {url}"
    if urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1"):
        note += ", which is each node itself: name the address of the machine that serves it"
    return [note]


def _budget_note(config: RunConfig, shards: int) -> list[str]:
    budget = config.budget
    caps = (budget.max_cost, budget.max_tokens_total, budget.max_requests)
    if shards == 1 or not any(cap is not None for cap in caps):
        return []
    note = (
        "shards are only about equally large, so one may spend its part of the budget before it is"
        " done; raise that part with nel eval resume DIR -O budget.KEY=VALUE"
    )
    return [note]


def _name(config: RunConfig) -> str:
    benchmark = re.sub("[^a-z0-9]+", "-", Path(config.benchmarks[0].name).stem.lower()).strip("-")
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{benchmark[:_NAME_MAX] or 'run'}"


def _yaml(data: dict[str, Any]) -> str:
    return yaml.safe_dump(data, sort_keys=True, allow_unicode=True)


def _write_files(directory: Path, files: dict[str, str]) -> tuple[Path, ...]:
    try:
        directory.mkdir(parents=True, mode=0o700)
    except FileExistsError as error:
        raise OutputError(
            f"{directory} exists already; choose another --run-id, or use what is there"
        ) from error
    except OSError as error:
        raise OutputError(
            f"cannot write {directory}: {error.strerror}; choose another --output-dir"
        ) from error
    try:
        for name, text in files.items():
            write_file(directory / name, [text.encode()])
            if name.endswith(".sh"):
                (directory / name).chmod(0o700)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    return tuple(directory / name for name in files)

"""The scripts of a run on Slurm: an array with a task for each shard, and a merge after it.

A task that is started again goes on with its shard. Exit code 3, samples without a score, lets the
merge go on, which says it again; 75, an endpoint that is down, puts the task back into the queue.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import join, quote
from typing import Final

from nel.apps.cluster.shard_script import LAST_LINES, shard_lines
from nel.errors import EXIT_STOPPED_EARLY, ConfigError

RESTARTS_MAX: Final = 20
"""How often a task whose endpoint was down is put back into the queue."""
# ``--partition=NAME``, ``--exclusive``, ``-q=NAME``: one line of a script, without quotes.
_OPTION: Final = re.compile(r"--?[A-Za-z][A-Za-z-]*(=[^\s'\"]+)?")
_RESERVED: Final = frozenset(
    "--array --output --dependency --parsable --wrap --kill-on-invalid-dep -a -o -d".split()
)
"""Options that the scripts set themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmJob:
    """What the scripts are made of."""

    name: str
    directory: Path
    """Where the scripts, the configuration and the shards are; every node has it."""
    output: Path
    """The directory of the merged run."""
    shards: int
    nel: Sequence[str]
    """The command that is nel."""
    secrets: Sequence[str]
    """Names of the variables that hold keys."""
    options: Sequence[str] = ()
    """Further options of sbatch."""
    limits: Sequence[str] = ()
    """What the limits are in each shard."""


def slurm_files(job: SlurmJob) -> dict[str, str]:
    """Return the scripts by file name.

    Raises:
        ConfigError: A further option of sbatch is none, or is one that the scripts set.
    """
    for option in job.options:
        if not _OPTION.fullmatch(option):
            raise ConfigError(
                f'--sbatch "{option}" is not an option of sbatch; write --sbatch=--partition=NAME'
            )
        if option.partition("=")[0] in _RESERVED:
            raise ConfigError(f'--sbatch "{option}" is set by nel; leave it out')
    return {"shards.sbatch": _shards(job), "merge.sbatch": _merge(job), "submit.sh": _submit(job)}


def _shards(job: SlurmJob) -> str:
    stopped = f'"$code" -eq {EXIT_STOPPED_EARLY}'
    return _script(
        *_header(job, f"--job-name={job.name}", f"--array=1-{job.shards}", "--requeue"),
        *(f"# {line}" for line in ("The limits of the shards:", *job.limits)),
        "set -u",
        *_keys(job),
        f"shards={quote(str(job.directory))}",
        'run_id="shard-$SLURM_ARRAY_TASK_ID"',
        *shard_lines(
            join(job.nel), '"$shards/nel.yaml"', f'"${{SLURM_ARRAY_TASK_ID}}/{job.shards}"'
        ),
        f'if [ {stopped} ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt {RESTARTS_MAX} ]; then',
        '    scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"',
        "fi",
        *LAST_LINES,
    )


def _merge(job: SlurmJob) -> str:
    return _script(
        *_header(job, f"--job-name={job.name}-merge"),
        "set -u",
        f"exec {join(job.nel)} eval merge {quote(str(job.directory))} --output"
        f" {quote(str(job.output))}",
    )


def _submit(job: SlurmJob) -> str:
    log = str(job.directory).replace("%", "%%")  # sbatch fills in %a and the like
    return _script(
        "#!/bin/bash",
        "# Submits the shards, and the merge that waits for all of them. Run it again to go on with"
        " what has failed.",
        "set -eu",
        *_keys(job),
        f"cd {quote(str(job.directory))}",
        f"shards=$(sbatch --parsable --output={quote(log + '/slurm-%a.log')} shards.sbatch)",
        'merge=$(sbatch --parsable --dependency="afterok:${shards%%;*}"'
        " --kill-on-invalid-dep=yes \\",
        f"    --output={quote(log + '/slurm-merge.log')} merge.sbatch)",
        'echo "shards: job $shards; merge: job $merge"',
    )


def _header(job: SlurmJob, *options: str) -> list[str]:
    return ["#!/bin/bash", *(f"#SBATCH {option}" for option in (*options, *job.options))]


def _keys(job: SlurmJob) -> list[str]:
    return [f': "${{{name}:?holds a key; export it before submitting}}"' for name in job.secrets]


def _script(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)

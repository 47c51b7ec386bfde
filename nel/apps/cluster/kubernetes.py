"""The manifests of a run on Kubernetes: an Indexed Job with a pod for each shard, and a merge.

Pods are started again by the Job and go on with their shards, which are on one volume. They run as
a user without rights, with a read-only file system, and get keys from a Secret by name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, Final

import yaml

from nel.apps.cluster.shard_script import LAST_LINES, shard_lines
from nel.errors import EXIT_USAGE, ConfigError

DATA: Final = "/data"
"""Where the volume is mounted."""
_CONFIG: Final = "/etc/nel"
USER: Final = 10001
"""Of the image."""
# A label of DNS, with room for the suffix of the merge below its 63 characters.
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?")
_RETRIES: Final = 6
"""Of each pod, with a growing wait between them."""
_LOOK_SECONDS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesJob:
    """What the manifests are made of."""

    name: str
    shards: int
    image: str
    claim: str
    """The PersistentVolumeClaim that all pods mount."""
    secret: str
    """The Secret whose keys are the names of the variables."""
    secrets: Sequence[str]
    """Names of the variables that hold keys."""
    namespace: str | None
    config: str
    """The content of nel.yaml."""
    limits: Sequence[str] = ()
    """What the limits are in each shard."""


def kubernetes_files(job: KubernetesJob) -> dict[str, str]:
    """Return the manifests and the script that applies them, by file name.

    Raises:
        ConfigError: A name is not one that Kubernetes takes.
    """
    for what, name in (
        ("--run-id", job.name),
        ("--volume-claim", job.claim),
        ("--secret", job.secret),
    ):
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f'{what} "{name}" cannot name an object of Kubernetes; use up to 53 lower-case'
                ' letters, digits and "-"'
            )
    if job.namespace is not None and not _NAME.fullmatch(job.namespace):
        raise ConfigError(f'--namespace "{job.namespace}" is not a name of a namespace')
    comments = "".join(f"# {line}\n" for line in ("The limits of the shards:", *job.limits))
    return {
        "shards.yaml": comments + _documents(_config_map(job), _shards(job)),
        "merge.yaml": _documents(_merge(job)),
        "submit.sh": _submit(job),
    }


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are read."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    )


_Dumper.add_representer(str, _text)


def _documents(*documents: dict[str, Any]) -> str:
    return yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def _metadata(job: KubernetesJob, name: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "labels": {"app.kubernetes.io/name": "nel"}}
    return metadata if job.namespace is None else {**metadata, "namespace": job.namespace}


def _config_map(job: KubernetesJob) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(job, job.name),
        "data": {"nel.yaml": job.config},
    }


def _shards(job: KubernetesJob) -> dict[str, Any]:
    directory = f"{DATA}/{job.name}.shards"
    lines = (
        "set -u",
        f"shards={quote(directory)}",
        "number=$((JOB_COMPLETION_INDEX + 1))",  # the index begins at 0
        'run_id="shard-$number"',
        'mkdir -p "$shards"',
        *shard_lines("nel", f"{_CONFIG}/nel.yaml", f'"$number/{job.shards}"'),
        *LAST_LINES,
    )
    script = "".join(f"{line}\n" for line in lines)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata(job, job.name),
        "spec": {
            "completions": job.shards,
            "parallelism": job.shards,
            "completionMode": "Indexed",
            "backoffLimitPerIndex": _RETRIES,
            "podFailurePolicy": {
                "rules": [
                    # A wrong configuration or key stays wrong, however often it is tried.
                    {
                        "action": "FailIndex",
                        "onExitCodes": {"operator": "In", "values": [EXIT_USAGE]},
                    },
                    # A node that is drained or preempted says nothing of the shard.
                    {
                        "action": "Ignore",
                        "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
                    },
                ]
            },
            "template": _pod(job, script, with_config=True),
        },
    }


def _merge(job: KubernetesJob) -> dict[str, Any]:
    script = (
        f"exec nel eval merge {quote(f'{DATA}/{job.name}.shards')} --output"
        f" {quote(f'{DATA}/{job.name}')}\n"
    )
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata(job, f"{job.name}-merge"),
        "spec": {"backoffLimit": 0, "template": _pod(job, script, with_config=False)},
    }


def _pod(job: KubernetesJob, script: str, *, with_config: bool) -> dict[str, Any]:
    mounts = [
        {"name": "data", "mountPath": DATA},
        {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - of the pod
    ]
    volumes: list[dict[str, Any]] = [
        {"name": "data", "persistentVolumeClaim": {"claimName": job.claim}},
        {"name": "tmp", "emptyDir": {}},
    ]
    if with_config:
        mounts.append({"name": "config", "mountPath": _CONFIG})
        volumes.append({"name": "config", "configMap": {"name": job.name}})
    variables: list[dict[str, Any]] = [{"name": "HOME", "value": "/tmp"}]  # noqa: S108 - of the pod
    if with_config:
        variables += [
            {"name": name, "valueFrom": {"secretKeyRef": {"name": job.secret, "key": name}}}
            for name in job.secrets
        ]
    return {
        "metadata": {"labels": {"app.kubernetes.io/name": "nel"}},
        "spec": {
            "restartPolicy": "Never",  # the Job makes a new pod, and counts it
            "automountServiceAccountToken": False,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": USER,
                "runAsGroup": USER,
                "fsGroup": USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {
                    "name": "nel",
                    "image": job.image,
                    "command": ["/bin/sh", "-c", script],
                    "workingDir": DATA,
                    "env": variables,
                    "volumeMounts": mounts,
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"]},
                    },
                }
            ],
            "volumes": volumes,
        },
    }


def _submit(job: KubernetesJob) -> str:
    space = "" if job.namespace is None else f" --namespace {quote(job.namespace)}"
    kubectl = f"kubectl{space}"
    checks = "".join(
        f"{kubectl} get secret {quote(job.secret)} -o 'jsonpath={{.data.{name}}}' | grep -q ."
        f" || {{ echo 'the Secret {job.secret} has no key {name}' >&2; exit 2; }}\n"
        for name in job.secrets
    )
    return f"""\
#!/bin/bash
# Applies the shards, waits until all are complete, and merges them.
set -eu
cd "$(dirname "$0")"
{checks}conditions='{{.status.conditions[?(@.status=="True")].type}}'
await() {{
    while true; do
        state=$({kubectl} get job "$1" -o "jsonpath=$conditions")
        case "$state" in
            *Complete*) return ;;
            *Failed*) echo "job $1 has failed: {kubectl} describe job $1" >&2; exit 1 ;;
        esac
        sleep {_LOOK_SECONDS}
    done
}}
{kubectl} apply -f shards.yaml
await {job.name}
{kubectl} apply -f merge.yaml
await {job.name}-merge
"""

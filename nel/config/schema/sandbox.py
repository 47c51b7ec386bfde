"""Where programs are run, and their limits."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, NonNegativeFloat

from nel.config.schema.strict import Flag, Strict


class SandboxLimits(Strict):
    """Limits of a program; a change scores stored answers again."""

    cpu_seconds: Annotated[float, Field(gt=0, le=3600)] = 10.0
    """CPU time; on a busy machine a program waits and does not time out."""
    idle_seconds: Annotated[float, Field(gt=0, le=3600)] = 10.0
    """Time in which it neither computes nor waits for a CPU."""
    compile_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """CPU time of the compiler."""
    output_bytes: Annotated[int, Field(ge=1024, le=16 << 20)] = 1 << 20
    """Standard output and error together, and at least twice what a case expects (up to 32 MiB)."""
    file_bytes: Annotated[int, Field(ge=1024)] = 32 << 20
    """Largest file it may write."""
    processes: Annotated[int, Field(ge=1, le=4096)] = 64
    """Processes and threads that exist at the same time."""
    memory_mb: Annotated[int, Field(ge=64)] | None = None
    """Memory of its container; None: what the language needs."""


class SandboxConfig(Strict):
    """Where programs are run; only limits, images and strictness can change a verdict."""

    workers: Annotated[
        int | None,
        Field(ge=1, le=256),
        Flag("--sandbox-workers", "Size of the container pool, for benchmarks that run code."),
    ] = None
    """Size of the container pool; None: one for each CPU of the Docker engine."""
    docker_host: str | None = None
    """The Docker engine, as in ``DOCKER_HOST``, which is used when this is not set."""
    runtime: str | None = None
    """One of the engine's runtimes, such as ``runsc``."""
    images: dict[str, str] = {}
    """Other images than those of ``nel sandbox build``, by language; each needs a ``python3``."""
    allow_unlimited: Annotated[
        bool,
        Flag(
            "--allow-unlimited-sandbox", "Use an engine that cannot limit memory, processes or CPU."
        ),
    ] = False
    """Do not refuse a Docker engine that cannot limit memory, processes or CPU."""
    strict_verdicts: Annotated[
        bool,
        Flag(
            "--strict-verdicts", "Leave verdicts unscored that are not proof against the program."
        ),
    ] = False
    """Leave a verdict unscored, pass or failure, whose tests shared the program's process (mode
    ``shared``) or asked its objects whether they are equal (``equality``), which a program that
    attacks its tests can forge."""
    engine_wait_seconds: NonNegativeFloat = 30.0
    """How long the Docker engine may not answer before the run checkpoints and exits 75."""
    limits: SandboxLimits = SandboxLimits()
    """Limits of each program."""

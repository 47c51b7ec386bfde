"""`nel verify`: rebuilds every artifact from a run's store, compares them, and signs a manifest.

The store is the reference: its integrity is checked, the digest of its prompts is compared with the
run's identity, and every artifact is written again in a temporary directory and compared byte for
byte. The manifest is a list of digests that ``ssh-keygen`` signs, so that others can check a
decision later. Writes only the manifest and its signature to the run's directory.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nel.artifacts.files import AUDIT_NAME, INPUTS, READER, directory_name
from nel.artifacts.labels.file import RATINGS_SUFFIX
from nel.config.identity import Identity
from nel.core.atomic_files import write_file
from nel.core.distributions import readable_distributions
from nel.core.strict_json import loads, pretty
from nel.engine.store.lock import owner_of
from nel.engine.store.projections.intact import (
    check_whole,
    content_digest,
    copy_store,
    store_digest,
)
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import OutputError, StoreError, UsageError
from nel.reports.writers import write_reports
from nel.runs.rebuilding import rebuild, stored_reports
from nel.types import JsonObject
from nel.version import __version__

MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.json.sig"
FORMAT: Final = 1
_NAMESPACE: Final = "nel-run"
_SIGNER: Final = "nel"
_KEYGEN_SECONDS: Final = 60
_PRIVATE_KEY: Final = "-----BEGIN"
_LINKS: Final = "symbolic links, whose content no signature covers: {links}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationCheck:
    """The result of one check."""

    what: str
    passed: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of checking a run's directory."""

    checks: tuple[VerificationCheck, ...]
    manifest: dict[str, Any]
    """Digests of the store and of the artifacts as they are now, and the versions and identities of
    the run; empty where the store cannot be read."""

    @property
    def passed(self) -> bool:
        """Whether files, store and identity agree."""
        return all(check.passed for check in self.checks)


def verify_run(run_dir: Path) -> Verification:
    """Check a finished run's directory against its store.

    Raises:
        StoreError: There is no run.db that can be read.
        UsageError: A process is writing the run.
    """
    owner = owner_of(run_dir)
    if owner is not None:
        raise UsageError(
            f"{run_dir} is in use by process {owner.pid} on {owner.host}; verify it when that ends"
        )
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        checks = list(_store_checks(snapshot))
        if not all(check.passed for check in checks):
            return Verification(checks=tuple(checks), manifest={})
        checks += _identity_checks(snapshot)
        with tempfile.TemporaryDirectory(prefix="nel-verify-") as scratch:
            checks += _artifact_checks(run_dir, snapshot, Path(scratch) / run_dir.resolve().name)
        return Verification(checks=tuple(checks), manifest=_manifest(run_dir, snapshot))


def _store_checks(snapshot: Snapshot) -> Iterator[VerificationCheck]:
    try:
        check_whole(snapshot)
    except StoreError as error:
        yield _failure("store", str(error))
    else:
        yield _success("store", f"{FILE_NAME} is whole")


def _identity_checks(snapshot: Snapshot) -> Iterator[VerificationCheck]:
    for key, slot, _, plan in snapshot.benchmarks():
        if not plan:
            yield _failure(f"{slot}: identity", "the run ended before its dataset was read")
            continue
        identity = plan.get("identity") or {}
        prompts = f"{content_digest(snapshot, key):064x}"
        if prompts == identity.get("prompt.sha256"):
            yield _success(f"{slot}: prompts", f"digest {prompts[:12]}")
        else:
            yield _failure(f"{slot}: prompts", "stored samples are not those of the identity")
        if Identity(fields=identity).digest == plan["digest"]:
            yield _success(f"{slot}: identity", f"digest {plan['digest'][:12]}")
        else:
            detail = "its fields do not have the digest of the artifacts"
            yield _failure(f"{slot}: identity", detail)


def _artifact_checks(
    run_dir: Path, snapshot: Snapshot, scratch: Path
) -> Iterator[VerificationCheck]:
    """Write every artifact again from a copy of the store, and compare it."""
    scratch.mkdir()
    copy_store(snapshot, scratch / FILE_NAME)
    for _, slot, _, _ in snapshot.benchmarks():
        _copy_inputs(run_dir / directory_name(slot), scratch / directory_name(slot))
    inputs = set(_files(scratch))
    notes: list[str] = []
    rebuild(scratch, declared_in=run_dir, notes=notes)
    yield from (_failure("metrics", note) for note in notes)
    _, problems = write_reports(stored_reports(scratch), scratch)
    yield from (_failure("reports", problem) for problem in problems)
    for path in _files(scratch):
        # An input was only copied; the audit is an input too, and is written again.
        if path not in inputs or path.name == AUDIT_NAME:
            yield _same_file(str(path), run_dir / path, scratch / path)


def _copy_inputs(source: Path, target: Path) -> None:
    for name in INPUTS:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name)
        elif (source / name).is_file():
            target.mkdir(exist_ok=True)
            shutil.copyfile(source / name, target / name)


def _success(what: str, detail: str) -> VerificationCheck:
    return VerificationCheck(what=what, passed=True, detail=detail)


def _failure(what: str, detail: str) -> VerificationCheck:
    return VerificationCheck(what=what, passed=False, detail=detail)


def _same_file(name: str, here: Path, again: Path) -> VerificationCheck:
    if not here.is_file():
        return _failure(name, "is missing; nel report DIR writes it again")
    if _sha256(here) == _sha256(again):
        return _success(name, "equals what the store gives")
    detail = "differs from what the store gives"
    made_by = _made_by(here.read_text(encoding="utf-8", errors="replace"))
    if made_by not in (None, f"nel {__version__}"):
        detail += f" (it is of {made_by}, this is nel {__version__})"
    return _failure(name, detail)


def _made_by(text: str) -> str | None:
    try:
        document = loads(text)
    except ValueError:
        return None  # a page or lines, which do not say it
    return document.get("sdk") if isinstance(document, dict) else None


def _manifest(run_dir: Path, snapshot: Snapshot) -> dict[str, Any]:
    names = [path for path in _files(run_dir) if path.name not in (MANIFEST, SIGNATURE)]
    plans = {slot: plan for _, slot, _, plan in snapshot.benchmarks() if plan}
    return {
        "format": FORMAT,
        "sdk": f"nel {__version__}",
        "run_id": snapshot.meta("run_id") or run_dir.name,
        "store_sha256": store_digest(snapshot),
        "files": {str(path): _sha256(run_dir / path) for path in names},
        "benchmarks": {slot: _benchmark_json(snapshot, plan) for slot, plan in plans.items()},
        "packages": dict(sorted(_plugin_packages())),
    }


def _benchmark_json(snapshot: Snapshot, plan: JsonObject) -> dict[str, Any]:
    identity = plan["identity"]
    return {
        "identity": plan["digest"],
        "dataset_sha256": identity.get("dataset.sha256"),
        "prompt_sha256": identity.get("prompt.sha256"),
        "scorer": plan.get("scorer"),
        "model": plan.get("model"),
        "images": identity.get("sandbox.images"),
    }


def _plugin_packages() -> Iterator[tuple[str, str]]:
    """Yield name and version of each installed distribution with nel plugins, nel included."""
    for distribution in readable_distributions():
        if any(entry.group.startswith("nel.") for entry in distribution.entry_points):
            yield distribution.metadata["Name"], distribution.version


def _files(directory: Path) -> list[Path]:
    """Return the files of a run that are not a store, lock or log, as relative paths."""
    files = (
        path.relative_to(directory)
        for path in directory.rglob("*")
        if path.is_file() and not path.is_symlink()
    )
    return sorted(path for path in files if not _is_volatile(path))


def _links(directory: Path) -> list[str]:
    """Return the symbolic links in places of artifacts, to files or directories."""
    links = (path.relative_to(directory) for path in directory.rglob("*") if path.is_symlink())
    return sorted(str(path) for path in links if not _is_volatile(path))


def _is_volatile(path: Path) -> bool:
    return (
        path.name.startswith((FILE_NAME, ".", "run.log", "progress"))
        or path.name.endswith(RATINGS_SUFFIX)
        or READER in path.parts
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sign(run_dir: Path, verification: Verification, key: Path) -> Path:
    """Write the manifest and its signature by an SSH key, and return the signature's path.

    Raises:
        UsageError: The verification failed, or there are symbolic links.
        OutputError: ``ssh-keygen`` is missing or refuses the key.
    """
    if not verification.passed:
        raise UsageError(f"{run_dir} is not signed: its files do not agree with its store")
    links = _links(run_dir)
    if links:
        raise UsageError(
            f"{run_dir} is not signed: {_LINKS.format(links=', '.join(links))}; put files in their"
            " place"
        )
    # `ssh-keygen` asks before it writes over a signature, so an older one goes first.
    manifest = run_dir / MANIFEST
    write_file(manifest, [pretty(verification.manifest)])
    (run_dir / SIGNATURE).unlink(missing_ok=True)
    try:
        _keygen(
            ["-Y", "sign", "-q", "-f", str(key), "-n", _NAMESPACE, str(manifest)],
            f"sign with {key}",
        )
    except OutputError:
        manifest.unlink()
        raise
    return run_dir / SIGNATURE


def check_signature(
    run_dir: Path, verification: Verification, public_key: Path
) -> VerificationCheck:
    """Return whether the manifest is signed by a key, and agrees with the directory as it is now.

    Args:
        run_dir: The run.
        verification: Of that run.
        public_key: The signer's public key, in the form of ``id_ed25519.pub``.

    Raises:
        OutputError: The run is not signed, the key cannot be read, or ``ssh-keygen`` is missing.
    """
    try:
        manifest = (run_dir / MANIFEST).read_bytes()
        key = public_key.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"the signature cannot be checked: {error}") from error
    if key.startswith(_PRIVATE_KEY):
        raise OutputError(
            f"{public_key} is a private key; check with the public one, such as {public_key}.pub"
        )
    if len(key.splitlines()) != 1:  # ssh-keygen would accept each further line as a signer
        raise OutputError(
            f"{public_key} does not hold one public key on one line; give a file such as"
            " id_ed25519.pub"
        )
    with tempfile.TemporaryDirectory(prefix="nel-verify-") as scratch:
        allowed = Path(scratch) / "signers"
        allowed.write_text(f"{_SIGNER} {key}\n", encoding="utf-8")
        command = ["-Y", "verify", "-f", str(allowed), "-I", _SIGNER, "-n", _NAMESPACE, "-s"]
        try:
            _keygen([*command, str(run_dir / SIGNATURE)], "check the signature", stdin=manifest)
        except OutputError as error:
            return _failure("signature", str(error))
    if not verification.manifest:
        return _failure("signature", "is of this key; what it signed cannot be read any more")
    links = _links(run_dir)
    if links:
        return _failure("signature", _LINKS.format(links=", ".join(links)))
    return _compare(manifest, verification.manifest)


def _compare(content: bytes, now: JsonObject) -> VerificationCheck:
    """Return whether a signed manifest agrees with the present one."""
    try:
        signed = loads(content)
    except ValueError:
        signed = None
    if not isinstance(signed, dict) or not isinstance(signed.get("files"), dict):
        return _failure("signature", f"is of this key, and {MANIFEST} is not a manifest of a run")
    keys = ("run_id", "store_sha256", "benchmarks")
    changes = [key for key in keys if signed.get(key) != now[key]]
    before, after = signed["files"], now["files"]
    changes += [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    if changes:
        return _failure("signature", f"changed since it was signed: {', '.join(changes)}")
    return _success("signature", "is of this key, and nothing has changed since")


def _keygen(arguments: Sequence[str], what: str, stdin: bytes = b"") -> None:
    try:
        process = subprocess.run(  # noqa: S603 - no shell; the arguments are paths
            ["ssh-keygen", *arguments],  # noqa: S607 - wherever the user has it
            input=stdin,
            capture_output=True,
            timeout=_KEYGEN_SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise OutputError(
            f"cannot {what}: ssh-keygen is not installed (package openssh-client)"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise OutputError(
            f"cannot {what}: ssh-keygen waits; use a key in an agent or one without a passphrase"
        ) from error
    if process.returncode:
        lines = (process.stderr or process.stdout).decode("utf-8", "replace").strip().splitlines()
        reason = lines[-1] if lines else "ssh-keygen failed"
        raise OutputError(f"cannot {what}: {reason}")

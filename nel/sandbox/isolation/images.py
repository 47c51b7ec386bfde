"""Builds the images of the languages, each from its folder and a base of the user's choice.

Builds go through the engine's classic builder, the one that the SDK speaks; a Dockerfile may not use more.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from nel.errors import SandboxError
from nel.sandbox.isolation.engine import speaking
from nel.sandbox.isolation.languages import Language, context_files

if TYPE_CHECKING:
    import docker

_LABEL: Final = "nel.sandbox.language"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltImage:
    """An image that is there."""

    language: str
    tag: str
    id: str
    size_bytes: int
    is_current: bool
    """Whether it was built of the folder as it is now."""


def build(
    client: docker.DockerClient,
    language: Language,
    *,
    base: str | None = None,
    pull: bool = False,
    log: Callable[[str], None] = lambda _: None,
) -> BuiltImage:
    """Build the image of a language.

    Args:
        base: The image it starts from, instead of the one its Dockerfile names.
        pull: Look for a newer base in the registry.
        log: Gets each line of the build.

    Raises:
        SandboxError: The build failed (``build_failed``), or the engine does not answer.
    """
    arguments = {} if base is None else {"BASE": base}
    with speaking():
        lines = client.api.build(
            fileobj=_context(language),
            custom_context=True,
            tag=language.image,
            buildargs=arguments,
            labels={_LABEL: language.name},
            pull=pull,
            rm=True,
            forcerm=True,
            decode=True,
        )
        for line in lines:
            _read_line(line, language, base, log)
        image = client.images.get(language.image)
    return _built(image, language.image, language)


def list_images(client: docker.DockerClient, known: Mapping[str, Language]) -> list[BuiltImage]:
    """Return the images of all languages that are there, old ones included.

    Raises:
        SandboxError: The engine does not answer.
    """
    with speaking():
        images = client.images.list(filters={"label": _LABEL})
    found = []
    for image in images:
        language = known.get(image.labels.get(_LABEL, ""))
        found += [_built(image, tag, language) for tag in image.tags if tag.startswith("nel-sandbox-")]
    return sorted(found, key=lambda one: (one.language, not one.is_current))


def remove_old_images(client: docker.DockerClient, known: Mapping[str, Language]) -> list[str]:
    """Remove images of folders that have changed since; return their tags.

    Raises:
        SandboxError: The engine does not answer.
    """
    import docker.errors  # noqa: PLC0415 - keeps start-up fast

    removed = []
    for image in list_images(client, known):
        if image.is_current:
            continue
        try:
            with speaking():
                client.images.remove(image.tag)
        except SandboxError as error:
            if isinstance(error.__cause__, docker.errors.APIError):
                continue  # a container uses it
            raise
        removed.append(image.tag)
    return removed


def _built(image: Any, tag: str, language: Language | None) -> BuiltImage:
    return BuiltImage(
        language=language.name if language else str(image.labels.get(_LABEL)),
        tag=tag,
        id=str(image.short_id).removeprefix("sha256:"),
        size_bytes=int(image.attrs.get("Size") or 0),
        is_current=language is not None and tag == language.image,
    )


def _read_line(line: Mapping[str, object], language: Language, base: str | None, log: Callable[[str], None]) -> None:
    if "error" not in line:
        log(str(line.get("stream") or line.get("status") or "").rstrip())
        return
    text = str(line["error"]).strip()
    hint = ""
    if "pull access denied" in text or "dial tcp" in text or "no such host" in text.lower() or "not found" in text:
        what = "cannot be had here" if base is None else f"{base} is not there"
        hint = f"; its base image {what}: name one that is with --base IMAGE"
    raise SandboxError(f"the image for {language.title} cannot be built: {text}{hint}", kind="build_failed")


def _context(language: Language) -> io.BytesIO:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in context_files(language.folder):
            data = path.read_bytes()
            info = tarfile.TarInfo(str(path.relative_to(language.folder)))
            info.size, info.mode = len(data), 0o644
            archive.addfile(info, io.BytesIO(data))
    packed.seek(0)
    return packed

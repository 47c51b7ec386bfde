"""Builds the images of the languages, each from its folder and a base of the user's choice.

Builds go through the engine's classic builder, the one that the SDK speaks; a Dockerfile may not
use more.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from nel.errors import SandboxError
from nel.sandbox.isolation.engine import speaking
from nel.sandbox.isolation.languages import Language, context_files
from nel.sandbox.isolation.owners import LANGUAGE_LABEL

if TYPE_CHECKING:
    import docker


def build(
    client: docker.DockerClient,
    language: Language,
    *,
    base: str | None = None,
    packages: str = "",
    pull: bool = False,
    network: str | None = None,
    log: Callable[[str], None] = lambda _: None,
) -> int:
    """Build the image of a language; return its size in bytes.

    Args:
        base: The image it starts from, instead of the one its Dockerfile names.
        packages: Packages for Python programs beside the standard library, by their names.
        pull: Look for a newer base in the registry.
        network: The network that packages come over, instead of the engine's own.
        log: Gets each line of the build.

    Raises:
        SandboxError: The build failed (``build_failed``), or the engine does not answer.
    """
    options = {"BASE": base, "PACKAGES": packages}
    arguments = {name: value for name, value in options.items() if value}
    with speaking():
        lines = client.api.build(
            fileobj=_context(language),
            custom_context=True,
            tag=language.image,
            buildargs=arguments,
            labels={LANGUAGE_LABEL: language.name},
            pull=pull,
            network_mode=network,
            rm=True,
            forcerm=True,
            decode=True,
        )
        for line in lines:
            _read_line(line, language, base, log)
    return sizes(client)[language.image]


def sizes(client: docker.DockerClient) -> dict[str, int]:
    """Return the images of all languages that are there, old ones included: bytes by tag.

    Raises:
        SandboxError: The engine does not answer.
    """
    with speaking():
        images = client.images.list(filters={"label": LANGUAGE_LABEL})
    return {tag: int(image.attrs.get("Size") or 0) for image in images for tag in image.tags}


def _read_line(
    line: Mapping[str, object], language: Language, base: str | None, log: Callable[[str], None]
) -> None:
    if "error" not in line:
        log(str(line.get("stream") or line.get("status") or "").rstrip())
        return
    text = str(line["error"]).strip()
    hint = ""
    if (
        "pull access denied" in text
        or "dial tcp" in text
        or "no such host" in text.lower()
        or "not found" in text
    ):
        what = "cannot be had here" if base is None else f"{base} is not there"
        hint = f"; its base image {what}: name one that is with --base IMAGE"
    raise SandboxError(
        f"the image for {language.title} cannot be built: {text}{hint}", kind="build_failed"
    )


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

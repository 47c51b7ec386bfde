"""Checks the wheel and the sdist in dist/ before a release: one of each, of this version, with what
an installed nel reads and with nothing that is not of the project.
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NEEDED = (
    "nel/__init__.py",
    "nel/py.typed",
    "nel/docs/index.md",
    "nel/environments/helper/LICENSE.musl",
    "nel/environments/helper/helper-amd64",
    "nel/environments/helper/helper-arm64",
    "nel/plugin_template/pyproject.toml",
    "nel/sandbox/images/python/Dockerfile",
    "nel/reports/templates/report.html.j2",
)
"""Of the wheel."""
FOREIGN = ("tests/", ".venv", "__pycache__", ".git/", "eval_results/", "shared/")


def problems(version: str, folder: Path) -> list[str]:
    """Return what is wrong with the distributions of a folder."""
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if [path.name for path in sdists] != [f"nel_eval-{version}.tar.gz"] or len(wheels) != 1:
        return [f"{folder} holds {[path.name for path in (*wheels, *sdists)]}"]
    with zipfile.ZipFile(wheels[0]) as archive:
        names = archive.namelist()
        metadata = archive.read(f"nel_eval-{version}.dist-info/METADATA").decode()
    with tarfile.open(sdists[0]) as archive:
        sources = [name.partition("/")[2] for name in archive.getnames()]
    wrong = [f"the wheel lacks {name}" for name in NEEDED if name not in names]
    wrong += [f"the sdist lacks {name}" for name in ("LICENSE", "README.md") if name not in sources]
    wrong += [
        f"{name} does not belong there"
        for name in (*names, *sources)
        if any(part in f"{name}/" for part in FOREIGN)
        and "docs/examples/tasks/" not in name
        and not name.startswith("nel/plugin_template")
        and not name.startswith("plugins/nel-example")
    ]
    fields = [line for line in metadata.splitlines() if line.startswith(("License", "Description"))]
    return wrong + ([] if fields else ["the metadata has neither licence nor description"])


def main() -> None:
    """Print what is wrong; exit 1 where anything is."""
    namespace: dict[str, object] = {}
    exec((ROOT / "nel/version.py").read_text(encoding="utf-8"), namespace)  # noqa: S102 - our own file
    found = problems(str(namespace["__version__"]), ROOT / "dist")
    print("\n".join(found) or "wheel and sdist hold what they should")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()

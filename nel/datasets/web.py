"""Opens a file of rows on a web server, ``https://HOST/path/rows.jsonl``, such as one's own mirror.

The file is downloaded when the dataset is opened and kept below the user's cache by its content, so
that all readings of a run are of the same bytes.
"""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
from dataclasses import replace
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from nel.core.paths import cache_directory
from nel.datasets.base import Dataset
from nel.datasets.download import FILE_BYTES_MAX, open_url, read_content
from nel.datasets.files import source_at
from nel.datasets.formats import dataset_of, suffix_of
from nel.datasets.kept_files import keep
from nel.errors import DatasetError


def open_web(uri: str, _base_dir: Path | None) -> Dataset:
    """Download a file of rows and open it.

    Raises:
        DatasetError: The URL holds what may be a key, or the file cannot be had.
    """
    parts = urlsplit(uri)
    if parts.query or parts.username or parts.password:
        bare = f"{parts.scheme}://{parts.hostname}{parts.path}"
        raise DatasetError(
            f"{bare}: a user, a password or a query in a URL may be a secret, which a run would"
            " store; download the file and give its path: --dataset PATH"
        )
    name = PurePosixPath(unquote(parts.path)).name
    suffix_of(f"{uri}: {name}")
    content = _download(uri)
    digest = hashlib.sha256(content).hexdigest()
    path = cache_directory() / "web" / digest / name
    if not path.is_file():
        keep(path, content, uri=uri, variable="XDG_CACHE_HOME")
    source = replace(source_at(path, uri), stamp=digest)
    return dataset_of(source, uri=uri, revision=f"sha256:{digest}")


def _download(uri: str) -> bytes:
    try:
        with open_url(uri) as answer:
            content = read_content(answer)
    except urllib.error.HTTPError as error:
        error.close()
        raise DatasetError(
            f"{uri}: the server answers HTTP {error.code}; check the address, or give a local copy:"
            " --dataset PATH"
        ) from error
    except (OSError, http.client.HTTPException) as error:
        raise DatasetError(
            f"{uri}: the server cannot be reached, or did not answer in time; give a local copy:"
            " --dataset PATH"
        ) from error
    if content is None:
        raise DatasetError(f"{uri}: it has more than {FILE_BYTES_MAX >> 30} GiB")
    return content

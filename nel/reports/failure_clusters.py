"""What the pages say of failures that look alike: the clusters of failure_analysis.json, each with
links to its examples. Does no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nel.reports.text import one_line

_SIGNATURE_CHARACTERS: Final = 200


def cluster_rows(failures: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the clusters of a failure_analysis.json, the largest first; texts are on one line."""
    return [
        {
            **cluster,
            "kind": one_line(cluster["kind"]),
            "signature": one_line(cluster["signature"])[:_SIGNATURE_CHARACTERS],
        }
        for cluster in failures.get("clusters") or ()
    ]

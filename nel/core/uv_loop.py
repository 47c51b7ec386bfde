"""uvloop's event loop, which closes what a run leaves open. Import it only where uvloop is
installed.
"""

from __future__ import annotations

import warnings

import uvloop


class UvLoop(uvloop.Loop):
    """Closes every connection when it closes, those with unsent bytes too.

    A transport that is told to close stays open until all that was written to it is sent. uvloop's
    `close` ends it with a ResourceWarning; where warnings are errors, the warning is raised before
    the connection is closed, and the loop hangs or fails with EBUSY.
    """

    def close(self) -> None:
        """Close the connections and the loop, without a word about those that were still
        sending.
        """
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "unclosed resource", ResourceWarning)
            super().close()

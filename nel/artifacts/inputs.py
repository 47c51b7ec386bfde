"""Names in a benchmark's directory of what its artifacts are made of beside run.db, and of what is
written where there is such a file.
"""

from __future__ import annotations

from typing import Final

LABELS_NAME: Final = "labels.jsonl"
CALIBRATION_NAME: Final = "calibration.json"
BORROWED_NAME: Final = "calibration_from.json"
AUDIT_NAME: Final = "extraction_audit.json"
READER: Final = "reader"
INPUTS: Final = (LABELS_NAME, AUDIT_NAME, READER)

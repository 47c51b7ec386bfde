"""What artifacts of a benchmark are made of beside run.db, by name in the benchmark's directory."""

from __future__ import annotations

from typing import Final

from nel.artifacts.calibration import LABELS_NAME
from nel.artifacts.extraction import AUDIT_NAME
from nel.artifacts.model_readings import DIRECTORY as READER

INPUTS: Final = (LABELS_NAME, AUDIT_NAME, READER)

"""Opens dataset sources as streams of rows, finds columns in rows, and names samples.

Responsible for reading. A reader reports all bad rows at its end, so nothing may be counted as read
before the iterator has finished.
"""

from nel.datasets.base import Dataset, RawRow
from nel.datasets.fields import lookup, map_fields
from nel.datasets.ids import content_id, occurrence_id, own_id
from nel.datasets.source import open_dataset

__all__ = [
    "Dataset",
    "RawRow",
    "content_id",
    "lookup",
    "map_fields",
    "occurrence_id",
    "open_dataset",
    "own_id",
]

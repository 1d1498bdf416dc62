"""Exact-match tables for network dataplanes, in batches on numpy arrays.

Keys and values are arrays that stay where they are: nothing is copied in silence, and an array
that would have to be is refused with a ValueError that says what to do. See Table, and Map for
values whose readers need no keys.
"""

from ._roost import Map, MapImage, MapOutcome, Outcome, Scan, Table, __version__, hit_words

__all__ = ["Map", "MapImage", "MapOutcome", "Outcome", "Scan", "Table", "__version__", "hit_words"]

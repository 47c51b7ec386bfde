"""One call for a whole run: evaluation, matrix, merging, verification, reproduction."""

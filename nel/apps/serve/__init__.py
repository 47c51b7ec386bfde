"""A benchmark over HTTP for training loops: `nel serve` hands out samples and scores answers."""

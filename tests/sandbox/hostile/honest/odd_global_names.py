# what: leaves odd keys among its global names
# problem: double
# verdict: passed
globals()[7] = "a number as a name"
globals()["\ud800"] = "a lone surrogate as a name"
globals()["long" * 100_000] = "a long name"
globals()[""] = None


def double(x):
    return 2 * x

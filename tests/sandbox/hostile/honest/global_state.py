# what: keeps what it has computed between calls
# problem: double
# verdict: passed
known = {}
calls = 0


def double(x):
    global calls
    calls += 1
    if calls == 1:
        assert not known
    else:
        assert len(known) == calls - 1
    known[x] = 2 * x
    return known[x]

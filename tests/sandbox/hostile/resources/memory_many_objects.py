# what: keeps small objects for ever
# problem: double
# verdict: out_of_memory
kept = []


def double(x):
    while True:
        kept.append(bytes(100_000))

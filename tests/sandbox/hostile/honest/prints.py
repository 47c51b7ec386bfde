# what: prints when loaded and when called, on both streams, below the limit
# problem: double
# verdict: passed
import sys

print("loading…", "ßñ日\U0001f600")
print("x" * 100_000)


def double(x):
    print("doubling", x % 1000, file=sys.stderr)
    sys.stdout.write("done\n")
    return 2 * x

# what: ten thousand functions before the one that counts
# problem: double
# verdict: passed
# build: yes
SOURCE = "".join(f"def f{place}(x):\n    return x + {place}\n" for place in range(10_000)) + "def double(x):\n    return 2 * x\n"

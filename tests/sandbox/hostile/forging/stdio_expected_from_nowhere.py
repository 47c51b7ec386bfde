# what: prints every sum it can think of
# mode: outside
# problem: echo
# verdict: wrong
for number in range(-10_000, 10_000):
    print(number)

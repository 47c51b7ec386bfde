# what: is wrong and prints every marker of success known from other harnesses
# mode: shared
# problem: listy
# verdict: wrong
print("passed", "TEST_PASSED", "OK", "All tests passed", "0 failed", sep="\n")


def evens(xs):
    return xs

# what: returns a defaultdict whose factory is a lambda
# problem: counts
# verdict: passed
from collections import defaultdict


def letters(text):
    found = defaultdict(lambda: 0)
    for letter in text:
        found[letter] += 1
    return found

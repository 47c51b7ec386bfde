# what: the plain answer
# problem: counts
# verdict: passed
def letters(text):
    found = {}
    for letter in text:
        found[letter] = found.get(letter, 0) + 1
    return found

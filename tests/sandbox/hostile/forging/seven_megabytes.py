# what: returns a string just below the limit of an answer
# problem: strings
# verdict: wrong|runtime_error
def mirror(text):
    return "a" * 7_000_000

# what: returns a string beyond the limit of an answer
# problem: strings
# verdict: wrong|runtime_error|output_limit
def mirror(text):
    return "ß" * 10_000_000

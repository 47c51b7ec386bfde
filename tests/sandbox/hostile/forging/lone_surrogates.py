# what: returns a string that cannot be written as UTF-8
# problem: strings
# verdict: wrong|runtime_error
def mirror(text):
    return "\ud800" + text + "\udfff"

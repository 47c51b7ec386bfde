# what: calls the builtin quit while it is loaded
# problem: strings
# verdict: runtime_error
quit()

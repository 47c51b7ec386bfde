# what: nothing under the name of the function
# problem: double
# verdict: runtime_error|wrong
double = None

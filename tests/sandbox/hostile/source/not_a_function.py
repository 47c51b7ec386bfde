# what: a number under the name of the function
# problem: double
# verdict: runtime_error|wrong
double = 4

# what: a program with a fence at its end that extraction left there
# problem: double
# verdict: syntax_error
# build: yes
SOURCE = "def double(x):\n    return 2 * x\n```\n"

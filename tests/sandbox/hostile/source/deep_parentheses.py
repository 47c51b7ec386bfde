# what: a hundred thousand parentheses
# problem: double
# verdict: syntax_error
# build: yes
SOURCE = "x = " + "(" * 100_000 + ")" * 100_000 + "\n"

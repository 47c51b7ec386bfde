# what: a hundred thousand parentheses
# verdict: syntax_error
# build: yes
SOURCE = "x = " + "(" * 100_000 + ")" * 100_000 + "\n"

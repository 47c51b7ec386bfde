# what: blocks nested deeper than the language allows
# problem: double
# verdict: syntax_error
# build: yes
SOURCE = "".join(" " * place + "if 1:\n" for place in range(120)) + " " * 120 + "pass\n"

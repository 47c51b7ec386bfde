# what: a right program in another language
# problem: double
# verdict: syntax_error
# build: yes
SOURCE = "function double(x) {\n  return 2 * x;\n}\n"

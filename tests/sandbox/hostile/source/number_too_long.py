# what: a number of five thousand digits written out
# problem: double
# verdict: syntax_error
# build: yes
SOURCE = "number = " + "9" * 5000 + "\n\n\ndef double(x):\n    return 2 * x\n"

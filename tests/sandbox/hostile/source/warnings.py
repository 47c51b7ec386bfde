# what: code that the compiler warns of
# problem: double
# verdict: passed
# build: yes
SOURCE = "pattern = '\\d\\w\\ '\n\n\ndef double(x):\n    assert (x is not 1.5, 'always true')\n    return 2 * x\n"

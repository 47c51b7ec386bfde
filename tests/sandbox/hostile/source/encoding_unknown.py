# what: declares an encoding that does not exist
# problem: double
# verdict: passed|syntax_error
# build: yes
SOURCE = "# coding: klingon\ndef double(x):\n    return 2 * x\n"

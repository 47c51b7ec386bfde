# what: declares an encoding that it does not have
# problem: double
# verdict: passed
# build: yes
SOURCE = "# -*- coding: latin-1 -*-\ndef double(x):\n    return 2 * x if len('ß日') == 2 else len('ß日')\n"

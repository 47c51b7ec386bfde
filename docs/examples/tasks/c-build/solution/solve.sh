#!/bin/bash
cd /app
sed -i 's/int sum(int n, char \*numbers\[\])/long sum(int n, char **numbers)/; s/int total$/long total = 0;/' sum.c
sed -i 's/"%d\\n"/"%ld\\n"/' main.c
gcc -Wall -o sum main.c sum.c

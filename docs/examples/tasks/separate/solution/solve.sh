#!/bin/bash
python3 -c '
for n in range(2, 200):
    if all(n % d for d in range(2, n)):
        print(n)
' > /app/out/primes.txt

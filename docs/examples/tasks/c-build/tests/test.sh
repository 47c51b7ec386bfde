#!/bin/bash
if [ "$(/app/sum 1 2 3)" = 6 ] && [ "$(/app/sum)" = 0 ] && [ "$(/app/sum 3000000000 -1)" = 2999999999 ]; then
    echo 1
else
    echo 0
fi > /logs/verifier/reward.txt

#!/bin/bash
# The tests write the reward: 1 or 0.
if [ "$(cat /data/worst.txt)" = "$(printf '/pay\n/cart\n/search')" ]; then
    echo 1 > /logs/verifier/reward.txt
else
    echo 0 > /logs/verifier/reward.txt
fi

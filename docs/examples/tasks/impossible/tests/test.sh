#!/bin/bash
case "$(sha256sum < /app/text.txt)" in
    0000000000000000000000000000000000000000*) echo 1 ;;
    *) echo 0 ;;
esac > /logs/verifier/reward.txt

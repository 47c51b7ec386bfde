#!/bin/bash
if cmp -s /app/server.conf /tests/expected.conf; then echo 1; else echo 0; fi > /logs/verifier/reward.txt

#!/bin/sh
# An external tool for neutra as a shell script: looks for the learning rate in train.py, prints its answer.
set -eu

rate=$(sed -n 's/.*learning_rate=\([-+.0-9e]*\).*/\1/p' train.py)
if awk "BEGIN { exit !($rate > 0.5 || $rate < 0.00001) }"; then
  faults=HLR
else
  faults=-
fi
printf '{"format": "neutra-answer", "version": 1, "faults": "%s"}\n' "$faults"

#!/bin/sh
# The live test as a stage of ./dev test: see run.py.
set -eu
exec /usr/bin/python3 "$(dirname -- "$0")/run.py" "$@"

#!/bin/sh
# The replay test as a stage of ./dev test: see run.py.
set -eu
exec /usr/bin/python3 "$(dirname -- "$0")/run.py" "$@"

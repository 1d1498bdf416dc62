#!/bin/sh
# Usage: lint.sh VERILATOR SOURCES...: the circuit in each of its forms, without a warning.
set -eu
verilator=$1
shift
for key_bytes in 8 16 24 32 40 64; do
  for ours in 0 1; do
    "$verilator" --lint-only -Wall "-GKEY_BYTES=$key_bytes" "-GFILTER=1'b$ours" \
      "-GCOMMAND_KEY=1'b$ours" --top-module halo_accelerator "$@"
  done
done
# Alone they use few of the package's numbers.
for top in halo_keyed_hash halo_bucket_scale; do
  "$verilator" --lint-only -Wall -Wno-UNUSEDPARAM --top-module "$top" "$@"
done

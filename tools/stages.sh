# shellcheck shell=sh
# ./dev test: the stages of a test run. Sourced by ./dev.
#
# Every stage runs, whatever the ones before it gave; its output goes to the terminal and to
# build/logs/stage-<name>.log. At the end: what could not be tested on this machine (the lines that
# tests begin with "NOT TESTED:"), a line a stage (verdict, seconds, its budget), what is left to
# `./dev test --all`, and the count. A stage that runs ctest counts ctest's tests; any other stage
# counts as one.

# What a change must pass, each with its budget: seconds on a bare machine of two cores, without
# packages or a compiler cache. A stage over its budget passes; whoever made it so gives time back.
stages='setup:120 check:20 docs:10 release:540 v2:40 nodpdk:90 aarch64:90 asan:535 tsan:200
  fuzz:310 model:40 install:60 package:140 python:70 live:420 scenario:90 readme:20 tidy:120'

# Runs beside the stages from `install` on, which leave a processor idle much of the time; its own
# time is what is left of it when they are over.
stage_beside=tidy
stage_beside_from=install

# What `./dev test --all` has beside them. No budgets: this takes hours.
stages_all='alone:0 v2_whole:0 nodpdk_whole:0 aarch64_whole:0 asan_whole:0 package_whole:0
  tidy_whole:0 proofs:0 simulator:0 attacks:0 switch_scenario:0 churn:0 histories:0 mutants:0'

# What people at work run after a build.
stages_quick='check:20 quick:130'

stage_setup() { setup lab; }

stage_check() {
  check format
  check lint
}
# The tests' own sources, as many again, are left to `./dev test --all`.
stage_tidy() { check tidy --without tests; }
stage_tidy_whole() { check tidy; }

# Every interleaving of a small shared table, as it is and with each fault put back.
stage_model() { /usr/bin/python3 tests/model/run.py; }

# The documentation; a parameter, field or function of the C interface that is not told of fails it.
stage_docs() {
  mkdir -p build/docs/c build/docs/cxx
  doxygen docs/doxygen/c.doxyfile
  doxygen docs/doxygen/cxx.doxyfile
  say 'reference: build/docs/c/html/index.html and build/docs/cxx/html/index.html'
}

# Everything, as users build it, and the lab's own tests: that it measures what it says, on small
# tables and without a ratio.
stage_release() {
  configure release -DROOST_TESTS=ON -DROOST_LAB=ON
  compile release all roost_headers
  run_ctest release
}

# The tests of the release build, without what takes long: the lab.
stage_quick() {
  configure release -DROOST_TESTS=ON
  compile release roost_tests
  run_ctest release -LE lab
}

# Each source and each header alone, unoptimised, and the tests of the variants that only papers
# compare.
stage_alone() {
  configure debug -DROOST_TESTS=ON
  compile debug all all_verify_interface_header_sets
  run_ctest debug
}

# Programs of the release build on an emulated processor that has x86-64-v2 and nothing beyond: one
# instruction more ends a test. What depends on the instruction set, or all.
stage_v2() { run_v2 -L isa; }
stage_v2_whole() { run_v2; }

run_v2() {
  configure release -DROOST_TESTS=ON
  compile release roost_tests
  emulated='on x86-64-v2 under qemu: '
  run_ctest release -C v2 -L v2 "$@"
  printf 'NOT TESTED: %swhat starts programs or needs more memory than qemu has: %s\n' \
    "$emulated" "$(tests_without_twin release v2)"
}

# The tests of a preset that have no twin for a configuration: NAME has NAME_on_CONFIGURATION.
tests_without_twin() {
  ctest --test-dir "build/$1" -C "$2" -N | sed -n 's/^ *Test *#[0-9]*: //p' |
    awk -v twin="_on_$2\$" '
      sub(twin, "") { has_twin[$0] = 1; next }
      { names[++count] = $0 }
      END { for (i = 1; i <= count; ++i) if (!(names[i] in has_twin)) printf "%s ", names[i] }'
}

# 64-bit Arm: cross-compiled, on an emulated processor. What depends on the instruction set, or all.
stage_aarch64() {
  configure aarch64
  compile aarch64 roost_isa_tests
  run_aarch64 -L isa
}
stage_aarch64_whole() {
  configure aarch64
  compile aarch64
  run_aarch64
}

run_aarch64() {
  emulated='on aarch64 under qemu: '
  run_ctest aarch64 "$@"
  printf 'NOT TESTED: %s%s\n' "$emulated" \
    'what needs DPDK or libpcap, which the cross compiler has not: ports, the program, captures'
  printf 'NOT TESTED: the speed of the NEON kernel, without an Arm processor\n'
}

# The other compiler as users of the library have it, optimised and without DPDK: the library, and
# the tests of what depends on the instruction set, or all. Functions without DPDK the fuzz targets
# have, by the same compiler.
stage_nodpdk() {
  configure nodpdk
  compile nodpdk roost_shared roost_isa_tests
  run_ctest nodpdk -L isa
}
stage_nodpdk_whole() {
  configure nodpdk
  compile nodpdk
  run_ctest nodpdk
}

stage_asan() {
  configure asan -DROOST_VARIANT_TESTS=OFF
  compile asan roost_sanitizer_tests
  run_ctest asan -LE "conformance|simulated"
}
# And what that leaves out: conformance, whole simulations, the variants that only papers compare.
stage_asan_whole() {
  configure asan -DROOST_VARIANT_TESTS=ON
  compile asan roost_tests
  run_ctest asan
}

# Only the tests with threads, the lab's too. DPDK's libraries are not instrumented: what passes
# through them is said to the sanitizer where it enters and leaves (roost/io/buffer.h).
stage_tsan() {
  configure tsan -DROOST_LAB=ON
  compile tsan roost_thread_tests lab_common_records_test
  run_ctest tsan -L threads
}

# Every fuzz target for a fixed number of runs on fixed seeds.
stage_fuzz() {
  configure fuzz
  compile fuzz
  run_ctest fuzz
}

# The installed package, as its users have it.
stage_install() {
  configure release -DROOST_TESTS=ON
  compile release roost_shared roost_static
  /usr/bin/python3 tests/install/run.py
}

# The Debian packages: built, installed, the service run as its unit says, purged; compiled as the
# release build is, or with Debian's hardening, as they are shipped.
stage_package() { /usr/bin/python3 tests/package/run.py; }
stage_package_whole() { ROOST_PACKAGE_HARDENED=1 /usr/bin/python3 tests/package/run.py; }

# The Python module, installed by pip.
stage_python() { /usr/bin/python3 bindings/python/tests/run.py; }

# Real curl and dig through the balancer, in network namespaces; rules and packets beside Open
# vSwitch.
stage_live() {
  configure release
  compile release roost
  /usr/bin/python3 tests/live/run.py
  /usr/bin/python3 tests/ovs/run.py --sets 2
}

# Every flood, of which `live` has the heaviest.
stage_attacks() {
  configure release
  compile release roost
  /usr/bin/python3 tests/live/run.py --attacks
}

# The accelerator's properties with one place more, and that each fails on the bug that it is about.
stage_proofs() {
  /usr/bin/python3 tests/rtl/proofs_test.py 3
  /usr/bin/python3 tests/rtl/proofs_test.py --bugs
}

# The simulator's answers in each format, its caches beside a model, and the accelerator's circuit
# beside its own, over ten times as much as in `release` and more; the sizes of the whole circuit.
stage_simulator() {
  configure release -DROOST_TESTS=ON
  compile release sim_answers_test sim_cache_replay rtl_cosimulation_test rtl_key_sizes_test
  ROOST_SIM_LOOKUPS=10000000 build/release/tests/sim/sim_answers_test
  ROOST_SIM_ACCESSES=1000000 /usr/bin/python3 tests/sim/cache_model_test.py \
    build/release/tests/sim/sim_cache_replay
  for part in cosimulation key_sizes; do
    ROOST_RTL_QUERIES=1000000 "build/release/tests/rtl/rtl_${part}_test"
  done
  /usr/bin/python3 tests/rtl/sizes_test.py --whole
}

# That a table keeps its promise, over a thousand million replacements.
stage_churn() {
  configure release -DROOST_TESTS=ON
  compile release table_churn_test
  ROOST_CHURN_REPLACEMENTS=1000000000 build/release/tests/table/table_churn_test \
    --gtest_filter='LongChurn.*'
}

# That histories of a shared table have an order, over ten times as many operations.
stage_histories() {
  configure release -DROOST_TESTS=ON
  compile release concurrent_history_test
  ROOST_HISTORY_OPERATIONS=100000000 build/release/tests/concurrent/concurrent_history_test
}

# Thousands of downloads while a backend is drained, another killed and the configuration reloaded.
stage_scenario() { scenario; }

# The same for the switch: a cable between two ports for half a minute, among others.
stage_switch_scenario() { scenario switch; }

# What the README tells a newcomer to type.
stage_readme() { CMAKE_CXX_COMPILER_LAUNCHER=ccache /usr/bin/python3 tools/tidy.py --run-readme; }

# One of twelve slices of the mutants; the next commit has the next one.
stage_mutants() { check_mutants --slice "$(($(git rev-list --count HEAD) % 12 + 1))/12"; }

# The sanitizers cannot place their shadow memory under the randomisation of some kernels, so the
# tests run without randomisation where that is allowed.
#
# run_ctest PRESET [CTEST ARGUMENTS]. The output of passed tests is only in ctest's own log, which
# its next run overwrites; so what could not be tested is said at once.
run_ctest() {
  folder=build/$1
  shift
  set -- ctest --test-dir "$folder" -j "$jobs" --output-on-failure --no-tests=error "$@"
  if setarch -R true 2>/dev/null; then set -- setarch -R "$@"; fi
  ctest_status=0
  "$@" || ctest_status=$?
  sed -n "s/.*NOT TESTED: /NOT TESTED: ${emulated:-}/p" "$folder/Testing/Temporary/LastTest.log" |
    sort -u
  return "$ctest_status"
}

# perform_stage NAME [NICE...]: in a process of its own, so that its first failing command ends it.
# Its output goes to its log too, its exit status beside that.
perform_stage() {
  log=$(log_file "stage-$1")
  name=$1
  shift
  {
    status=0
    "$@" "$root/dev" stage "$name" 2>&1 || status=$?
    printf '%s\n' "$status" >"$log.status"
  } | tee "$log"
}

# run_stage NAME BUDGET
run_stage() {
  say "stage $1"
  start=$(date +%s)
  if [ "$1" = "$stage_beside_from" ]; then
    perform_stage "$stage_beside" nice -n 19 >/dev/null &
    beside=$!
  fi
  if [ "$1" = "$stage_beside" ] && [ -n "$beside" ]; then
    wait "$beside"
    cat "$(log_file "stage-$1")"
  else
    perform_stage "$1"
  fi
  seconds=$(($(date +%s) - start))
  log=$(log_file "stage-$1")
  if [ "$(cat "$log.status")" -eq 0 ]; then verdict=passed; else verdict=FAILED; fi
  count_stage "$1" "$log"
  printf '   %-13s %-7s %5d s  of %4s s%s   %s passed, %s failed\n' \
    "$1" "$verdict" "$seconds" "$2" "$(over_budget "$seconds" "$2")" \
    "$stage_passed" "$stage_failed" | tee -a "$summary"
}

# ctest ends with "97% tests passed, 1 tests failed out of 33". A stage that failed before that
# counts as one failure, and so does one whose tests passed and which failed all the same.
count_stage() {
  tests=$(sed -n 's/^[0-9]*% tests passed, \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' \
    "$2" | tail -n 1)
  stage_failed=${tests%% *}
  stage_failed=${stage_failed:-0}
  stage_passed=$((${tests##* } - stage_failed))
  if [ -z "$tests" ] && [ "$verdict" = passed ]; then stage_passed=1; fi
  if [ "$stage_failed" -eq 0 ] && [ "$verdict" = FAILED ]; then stage_failed=1; fi
  passed_count=$((passed_count + stage_passed))
  failed_count=$((failed_count + stage_failed))
}

not_tested_lines() {
  find build -path '*/logs/stage-*.log' -newer "$summary.start" \
    -exec grep -hoE 'NOT TESTED: .*' {} + | sort -u
}

over_budget() {
  if [ "$2" -gt 0 ] && [ "$1" -gt "$2" ]; then printf ' OVER'; fi
}

# The names, or the sum of the budgets, in a list of stages.
names_of() { for entry in "$@"; do printf '%s ' "${entry%:*}"; done; }
budget_of() {
  sum=0
  for entry in "$@"; do sum=$((sum + ${entry#*:})); done
  printf '%s' "$sum"
}

# run_test_stages [--all|--quick]
run_test_stages() {
  case ${1:-} in
    '') chosen=$stages ;;
    --all) chosen="$stages $stages_all" ;;
    --quick) chosen=$stages_quick ;;
    *) fail "test: no option '$1'; there are --all and --quick" ;;
  esac
  summary=$(log_file summary)
  passed_count=0
  failed_count=0
  beside=''
  : >"$summary"
  : >"$summary.start"
  test_start=$(date +%s)
  for entry in $chosen; do
    run_stage "${entry%:*}" "${entry#*:}"
    if [ "${entry%:*}-$verdict" = setup-FAILED ]; then fail 'nothing can be tested without them'; fi
  done
  not_tested_lines || true
  say 'stages, with their budgets on a bare machine of two cores'
  cat "$summary"
  # shellcheck disable=SC2086  # the lists are split into words on purpose
  printf '   %-13s %13d s  of %4s s\n' all $(($(date +%s) - test_start)) "$(budget_of $chosen)"
  # shellcheck disable=SC2086
  [ "${1:-}" = --all ] || printf 'left to ./dev test --all: %s\n' "$(names_of $stages_all)"
  printf '%s passed, %s failed\n' "$passed_count" "$failed_count"
  [ "$failed_count" -eq 0 ]
}

# shellcheck shell=sh
# ./dev test: the stages of a test run. Sourced by ./dev.
#
# Every stage runs, whatever the ones before it gave; its output goes to the terminal and to
# build/logs/stage-<name>.log. At the end: a line a stage (verdict, seconds), what could not be
# tested on this machine (the lines that tests begin with "NOT TESTED:"), and the count. A stage
# that runs ctest counts ctest's tests; any other stage counts as one.

stages='check docs release v2 nodpdk aarch64 asan tsan fuzz lab install package python live scenario
  readme'

stage_check() { check all; }

# The documentation; a parameter, field or function of the C interface that is not told of fails it.
stage_docs() {
  mkdir -p build/docs/c build/docs/cxx
  doxygen docs/doxygen/c.doxyfile
  doxygen docs/doxygen/cxx.doxyfile
  say 'reference: build/docs/c/html/index.html and build/docs/cxx/html/index.html'
}

# Everything, as users build it, and every header alone.
stage_release() {
  configure release -DROOST_TESTS=ON
  compile release all all_verify_interface_header_sets
  run_ctest release
}

# The same programs on an emulated processor that has x86-64-v2 and nothing beyond: one instruction
# more ends a test.
stage_v2() {
  configure release -DROOST_TESTS=ON
  compile release roost_tests
  emulated='on x86-64-v2 under qemu: '
  run_ctest release -C v2 -L v2
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

# 64-bit Arm: cross-compiled, on an emulated processor.
stage_aarch64() {
  configure aarch64
  compile aarch64
  emulated='on aarch64 under qemu: '
  run_ctest aarch64
  printf 'NOT TESTED: %s%s\n' "$emulated" \
    'what needs DPDK or libpcap, which the cross compiler has not: ports, the program, captures'
  printf 'NOT TESTED: the speed of the NEON kernel, for want of an Arm processor\n'
}

# The other compiler, and no DPDK.
stage_nodpdk() {
  configure nodpdk
  compile nodpdk
  run_ctest nodpdk
}

# Only the tests, with the variants of probing.
stage_asan() {
  configure asan
  compile asan roost_tests
  run_ctest asan
}

# Only the tests with threads. DPDK's libraries are not instrumented: what passes through them is
# said to the sanitizer where it enters and leaves (roost/io/buffer.h).
stage_tsan() {
  configure tsan
  compile tsan roost_thread_tests
  run_ctest tsan -L threads
}

# Every fuzz target for a fixed number of runs on fixed seeds.
stage_fuzz() {
  configure fuzz
  compile fuzz
  run_ctest fuzz
}

# The lab's own tests: that it measures what it says, on small tables and without a ratio.
stage_lab() {
  configure lab
  compile lab
  run_ctest lab/lab
}

# The installed package, as its users have it.
stage_install() {
  configure release -DROOST_TESTS=ON
  compile release roost_shared roost_static
  /usr/bin/python3 tests/install/run.py
}

# The Debian packages: built, installed, the service run as its unit says, purged.
stage_package() { /usr/bin/python3 tests/package/run.py; }

# The Python module, installed by pip.
stage_python() { /usr/bin/python3 bindings/python/tests/run.py; }

# Real curl and dig through the balancer, in network namespaces.
stage_live() {
  compile release roost
  /usr/bin/python3 tests/live/run.py
}

# Thousands of downloads while a backend is drained, another killed and the configuration reloaded.
stage_scenario() { scenario; }

# What the README tells a newcomer to type.
stage_readme() { CMAKE_CXX_COMPILER_LAUNCHER=ccache /usr/bin/python3 tools/tidy.py --run-readme; }

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

# run_stage NAME: in a process of its own, so that its first failing command ends it.
run_stage() {
  log=$(log_file "stage-$1")
  say "stage $1"
  start=$(date +%s)
  {
    status=0
    "$root/dev" stage "$1" 2>&1 || status=$?
    printf '%s\n' "$status" >"$log.status"
  } | tee "$log"
  seconds=$(($(date +%s) - start))
  if [ "$(cat "$log.status")" -eq 0 ]; then verdict=passed; else verdict=FAILED; fi
  count_stage "$1" "$log"
  printf '   %-10s %-7s %5d s   %s passed, %s failed\n' \
    "$1" "$verdict" "$seconds" "$stage_passed" "$stage_failed" >>"$summary"
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

run_test_stages() {
  setup lab
  summary=$(log_file summary)
  passed_count=0
  failed_count=0
  : >"$summary"
  : >"$summary.start"
  test_start=$(date +%s)
  for name in $stages; do run_stage "$name"; done
  say 'stages'
  cat "$summary"
  printf '   %-10s %13d s\n' all $(($(date +%s) - test_start))
  not_tested_lines || true
  printf '%s passed, %s failed\n' "$passed_count" "$failed_count"
  [ "$failed_count" -eq 0 ]
}

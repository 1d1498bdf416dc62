# shellcheck shell=sh
# ./dev check: what can be said of the tree without running a test. Sourced by ./dev.

# tree_files PATTERN...: files of the tree, those not yet committed included, in a stable order.
tree_files() {
  git ls-files --cached --others --exclude-standard -- "$@" | sort -u | while read -r file; do
    [ ! -f "$file" ] || printf '%s\n' "$file"
  done
}

check_format() {
  say 'format: clang-format-16 over all C++ and C files'
  tree_files '*.cc' '*.c' '*.h' | xargs clang-format-16 --dry-run -Werror
}

# Clang-tidy sees each source that the release preset compiles, and the headers through them; with
# `--without FOLDER`, those of other folders.
check_tidy() {
  say 'tidy: clang-tidy over the sources of the release preset'
  configure release -DROOST_TESTS=ON -DROOST_LAB=ON
  /usr/bin/python3 tools/clang_tidy.py "$clang_tidy" build/release "$jobs" "$@"
}

check_lint() {
  say 'lint: shell scripts, Python files, tools/tidy.py, the tests of what is in tools/'
  lint_status=0
  shellcheck -x dev || lint_status=1
  for script in $(tree_files '*.sh' .ci/run); do
    case $(head -n 1 "$script") in
      '#!'*) shellcheck -x "$script" || lint_status=1 ;;
    esac
  done
  # shellcheck disable=SC2046  # the tree has no file names with spaces: tools/tidy.py sees to it
  set -- $(tree_files '*.py')
  /usr/bin/python3 -m pyflakes "$@" || lint_status=1
  /usr/bin/python3 tools/tidy_test.py -q || lint_status=1
  /usr/bin/python3 tools/mutants_test.py -q || lint_status=1
  /usr/bin/python3 tools/tidy.py || lint_status=1
  return "$lint_status"
}

check_mutants() {
  setup lab
  /usr/bin/python3 tools/mutants.py "$@"
}

check() {
  setup test
  case ${1:-all} in
    format) check_format ;;
    tidy)
      shift
      check_tidy "$@"
      ;;
    lint) check_lint ;;
    --mutants)
      shift
      check_mutants "$@"
      ;;
    all)
      check_status=0
      check_format || check_status=1
      check_lint || check_status=1
      check_tidy || check_status=1
      [ "$check_status" -eq 0 ] || fail 'the checks above failed'
      ;;
    *) fail "check: no part '$1'; there are format, tidy, lint and --mutants" ;;
  esac
}

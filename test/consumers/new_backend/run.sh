#!/usr/bin/env bash
# The project that `sygen new-backend` writes builds against an installed SDK,
# loads, and passes its tests and the conformance cases of its operators with no
# edit; an edit that makes a kernel wrong is noticed. Usage: run.sh PREFIX
set -euo pipefail

prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=../checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"

conform() {
  "$prefix/bin/sy" conform --plugin "$work/build/libmy_npu.so" --supported \
    "$@" >"$work/report"
}

"$prefix/bin/sygen" new-backend my_npu --dir "$work/project" >/dev/null
configure "$work/project"
build
check "it builds without a warning" "$(grep -c warning: "$work/log")" 0
if ! (cd "$work/build" && ctest --output-on-failure >"$work/log"); then
  cat "$work/log"
fi
check_like "its tests pass" "$(grep 'tests passed' "$work/log")" "100% tests passed*"

conform --json "$work/report.json" --junit "$work/report.xml" \
  --html "$work/report.html"
check_like "kernels ran, and what is declared is not counted as passed" \
  "$(grep '^ways:' "$work/report")" \
  "ways: * by kernels of the backend, * on the CPU, as the backend declares*"
operators=$(grep -c '"missing": false' "$work/report.json")
check "several operators ran" "$((operators >= 5))" 1
check "JUnit has a case for each" \
  "$(grep -c '<testcase' "$work/report.xml")" "$operators"
check "the page names them" \
  "$(grep -c '<tr><td>' "$work/report.html")" "$operators"

check_like "a name that is taken is refused" \
  "$("$prefix/bin/sygen" new-backend cpu 2>&1)" "sygen: error: 'cpu' means*"
check_like "so is a folder with something in it" \
  "$("$prefix/bin/sygen" new-backend my_npu --dir "$work/project" 2>&1)" \
  "sygen: error: * is not empty"

# add without alpha.
sed -i 's/o = a + scale \* b/o = a + b/' "$work/project/src/arithmetic.cpp"
build
if conform --failures "$work/failures"; then
  check "a wrong kernel fails" passed failed
else
  check_like "a wrong kernel fails" "$(grep -m1 FAIL "$work/report")" \
    "FAIL add.Tensor: *"
  file=$(ls "$work"/failures/add.Tensor-*.json | head -n 1)
  check_like "sy replay fails in the same way" \
    "$("$prefix/bin/sy" replay "$file" || true)" \
    "FAIL add.Tensor *: returns?0?: element * expected *"
  "${CXX:-c++}" -std=c++20 -I"$prefix/include/switchyard" "${file%.json}.cpp" \
    -o "$work/again" -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lswitchyard
  check "its program shows both results" \
    "$("$work/again" | grep -E '^(cpu|my_npu:0)$' | tr '\n' ' ')" \
    "cpu my_npu:0 "
fi

# A claim that is not true: it names int64, for which there are no kernels.
sed -i 's/o = a + b/o = a + scale * b/' "$work/project/src/arithmetic.cpp"
sed -i 's/dtypes: \[float32\]/dtypes: [float32, float64]/' \
  "$work/project/my_npu.yaml"
build
if conform; then
  check "a claim that is not true fails" passed failed
else
  check_like "a claim that is not true fails" "$(grep -c '^FAIL' "$work/report")" \
    '[1-9]*'
fi

# Claims of single kernels: one that takes less than the others is reported as
# declared, one that claims what it does not do fails.
sed -i 's/dtypes: \[float32, float64\]/dtypes: [float32]/
  s/^  - mm$/  - mm: {layouts: [contiguous]}/' "$work/project/my_npu.yaml"
build
conform --op mm --json "$work/report.json"
check_like "a kernel's own claim is true: strided matrices go to the CPU" \
  "$(grep '^ways:' "$work/report")" \
  "ways: * by kernels of the backend, *on the CPU, as the backend declares*"
conform --op relu
check "the others keep the common one" \
  "$(grep '^overloads:' "$work/report" | grep -c ' 0 fail')" 1
sed -i 's/^  - relu$/  - relu: {dtypes: [float32, float64]}/' \
  "$work/project/my_npu.yaml"
build
if conform; then
  check "a kernel's untrue claim fails" passed failed
else
  check "a kernel's untrue claim fails, and no other" \
    "$(grep '^FAIL' "$work/report" | cut -d: -f1 | sort -u)" "FAIL relu"
fi
exit "$failed"

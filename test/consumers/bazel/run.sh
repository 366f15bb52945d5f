#!/usr/bin/env bash
# A Bazel project that takes the installed SDK as a repository.
# Usage: run.sh PREFIX
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'bazel --output_user_root="$work/root" shutdown >/dev/null 2>&1 || true
  chmod -R u+w "$work"; rm -rf "$work"' EXIT
mkdir "$work/project"
cd "$work/project"
cp "$here/../relocated/main.cpp" .

# Replaces what Bazel 4.2 would download, as this repository's WORKSPACE does.
cat >WORKSPACE <<END
workspace(name = "consumer")
local_repository(name = "switchyard", path = "$prefix")
local_repository(name = "rules_cc", path = "$here/../../../third_party/rules_cc")
local_repository(
    name = "remote_coverage_tools",
    path = "$here/../../../third_party/remote_coverage_tools",
)
local_repository(name = "rules_java", path = "/usr/share/bazel/rules/java")
local_repository(name = "rules_proto", path = "/usr/share/bazel/rules/proto")
END
cat >BUILD.bazel <<'END'
cc_binary(
    name = "main",
    srcs = ["main.cpp"],
    copts = ["-std=c++20"],
    deps = ["@switchyard//:switchyard"],
)
END
bazel --output_user_root="$work/root" build --spawn_strategy=local //:main \
  >"$work/log" 2>&1 || {
  tail -n 30 "$work/log"
  exit 1
}
got=$(bazel-bin/main)
if [ "$got" = 24 ]; then
  echo "PASS a program by Bazel"
else
  echo "FAIL a program by Bazel: expected 24, got $got"
  exit 1
fi

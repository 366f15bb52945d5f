#!/usr/bin/env bash
# An installation that is packed, unpacked elsewhere and moved once more works
# without the folder that it was installed into. Usage: run.sh PREFIX
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=../checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"

"$here/../../../tools/package.sh" "$prefix" "$work/sdk.tar.xz" >/dev/null
mkdir "$work/first"
tar -C "$work/first" -xf "$work/sdk.tar.xz"
check_like "the archive holds one folder, named after the version" \
  "$(ls "$work/first")" "switchyard-*-linux-$(uname -m)"
mv "$work"/first/* "$work/moved"

check "no file names the folder it was installed into" \
  "$(grep -rlF "$prefix" "$work/moved" | head -n 3)" ""
needed=$(ldd "$work"/moved/bin/* "$work"/moved/lib/*.so |
  grep -E 'lib(switchyard|fmt|hwy|yaml-cpp|openblas|gfortran|quadmath|dnnl)' || true)
check "its libraries are its own" \
  "$(grep -vcF "$work/moved/" <<<"$needed" || true)" 0
check_like "bin/sy runs" "$("$work/moved/bin/sy" version | head -n 1)" "switchyard *"
check_like "so does bin/sygen, with the schemas that lie beside it" \
  "$("$work/moved/bin/sygen" explain relu | head -n 1)" "*relu*"
check_like "and the cases of sy conform" \
  "$("$work/moved/bin/sy" conform --op relu --jobs 1 | tail -n 1)" \
  "overloads: 1 of 1 work*"

export PKG_CONFIG_PATH=$work/moved/lib/pkgconfig
if command -v pkg-config >/dev/null; then
  flags=$(pkg-config --cflags --libs switchyard)
else
  flags="-I$work/moved/include/switchyard -L$work/moved/lib -lswitchyard"
fi
# shellcheck disable=SC2086
"${CXX:-c++}" -std=c++20 "$here/main.cpp" -o "$work/main" $flags \
  "-Wl,-rpath,$work/moved/lib"
check "a program by pkg-config" "$("$work/main")" 24

mkdir "$work/project"
cp "$here/main.cpp" "$work/project"
cat >"$work/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES CXX)
find_package(Switchyard 0.1 CONFIG REQUIRED)
add_executable(main main.cpp)
target_link_libraries(main PRIVATE Switchyard::switchyard)
END
prefix=$work/moved
configure "$work/project"
build
check "the same by CMake" "$("$work/build/main")" 24
exit "$failed"

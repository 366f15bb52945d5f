#!/usr/bin/env bash
# Writes the files below a folder as text in a C++ source: a function that
# returns them, as HEADER declares it, a span of a type {path, text}.
# Usage: embed.sh HEADER NAMESPACE TYPE FUNCTION FOLDER FILE… >SOURCE
set -euo pipefail

header=$1 namespace=$2 type=$3 function=$4 folder=$5
shift 5
cat <<END
#include "$header"

namespace $namespace {

std::span<const $type> $function() {
  static constexpr $type kFiles[] = {
END
for file in "$@"; do
  printf '      {"%s", R"~~~~(' "${file#*"$folder"/}"
  cat "$file"
  printf ')~~~~"},\n'
done
cat <<END
  };
  return kFiles;
}

}  // namespace $namespace
END

#!/usr/bin/env bash
# Writes the files below a folder as text in a C++ source.
# Usage: embed.sh FOLDER FILE… >SOURCE
set -euo pipefail

folder=$1
shift
cat <<'END'
#include "codegen/tools/new_backend.h"

namespace sy::codegen {

std::span<const TemplateFile> new_backend_files() {
  static constexpr TemplateFile kFiles[] = {
END
for file in "$@"; do
  printf '      {"%s", R"~~~~(' "${file#*"$folder"/}"
  cat "$file"
  printf ')~~~~"},\n'
done
cat <<'END'
  };
  return kFiles;
}

}  // namespace sy::codegen
END

#pragma once

#include <string>
#include <vector>

#include "frontend/export/write/program_json.h"
#include "frontend/io/torch_value.h"

namespace sy::exporting {

// Writes the archive of a program: whole, or not at all. Tensors that share
// memory share it in the file. Throws FileError.
void write_archive(const std::string& path, const std::string& model,
                   const Recorded& recorded, const ProgramJson& program);

}  // namespace sy::exporting

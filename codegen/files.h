#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace sy::codegen {

struct OutputFile {
  std::string path;
  std::string text;
};

// Writes a file whole or not at all, under another name until it is complete,
// and leaves it alone if it is so already: its dependents need not be built
// again. A replaced file keeps its mode. False, with a message, if it cannot be
// written.
bool write_file(const OutputFile& file, std::ostream& err);
// All of them, which are thus made before the first is written.
bool write_files(const std::vector<OutputFile>& files, std::ostream& err);

}  // namespace sy::codegen

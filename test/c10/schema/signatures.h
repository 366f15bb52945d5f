#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace sy::test {

// The sample of PyTorch's signatures, one a line, and a few that only the
// grammar knows. Empty if the file is not there.
inline std::vector<std::string> sample_signatures() {
  std::ifstream file("test/c10/schema/signatures.txt");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace sy::test

#include <sy/export.h>
#include <sy/io.h>
#include <sy/sy.h>

#include <cstdio>
#include <string>

#include "compare.h"

// A module that Python exported, whose operators are torchvision's, gives what
// it gave in Python. Usage: program_test LIBRARY PROGRAM RECORDED

namespace {

// Compares a call with so many boxes. Returns how many results are wrong.
int64_t wrong(const sy::Program& program, const sy::SafetensorsFile& recorded,
              const std::string& boxes) {
  const std::string key = "parts." + boxes;
  std::vector<sy::ArchiveValue> inputs;
  for (int i = 0; i < 3; ++i) {
    inputs.emplace_back(recorded.get(key + ".in." + std::to_string(i)));
  }
  const std::vector<sy::Tensor> results = program->tensors(inputs);
  int64_t bad = results.size() == 6 ? 0 : 1;
  for (size_t i = 0; i < results.size(); ++i) {
    const sy::Tensor expected = recorded.get(key + ".out." + std::to_string(i));
    const double d = vision::difference(results[i], expected);
    std::printf("%s boxes, result %zu: within %.1e of Python's\n",
                boxes.c_str(), i, d);
    bad += d <= 1e-5 ? 0 : 1;
  }
  return bad;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fprintf(stderr, "usage: program_test LIBRARY PROGRAM RECORDED\n");
    return 2;
  }
  try {
    sy::load_program(argv[2]);
    std::printf("expected an error: the operators are not there yet\n");
    return 1;
  } catch (const sy::FileError& e) {
    std::printf("%s\n", e.what());
  }
  sy::load_library(argv[1]).keep();
  const sy::Program program = sy::load_program(argv[2]);
  const sy::SafetensorsFile recorded(argv[3]);
  return wrong(program, recorded, "9") + wrong(program, recorded, "5") == 0 ? 0
                                                                            : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "program_test: %s\n", e.what());
  return 1;
}

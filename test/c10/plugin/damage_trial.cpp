#include <cstdio>
#include <cstdlib>
#include <string>

#include "c10/dispatcher.h"
#include "c10/error.h"
#include "c10/plugin/load_library.h"
#include "test/c10/plugin/damage.h"

// Loads many damaged copies of a library, each in a process of its own, calls
// an operator of it, and says how many ended by a signal: exit status 1 if one
// did. The operator takes a tensor and gives a number.
//
//   damage_trial LIBRARY OPERATOR FOLDER [COUNT [FIRST]]

namespace {

std::string called;

bool loads_and_runs(const std::string& path) {
  try {
    const sy::LibraryHandle library = sy::load_library(path);
    const sy::TensorBase argument(
        sy::make_tensor({1000}, sy::kFloat, sy::Device(sy::kCPU)));
    sy::typed_operator<int64_t(const sy::TensorBase&)>(called).call(argument);
    return true;
  } catch (const sy::Error&) {
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::puts("damage_trial LIBRARY OPERATOR FOLDER [COUNT [FIRST]]");
    return 2;
  }
  const auto number = [&](int i, uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  called = argv[2];
  sy::init();
  if (!loads_and_runs(argv[1])) {
    std::printf("%s has no %s\n", argv[1], argv[2]);
    return 2;
  }
  const sy::test::DamageCounts c = sy::test::load_damaged(
      argv[1], argv[3], number(5, 0), number(4, 100'000), &loads_and_runs);
  for (const std::string& s : c.signals) std::puts(s.c_str());
  std::printf("%u loaded, %u refused, %zu ended by a signal\n", c.loaded,
              c.refused, c.signals.size());
  return c.signals.empty() ? 0 : 1;
}

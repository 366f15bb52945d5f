#include <sy/io.h>
#include <sy/sy.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "compare.h"

// Compares what a program saved with what record_models.py recorded of
// torchvision. Usage: same PROGRAM SAVED RECORDED

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fprintf(stderr, "usage: same PROGRAM SAVED RECORDED\n");
    return 2;
  }
  const std::string prefix = std::string(argv[1]) + ".";
  const sy::SafetensorsFile saved(argv[2]), recorded(argv[3]);
  int64_t compared = 0, wrong = 0;
  for (const auto& [key, bound] : recorded.metadata()) {
    if (!key.starts_with(prefix)) continue;
    const sy::Tensor expected = recorded.get(key);
    // A record may have a shorter type: classes as uint8.
    const sy::Tensor got =
        saved.get(key.substr(prefix.size())).to(expected.scalar_type());
    const double d = vision::difference(got, expected);
    const bool ok = d <= std::strtod(bound.c_str(), nullptr);
    std::printf("%-20s within %.1e of torchvision's%s\n", key.c_str(), d,
                ok ? "" : ": WRONG");
    ++compared;
    wrong += ok ? 0 : 1;
  }
  return compared > 0 && wrong == 0 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "same: %s\n", e.what());
  return 1;
}

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "test/frontend/distributed/random_calls.h"

// Random sequences of collectives, by 4 ranks that are processes:
//
//   random_calls_main SEED N
//
// Exit code 0: the results of N sequences are right.

int main(int argc, char** argv) {
  using namespace sy::distributed;
  if (argc != 3) return 2;
  const auto first = static_cast<unsigned>(std::atoi(argv[1]));
  const auto n = static_cast<unsigned>(std::atoi(argv[2]));
  try {
    init();
    const auto groups = random_groups();
    for (unsigned seed = first; seed < first + n; ++seed) {
      const std::string wrong = random_calls(seed, get_rank(), groups);
      if (wrong.empty()) continue;
      std::fprintf(stderr, "%s", wrong.c_str());
      return 1;
    }
    destroy_process_group();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
  return 0;
}

#include "test/backends/lazy/programs.h"

#include <gtest/gtest.h>
#include <sy/lazy.h>

// Programs on the lazy device agree with the CPU. SY_PROGRAMS and SY_SEED give
// another number of programs and another start: an hour is about
// SY_PROGRAMS=2000000.

namespace sy::test {
namespace {

TEST(LazyPrograms, AgreeWithTheCpu) {
  load_library("lazy").keep();
  const uint64_t first = setting("SY_SEED", 1);
  const uint64_t count = setting("SY_PROGRAMS", 20000);
  int64_t threw = 0, calls = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const int every = static_cast<int>(seed % 4) * 3;
    const auto differs = [&](const Program& p) {
      return difference(run(p, Device("lazy"), every), run(p, Device(kCPU), 0));
    };
    const Program p = random_program(seed, 20);
    const std::string why = differs(p);
    for (const std::string& s : run(p, Device(kCPU), 0).says) {
      threw += s.ends_with("threw");
      calls += s != "-";
    }
    if (why.empty()) continue;
    const Program least =
        minimised(p, [&](const Program& q) { return !differs(q).empty(); });
    ADD_FAILURE() << "seed " << seed << ", sync every " << every << ": " << why
                  << "\nthe least: " << differs(least) << "\n"
                  << listing(least);
    return;
  }
  // Most calls are legal, or the programs say nothing.
  EXPECT_GT(calls, static_cast<int64_t>(count) * 12);
  EXPECT_LT(threw, calls / 10);
}

}  // namespace
}  // namespace sy::test

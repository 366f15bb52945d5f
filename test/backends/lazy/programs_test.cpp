#include "test/backends/lazy/programs.h"

#include <gtest/gtest.h>
#include <sy/lazy.h>

#include <cstdlib>

// Programs on the lazy device agree with the CPU. SY_PROGRAMS and SY_SEED give
// another number of programs and another start: an hour is about
// SY_PROGRAMS=2000000.

// For AddressSanitizer. A tensor that is written after a call has saved it, as
// in y.add_(y.sin()), is in a circle with the node of that call: nothing frees
// it, here and in PyTorch, and its backward pass is an error.
extern "C" __attribute__((visibility("default"))) const char*
__asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

namespace sy::test {
namespace {

uint64_t number(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(LazyPrograms, AgreeWithTheCpu) {
  load_library("lazy").keep();
  const uint64_t first = number("SY_SEED", 1);
  const uint64_t count = number("SY_PROGRAMS", 20000);
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

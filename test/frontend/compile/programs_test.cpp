#include "test/backends/lazy/programs.h"

#include <gtest/gtest.h>
#include <sy/compile.h>

#include <cstdlib>

// Random programs, compiled, agree with what they do as they are: at the
// capture and at replays, which have other elements. SY_PROGRAMS and SY_SEED
// give another number of programs and another start.

// For AddressSanitizer; see test/backends/lazy/programs_test.cpp.
extern "C" __attribute__((visibility("default"))) const char*
__asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

namespace sy::test {
namespace {

uint64_t number(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// "" if all runs agree.
std::string trouble(const Program& p, bool backward, int64_t* replays) {
  Outcome now;
  auto f = compile([&](const std::vector<Tensor>& initial) {
    return run_on(p, initial, backward, &now);
  });
  for (int i = 0; i < 3; ++i) {
    Outcome got, want;
    const std::vector<Tensor> ours = initial_values(Device(kCPU), 0.3 * i);
    const std::vector<Tensor> theirs = initial_values(Device(kCPU), 0.3 * i);
    const std::vector<Tensor> plain = run_on(p, theirs, backward, &want);
    finish_run(theirs, plain, backward, &want);
    std::vector<Tensor> values;
    now = {};
    try {
      values = f(ours);
    } catch (const Error& e) {
      return str("call {} threw {}", i, e.what());
    }
    // A replay says nothing.
    const bool replayed = now.says.empty();
    got.says = now.says;
    finish_run(ours, values, backward, &got);
    if (replayed) got.says = want.says;
    const std::string why = difference(got, want);
    if (!why.empty()) return str("call {}: {}\n{}", i, why, f.explain());
  }
  *replays += f.counters().replays;
  return "";
}

TEST(CompiledPrograms, AgreeWithTheCallable) {
  const uint64_t first = number("SY_SEED", 1);
  const uint64_t count = number("SY_PROGRAMS", 3000);
  int64_t replays = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const bool backward = seed % 2 == 0;
    const Program p = random_program(seed, 20);
    const std::string why = trouble(p, backward, &replays);
    if (why.empty()) continue;
    const Program least = minimised(p, [&](const Program& q) {
      return !trouble(q, backward, &replays).empty();
    });
    ADD_FAILURE() << "seed " << seed << (backward ? ", backward inside" : "")
                  << ": " << why
                  << "\nthe least: " << trouble(least, backward, &replays)
                  << "\n"
                  << listing(least);
    return;
  }
  // Most of them are replayed, or the test says nothing.
  EXPECT_GT(replays, static_cast<int64_t>(count));
}

}  // namespace
}  // namespace sy::test

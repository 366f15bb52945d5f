#include "test/backends/lazy/programs.h"

#include <gtest/gtest.h>
#include <sy/compile.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

// Random programs, compiled, agree with what they do as they are: at the
// capture and at replays, which have other elements. SY_SEED gives another
// start, SY_PROGRAMS another number of programs, SY_SECONDS a time instead.

namespace sy::test {
namespace {

// "" if all runs agree.
std::string trouble(const Program& p, bool backward, int64_t* replays) {
  Outcome now;
  auto f = compile([&](const std::vector<Tensor>& initial) {
    return run_on(p, initial, backward, &now);
  });
  // The first, second and fourth call that fit are recorded again.
  for (int i = 0; i < 8; ++i) {
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
  const uint64_t first = setting("SY_SEED", 1);
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(setting("SY_SECONDS", 0));
  const uint64_t least =
      setting("SY_PROGRAMS", std::getenv("SY_SECONDS") != nullptr ? 1 : 1500);
  uint64_t count = 0;
  int64_t replays = 0;
  for (uint64_t seed = first;
       count < least || std::chrono::steady_clock::now() < end; ++seed) {
    ++count;
    const bool backward = seed % 2 == 0;
    const Program p = random_program(seed, 20);
    const std::string why = trouble(p, backward, &replays);
    if (why.empty()) continue;
    const Program shortest = minimised(p, [&](const Program& q) {
      return !trouble(q, backward, &replays).empty();
    });
    ADD_FAILURE() << "seed " << seed << (backward ? ", backward inside" : "")
                  << ": " << why
                  << "\nthe least: " << trouble(shortest, backward, &replays)
                  << "\n"
                  << listing(shortest);
    return;
  }
  // Many calls are replayed, or the test says nothing.
  EXPECT_GT(replays, static_cast<int64_t>(count) * 3 / 4);
  std::cout << count << " programs, " << replays << " replays\n";
}

}  // namespace
}  // namespace sy::test

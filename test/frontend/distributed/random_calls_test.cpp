#include "test/frontend/distributed/random_calls.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "test/frontend/distributed/ranks.h"

namespace sy::distributed {
namespace {

void run(unsigned seed, ThreadSupport support) {
  Ranks ranks(kRandomRanks);
  ranks.threads.set_support(support);
  ranks.run([&](int rank) {
    EXPECT_EQ(random_calls(seed, rank, random_groups()), "");
  });
  EXPECT_EQ(ranks.threads.pending(), 0);
}

TEST(RandomCalls, GiveWhatOneProcessComputes) {
  const char* const text = std::getenv("SY_RANDOM_CALLS");
  const unsigned n = text != nullptr ? unsigned(std::atoi(text)) : 12;
  for (unsigned seed = 1; seed <= n; ++seed) {
    run(seed, seed % 3 == 0   ? ThreadSupport::kBytes
              : seed % 3 == 1 ? ThreadSupport::kAll
                              : ThreadSupport::kNoReducedFloats);
  }
}

}  // namespace
}  // namespace sy::distributed

#include "c10/device/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "c10/device/philox.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

// Known answers of Random123 (kat_vectors, philox4x32 with 10 rounds).
static_assert(philox4x32({0, 0, 0, 0}, 0, 0) ==
              PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox4x32({~0u, ~0u, ~0u, ~0u}, ~0u, ~0u) ==
              PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                         0xa4093822, 0x299f31d0) ==
              PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

TEST(Philox, BlocksAreTheStreamOfTheSeed) {
  EXPECT_EQ(philox_block(0, 0), philox4x32({0, 0, 0, 0}, 0, 0));
  EXPECT_EQ(philox_block(0x200000001, 0x400000003),
            philox4x32({3, 4, 0, 0}, 1, 2));
}

TEST(Philox, UniformNumbersStayBelowOne) {
  EXPECT_EQ(uniform_float(0), 0.f);
  EXPECT_EQ(uniform_float(~0u), 1.f - 0x1p-24f);
  EXPECT_EQ(uniform_double(~0u, ~0u), 1.0 - 0x1p-53);
  EXPECT_EQ(uniform_double(0, 0x80000000), 0.5);
}

TEST(Generator, ReservesRangesInOrder) {
  const Generator g = make_generator(7);
  EXPECT_EQ(g->seed(), 7u);
  EXPECT_EQ(g->reserve(3).offset, 0u);
  const GeneratorImpl::Range r = g->reserve(1);
  EXPECT_EQ(r.seed, 7u);
  EXPECT_EQ(r.offset, 3u);
  g->set_offset(100);
  EXPECT_EQ(g->reserve(1).offset, 100u);
  g->set_seed(8);
  EXPECT_EQ(g->offset(), 0u) << "a new seed starts its stream";
}

TEST(Generator, ThreadsNeverShareARange) {
  const Generator g = make_generator(1);
  std::vector<std::vector<uint64_t>> got(4);
  std::vector<std::thread> threads;
  for (auto& mine : got) {
    threads.emplace_back([&g, &mine] {
      for (int i = 0; i < 5000; ++i) mine.push_back(g->reserve(2).offset);
    });
  }
  for (auto& t : threads) t.join();
  std::vector<uint64_t> all;
  for (const auto& mine : got) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], 2 * i);
}

TEST(Generator, ManualSeedReachesEveryDefaultGenerator) {
  const Generator& cpu = default_generator();
  EXPECT_EQ(cpu, default_generator(Device("cpu:0")));
  cpu->reserve(5);
  manual_seed(42);
  EXPECT_EQ(cpu->seed(), 42u);
  EXPECT_EQ(cpu->offset(), 0u);
  EXPECT_EQ(default_generator(Device(kMeta))->seed(), 42u)
      << "made after manual_seed";
  EXPECT_NE(default_generator(Device(kMeta)), cpu);
  manual_seed(43);
  EXPECT_EQ(default_generator(Device(kMeta))->seed(), 43u);
  SY_EXPECT_ERROR(default_generator(Device(device_type_of(29))), ValueError,
                  "[default_generator] device: no backend has the number 29");
}

}  // namespace
}  // namespace sy

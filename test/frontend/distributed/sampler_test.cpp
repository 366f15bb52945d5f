#include "frontend/distributed/training/sampler.h"

#include <algorithm>
#include <cmath>

#include "aten/ops/factory.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/ranks.h"

namespace sy::distributed {
namespace {

using Indices = std::vector<int64_t>;

DistributedSampler sampler(int64_t size, int ranks, int rank,
                           bool shuffle = true, bool drop_last = false,
                           uint64_t seed = 0) {
  return DistributedSampler(size, {ranks, rank, shuffle, seed, drop_last});
}

Indices drawn(DistributedSampler& s) {
  Indices all;
  for (int64_t i : s) all.push_back(i);
  return all;
}

// How often each sample comes.
std::vector<int> counts(const std::vector<Indices>& of_ranks, int64_t size) {
  std::vector<int> counts(static_cast<size_t>(size));
  for (const Indices& r : of_ranks) {
    for (const int64_t i : r) ++counts.at(static_cast<size_t>(i));
  }
  return counts;
}

TEST(DistributedSampler, DealsOutOneByOneWithoutShuffle) {
  DistributedSampler a = sampler(10, 4, 1, false);
  EXPECT_EQ(a.size(), 3);
  EXPECT_EQ(drawn(a), (Indices{1, 5, 9}));
  // The share is filled from the start.
  DistributedSampler b = sampler(10, 4, 3, false);
  EXPECT_EQ(drawn(b), (Indices{3, 7, 1}));
  DistributedSampler c = sampler(10, 4, 3, false, true);
  EXPECT_EQ(drawn(c), (Indices{3, 7}));
  // More ranks than samples.
  DistributedSampler d = sampler(2, 7, 6, false);
  EXPECT_EQ(drawn(d), (Indices{0}));
}

TEST(DistributedSampler, EverySampleComesAndSharesAreEqual) {
  for (const int64_t size : {0, 1, 2, 5, 64, 101}) {
    for (int ranks = 1; ranks <= 5; ++ranks) {
      for (const bool drop_last : {false, true}) {
        std::vector<Indices> all;
        for (int r = 0; r < ranks; ++r) {
          DistributedSampler s = sampler(size, ranks, r, true, drop_last, 7);
          all.push_back(drawn(s));
          EXPECT_EQ(static_cast<int64_t>(all.back().size()), s.size());
          EXPECT_EQ(all.back().size(), all.front().size());
        }
        int64_t missing = 0, extra = 0;
        for (const int c : counts(all, size)) {
          missing += c == 0;
          extra += std::max(c - 1, 0);
        }
        EXPECT_EQ(missing, drop_last ? size % ranks : 0);
        EXPECT_EQ(extra, drop_last ? 0 : (ranks - size % ranks) % ranks);
      }
    }
  }
}

TEST(DistributedSampler, TheOrderFollowsFromSeedAndEpoch) {
  DistributedSampler s = sampler(12, 1, 0, true, false, 3);
  const Indices first = drawn(s);
  // The order that sampler.h describes, computed by hand in Python.
  EXPECT_EQ(first, (Indices{3, 10, 9, 1, 2, 7, 8, 6, 11, 0, 4, 5}));
  EXPECT_EQ(drawn(s), first);
  s.set_epoch(1);
  const Indices second = drawn(s);
  EXPECT_NE(second, first);
  s.set_epoch(0);
  EXPECT_EQ(drawn(s), first);
  // Epoch 1 of one seed is not epoch 0 of the next.
  DistributedSampler next = sampler(12, 1, 0, true, false, 4);
  EXPECT_NE(drawn(next), second);
}

TEST(DistributedSampler, OrdersAreUniform) {
  std::vector<int> seen(6);
  constexpr int kEpochs = 6000;
  DistributedSampler s = sampler(3, 1, 0);
  for (int e = 0; e < kEpochs; ++e) {
    s.set_epoch(e);
    const Indices o = drawn(s);
    ++seen.at(static_cast<size_t>(o[0] * 2 + (o[1] > o[2])));
  }
  double chi2 = 0;
  for (const int c : seen) chi2 += std::pow(c - kEpochs / 6.0, 2) * 6 / kEpochs;
  EXPECT_LT(chi2, 25);  // 5 degrees of freedom: one in 7000
}

TEST(DistributedSampler, BatchesEndWithTheEpoch) {
  DistributedSampler s = sampler(10, 2, 0, false);
  EXPECT_EQ(*s.next(3), (std::vector<size_t>{0, 2, 4}));
  EXPECT_EQ(*s.next(3), (std::vector<size_t>{6, 8}));
  EXPECT_FALSE(s.next(3));
  EXPECT_FALSE(s.next(3));
  s.reset();
  EXPECT_EQ(s.index(), 0);
  EXPECT_EQ(s.next(100)->size(), 5u);
  s.reset(4);
  EXPECT_EQ(*s.next(100), (std::vector<size_t>{0, 2}));
  SY_EXPECT_ERROR(s.next(0), ValueError,
                  "[DistributedSampler] batch_size: expected at least 1");
}

TEST(DistributedSampler, ALoopStartsTheEpochAnew) {
  DistributedSampler s = sampler(10, 2, 0);
  Indices some;
  for (int64_t i : s) {
    some.push_back(i);
    if (some.size() == 2) break;
  }
  const Indices all = drawn(s);
  EXPECT_EQ(all.size(), 5u);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
}

TEST(DistributedSampler, GoesOnWithAsManyRanks) {
  for (int rank = 0; rank < 3; ++rank) {
    DistributedSampler whole = sampler(20, 3, rank);
    whole.set_epoch(2);
    const Indices all = drawn(whole);
    for (size_t stop = 0; stop <= all.size(); ++stop) {
      DistributedSampler a = sampler(20, 3, rank);
      a.set_epoch(2);
      for (size_t i = 0; i < stop; ++i) ASSERT_EQ(a.next_item(), all[i]);
      DistributedSampler b = sampler(20, 3, rank);
      b.set_state(a.state());
      EXPECT_EQ(b.epoch(), 2);
      b.set_epoch(2);
      EXPECT_EQ(drawn(b),
                Indices(all.begin() + static_cast<int64_t>(stop), all.end()));
      // Then whole epochs.
      EXPECT_EQ(drawn(b), all);
    }
  }
}

TEST(DistributedSampler, GoesOnWithAnotherNumberOfRanks) {
  constexpr int64_t kSize = 60;
  for (const bool drop_last : {false, true}) {
    for (const int before : {1, 2, 3, 4, 7}) {
      for (const int after : {1, 2, 3, 5}) {
        for (const int steps : {0, 1, 3, 8}) {
          std::vector<Indices> all;
          NamedTensors state;
          for (int r = 0; r < before; ++r) {
            DistributedSampler s = sampler(kSize, before, r, true, drop_last);
            s.set_epoch(5);
            Indices& some = all.emplace_back();
            for (int i = 0; i < steps; ++i) some.push_back(*s.next_item());
            state = s.state();
          }
          const int64_t left = kSize - int64_t{before} * steps;
          for (int r = 0; r < after; ++r) {
            DistributedSampler s = sampler(kSize, after, r, true, drop_last);
            s.set_state(state);
            all.push_back(drawn(s));
          }
          int64_t missing = 0, extra = 0;
          for (const int c : counts(all, kSize)) {
            missing += c == 0;
            extra += std::max(c - 1, 0);
          }
          EXPECT_EQ(missing, drop_last ? left % after : 0);
          EXPECT_EQ(extra, drop_last ? 0 : (after - left % after) % after);
        }
      }
    }
  }
}

TEST(DistributedSampler, AFinishedEpochStaysFinishedOnce) {
  DistributedSampler a = sampler(8, 2, 0);
  const Indices all = drawn(a);
  DistributedSampler b = sampler(8, 2, 0);
  b.set_state(a.state());
  EXPECT_TRUE(drawn(b).empty());
  EXPECT_EQ(drawn(b), all);
}

TEST(DistributedSampler, NamesWhatIsWrong) {
  SY_EXPECT_ERROR(sampler(-1, 2, 0), ValueError,
                  "[DistributedSampler] size: expected at least 0, got -1");
  SY_EXPECT_ERROR(sampler(4, 2, 2), ValueError,
                  "[DistributedSampler] rank: expected 0 to 1, got 2");
  SY_EXPECT_ERROR(sampler(4, -2, 0), ValueError,
                  "[DistributedSampler] num_replicas: expected at least 1");
  DistributedSampler s = sampler(10, 2, 0);
  s.next(2);
  const Indices rest = [&] {
    DistributedSampler copy = s;
    Indices r;
    while (auto i = copy.next_item()) r.push_back(*i);
    return r;
  }();
  SY_EXPECT_ERROR(s.set_state(sampler(9, 2, 0).state()), ValueError,
                  "[DistributedSampler] state: expected size 10, got 9");
  SY_EXPECT_ERROR(s.set_state(sampler(10, 2, 0, true, false, 8).state()),
                  ValueError,
                  "[DistributedSampler] state: expected seed 0, got 8");
  SY_EXPECT_ERROR(s.set_state({}), ValueError, "expected size in it");
  NamedTensors bad = s.state();
  bad["place"] = full({}, int64_t{11}, kLong);
  SY_EXPECT_ERROR(s.set_state(bad), ValueError, "a place from 0 to 10");
  bad["place"] = full({}, 1.5, kDouble);
  SY_EXPECT_ERROR(s.set_state(bad), ValueError, "expected one int64 as place");
  SY_EXPECT_ERROR(s.set_epoch(-1), ValueError, "epoch: expected at least 0");
  // Nothing of that has moved it.
  Indices now;
  while (auto i = s.next_item()) now.push_back(*i);
  EXPECT_EQ(now, rest);
}

TEST(DistributedSampler, TakesTheWorldsRankAndSize) {
  Ranks(2).run([](int rank) {
    DistributedSampler s(5, {.shuffle = false});
    EXPECT_EQ(drawn(s), rank == 0 ? (Indices{0, 2, 4}) : (Indices{1, 3, 0}));
  });
}

// Else each rank of a program that calls init() later, or not at all, would
// have all samples.
TEST(DistributedSampler, JoinsTheWorldIfItMustKnowIt) {
  ASSERT_FALSE(is_initialized());
  sampler(5, 2, 1);
  EXPECT_FALSE(is_initialized());
  DistributedSampler s(5, {.shuffle = false});
  EXPECT_TRUE(is_initialized());
  EXPECT_EQ(drawn(s), (Indices{0, 1, 2, 3, 4}));
  destroy_process_group();
}

}  // namespace
}  // namespace sy::distributed

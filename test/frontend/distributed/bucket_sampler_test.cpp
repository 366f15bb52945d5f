#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <set>
#include <tuple>

#include "aten/tensor_new.h"
#include "frontend/distributed/training/sampler.h"
#include "test/c10/expect_error.h"

namespace sy::distributed {
namespace {

// Many short, few long ones, as sentences are.
std::vector<int64_t> lengths(size_t n, uint64_t seed = 1) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < n; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const double u = static_cast<double>(seed >> 11) * 0x1p-53;
    out.push_back(4 + static_cast<int64_t>(-25 * std::log(1 - u)) % 250);
  }
  return out;
}

DistributedBucketSampler buckets(const std::vector<int64_t>& lengths, int ranks,
                                 int rank,
                                 DistributedBucketSamplerOptions options = {
                                     .max_tokens = 1024}) {
  options.num_replicas = ranks;
  options.rank = rank;
  return DistributedBucketSampler(lengths, options);
}

using Batches = std::vector<DistributedBucketSampler::Batch>;

Batches drawn(DistributedBucketSampler& s) {
  Batches all;
  for (const auto& batch : s) all.push_back(batch);
  return all;
}

int64_t cost(const std::vector<int64_t>& lengths,
             const DistributedBucketSampler::Batch& batch) {
  int64_t longest = 0;
  for (const size_t i : batch) longest = std::max(longest, lengths[i]);
  return longest * static_cast<int64_t>(batch.size());
}

// How often each sample comes.
std::vector<int> counts(const std::vector<Batches>& of_ranks, size_t size) {
  std::vector<int> counts(size);
  for (const Batches& r : of_ranks) {
    for (const auto& b : r) {
      for (const size_t i : b) ++counts.at(i);
    }
  }
  return counts;
}

TEST(DistributedBucketSampler, EverySampleOnceWithinTheLimits) {
  const std::vector<int64_t> of = lengths(1003);
  for (const int ranks : {1, 2, 3, 4, 16}) {
    for (const int64_t max_samples : {0, 20}) {
      std::vector<Batches> all;
      for (int r = 0; r < ranks; ++r) {
        auto s = buckets(of, ranks, r,
                         {.max_tokens = 1024, .max_samples = max_samples});
        all.push_back(drawn(s));
        EXPECT_EQ(static_cast<int64_t>(all.back().size()), s.size());
        EXPECT_EQ(all.back().size(), all.front().size());
        for (const auto& b : all.back()) {
          EXPECT_FALSE(b.empty());
          EXPECT_LE(cost(of, b), 1024);
          EXPECT_LE(b.size(), max_samples > 0 ? 20u : of.size());
        }
      }
      for (const int c : counts(all, of.size())) EXPECT_EQ(c, 1);
    }
  }
}

TEST(DistributedBucketSampler, PadsLittleAndStepsAreAlike) {
  constexpr int kRanks = 4;
  const std::vector<int64_t> of = lengths(4000);
  std::vector<Batches> all;
  double padding = 0;
  for (int r = 0; r < kRanks; ++r) {
    auto s = buckets(of, kRanks, r);
    all.push_back(drawn(s));
    padding = s.padding();
  }
  // The padding that the sampler tells is that of its batches.
  const double tokens =
      static_cast<double>(std::accumulate(of.begin(), of.end(), int64_t{0}));
  double padded = 0, waited = 0;
  for (size_t step = 0; step < all[0].size(); ++step) {
    int64_t most = 0, sum = 0;
    for (const Batches& r : all) {
      most = std::max(most, cost(of, r[step]));
      sum += cost(of, r[step]);
    }
    padded += static_cast<double>(sum);
    waited += static_cast<double>(most * kRanks - sum);
  }
  EXPECT_NEAR(padding, 1 - tokens / padded, 1e-12);
  // Batches of as many tokens in a random order.
  double random = 0;
  std::vector<size_t> batch;
  DistributedSampler order(static_cast<int64_t>(of.size()), {1, 0});
  for (const int64_t i : order) {
    batch.push_back(static_cast<size_t>(i));
    if (cost(of, batch) <= 1024) continue;
    batch.pop_back();
    random += static_cast<double>(cost(of, batch));
    batch = {static_cast<size_t>(i)};
  }
  random += static_cast<double>(cost(of, batch));
  const double random_padding = 1 - tokens / random;
  RecordProperty("padding_percent", static_cast<int>(100 * padding));
  RecordProperty("random_padding_percent",
                 static_cast<int>(100 * random_padding));
  std::printf(
      "padding: %.2f %% by length, %.2f %% in random batches; ranks "
      "wait %.2f %% of the padded tokens\n",
      100 * padding, 100 * random_padding, 100 * waited / padded);
  EXPECT_LT(padding, 0.05);
  EXPECT_GT(random_padding, 0.4);
  EXPECT_LT(waited / padded, 0.02);
}

TEST(DistributedBucketSampler, StepsAreShuffledByEpoch) {
  const std::vector<int64_t> of = lengths(500);
  auto a = buckets(of, 2, 0), b = buckets(of, 2, 0);
  const Batches first = drawn(a);
  EXPECT_EQ(drawn(b), first);
  a.set_epoch(1);
  const Batches second = drawn(a);
  EXPECT_NE(second, first);
  EXPECT_EQ(second.size(), first.size());
  // Also which samples meet: those of equal length change places.
  const auto sets = [](const Batches& all) {
    std::set<std::set<size_t>> out;
    for (const auto& batch : all) out.emplace(batch.begin(), batch.end());
    return out;
  };
  EXPECT_NE(sets(second), sets(first));
  // Not all long ones come first.
  std::vector<int64_t> costs;
  for (const auto& batch : first) costs.push_back(of[batch[0]]);
  EXPECT_FALSE(std::is_sorted(costs.rbegin(), costs.rend()));
  auto plain = buckets(of, 2, 0, {.max_tokens = 1024, .shuffle = false});
  std::vector<int64_t> sorted;
  for (const auto& batch : drawn(plain)) sorted.push_back(cost(of, batch));
  EXPECT_TRUE(std::is_sorted(sorted.rbegin(), sorted.rend()));
}

TEST(DistributedBucketSampler, NoiseMixesDistinctLengths) {
  std::vector<int64_t> of(300);
  std::iota(of.begin(), of.end(), int64_t{1});
  const auto partners = [&](double noise) {
    auto s = buckets(of, 1, 0, {.max_samples = 10, .noise = noise});
    std::set<std::set<size_t>> all;
    for (int e = 0; e < 4; ++e) {
      s.set_epoch(e);
      for (const auto& batch : drawn(s)) {
        all.emplace(batch.begin(), batch.end());
      }
      EXPECT_LT(s.padding(), 0.2);
    }
    return all.size();
  };
  EXPECT_EQ(partners(0), 30u);
  EXPECT_GT(partners(0.1), 100u);
}

TEST(DistributedBucketSampler, FewSamplesForManyRanks) {
  // Six batches of one: two stand twice, or two are left out.
  const std::vector<int64_t> of = {10, 10, 10, 10, 10, 10};
  for (const bool drop_last : {false, true}) {
    std::vector<Batches> all;
    for (int r = 0; r < 4; ++r) {
      auto s = buckets(of, 4, r, {.max_tokens = 10, .drop_last = drop_last});
      EXPECT_EQ(s.size(), drop_last ? 1 : 2);
      all.push_back(drawn(s));
    }
    const std::vector<int> c = counts(all, of.size());
    EXPECT_EQ(std::count(c.begin(), c.end(), 1), 4);
    EXPECT_EQ(std::count(c.begin(), c.end(), drop_last ? 0 : 2), 2);
  }
  auto one = buckets({5}, 4, 3);
  EXPECT_EQ(drawn(one).size(), 1u);
  auto none = buckets({}, 4, 3);
  EXPECT_TRUE(drawn(none).empty());
  EXPECT_EQ(none.padding(), 0);
  // Without lengths, nothing to pad.
  auto zeros = buckets({0, 0, 0}, 1, 0);
  EXPECT_EQ(drawn(zeros).size(), 1u);
}

TEST(DistributedBucketSampler, GoesOnWithAsManyRanks) {
  const std::vector<int64_t> of = lengths(200);
  auto whole = buckets(of, 2, 1);
  whole.set_epoch(3);
  const Batches all = drawn(whole);
  for (size_t stop = 0; stop <= all.size(); ++stop) {
    auto a = buckets(of, 2, 1);
    a.set_epoch(3);
    for (size_t i = 0; i < stop; ++i) a.next();
    auto b = buckets(of, 2, 1);
    b.set_state(a.state());
    b.set_epoch(3);
    EXPECT_EQ(drawn(b),
              Batches(all.begin() + static_cast<int64_t>(stop), all.end()));
    EXPECT_EQ(drawn(b), all);
  }
}

TEST(DistributedBucketSampler, GoesOnWithOtherNumbersOfRanks) {
  const std::vector<int64_t> of = lengths(403);
  for (const auto& [first, second, third] :
       {std::tuple{4, 3, 1}, {1, 4, 2}, {3, 5, 3}, {2, 2, 5}}) {
    std::vector<Batches> all;
    const auto part = [&](int ranks, const NamedTensors* state, int64_t steps) {
      NamedTensors end;
      for (int r = 0; r < ranks; ++r) {
        auto s = buckets(of, ranks, r);
        s.set_epoch(1);
        if (state != nullptr) s.set_state(*state);
        Batches& batches = all.emplace_back();
        while (steps < 0 || static_cast<int64_t>(batches.size()) < steps) {
          auto batch = s.next();
          if (!batch) break;
          EXPECT_LE(cost(of, *batch), 1024);
          batches.push_back(std::move(*batch));
        }
        end = s.state();
      }
      return end;
    };
    const NamedTensors one = part(first, nullptr, 3);
    const NamedTensors two = part(second, &one, 2);
    part(third, &two, -1);
    for (const int c : counts(all, of.size())) EXPECT_EQ(c, 1);
  }
}

TEST(DistributedBucketSampler, RepeatedBatchesComeOnceAfterOtherRanks) {
  // 4 ranks: 5 batches of one are made 8.
  const std::vector<int64_t> of = {9, 8, 7, 6, 5};
  std::vector<Batches> all;
  NamedTensors state;
  for (int r = 0; r < 4; ++r) {
    auto s = buckets(of, 4, r, {.max_samples = 1});
    all.push_back({*s.next()});
    state = s.state();
  }
  auto rest = buckets(of, 1, 0, {.max_samples = 1});
  rest.set_state(state);
  const std::vector<int> had = counts(all, of.size());
  all.push_back(drawn(rest));
  const std::vector<int> c = counts(all, of.size());
  for (size_t i = 0; i < of.size(); ++i) EXPECT_EQ(c[i], std::max(had[i], 1));
}

TEST(DistributedBucketSampler, NamesWhatIsWrong) {
  SY_EXPECT_ERROR(buckets({1}, 1, 0, {}), ValueError,
                  "expected max_tokens or max_samples above 0, got 0 and 0");
  SY_EXPECT_ERROR(buckets({4, 2000}, 1, 0), ValueError,
                  "[DistributedBucketSampler] lengths: expected at most "
                  "max_tokens, 1024, got 2000 at 1");
  SY_EXPECT_ERROR(buckets({4, -1}, 1, 0), ValueError,
                  "lengths: expected at least 0, got -1 at 1");
  SY_EXPECT_ERROR(buckets({4}, 1, 0, {.max_samples = 1, .noise = 2}),
                  ValueError, "noise: expected 0 to 1, got 2");
  const std::vector<int64_t> of = lengths(50);
  auto s = buckets(of, 2, 0);
  SY_EXPECT_ERROR(s.set_state(buckets(lengths(50, 2), 2, 0).state()),
                  ValueError, "expected one of the same lengths");
  NamedTensors bad = s.state();
  bad["segments"] = tensor({int64_t{2}, int64_t{1000}}).reshape({1, 2});
  SY_EXPECT_ERROR(s.set_state(bad), ValueError, "steps of 2 ranks, got 1000");
  bad["segments"] = tensor({int64_t{1} << 40, int64_t{1}}).reshape({1, 2});
  SY_EXPECT_ERROR(s.set_state(bad), ValueError, "ranks in a segment");
  bad["segments"] = tensor({int64_t{2}, int64_t{1}});
  SY_EXPECT_ERROR(s.set_state(bad), ValueError, "segments, int64 [n, 2]");
}

}  // namespace
}  // namespace sy::distributed

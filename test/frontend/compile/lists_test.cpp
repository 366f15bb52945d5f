#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/sy.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "test/frontend/compile/samples.h"

// Words of the stack that are vectors of tensors. Varied: what lies in memory
// between the elements of two vectors that are neighbours, or within a block to
// which three pointers lead, at each call, and whether a tensor of a vector is
// replaced. Never: the allocator, which is glibc's, and the order of members.

namespace sy {

namespace {

using test::expect_same;
using test::kKnowsBlocks;
using test::sample;

struct World {
  double numbers[20] = {};
  std::vector<Tensor> first, second;
  Tensor step(const Tensor& x) const { return x * first[0] + second[0]; }
};

// Vectors without elements whose memory lies close together, in this order.
std::vector<std::vector<Tensor>> three_neighbours() {
  std::vector<std::vector<Tensor>> all(400);
  for (auto& v : all) v.reserve(16);
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.data() < b.data(); });
  constexpr ptrdiff_t kClose = 512;  // elements
  for (size_t i = 2; i < all.size(); ++i) {
    if (all[i].data() - all[i - 2].data() > kClose) continue;
    std::vector<std::vector<Tensor>> out;
    for (size_t k = i - 2; k <= i; ++k) out.push_back(std::move(all[k]));
    return out;
  }
  return {};
}

// The end of one vector and the beginning of the next are beside each other, as
// the first two words of a vector are.
TEST(Lists, WordsOfTwoVectorsAreNoThird) {
  if (!kKnowsBlocks) GTEST_SKIP() << "malloc is not glibc's";
  auto memory = three_neighbours();
  ASSERT_EQ(memory.size(), 3u);
  World w;
  w.first = std::move(memory[0]);
  w.second = std::move(memory[2]);
  w.first.push_back(sample({4}, 1));
  w.second.push_back(sample({4}, 2));
  // The tensor's address among other words, elsewhere at each call.
  std::vector<const void*> words(16);
  auto f = compile([&w](const Tensor& x) { return w.step(x); });
  for (int i = 0; i < 200; ++i) {
    std::fill(words.begin(), words.end(), nullptr);
    words[static_cast<size_t>(i) * 7 % 16] = w.first[0].impl();
    words[static_cast<size_t>(i) * 5 % 16] = w.second[0].impl();
    std::memcpy(static_cast<void*>(memory[1].data()), words.data(),
                words.size() * sizeof(void*));
    if (i % 50 == 49) w.second[0] = sample({4}, i);
    const Tensor x = sample({4}, i);
    expect_same(f(x), w.step(x));
  }
  EXPECT_GE(f.counters().replays, 150) << f.explain();
}

// A vector has all of its block, and begins where that does.
TEST(Lists, PointersIntoABlockAreNone) {
  if (!kKnowsBlocks) GTEST_SKIP() << "malloc is not glibc's";
  std::vector<const void*> block(200);
  struct {
    const void** begin;
    const void** end;
    const void** limit;
    Tensor weight = sample({4}, 1);
    std::vector<Tensor> list{sample({4}, 2)};
  } w{&block[11], &block[120], &block[150]};
  const auto step = [&w](const Tensor& x) { return x * w.weight + w.list[0]; };
  auto f = compile(step);
  for (int i = 0; i < 200; ++i) {
    std::fill(block.begin(), block.end(), nullptr);
    block[static_cast<size_t>(11 + i * 7 % 100)] = w.weight.impl();
    if (i % 50 == 49) w.list[0] = sample({4}, i);
    const Tensor x = sample({4}, i);
    expect_same(f(x), step(x));
  }
  EXPECT_GE(f.counters().replays, 150) << f.explain();
}

}  // namespace

}  // namespace sy

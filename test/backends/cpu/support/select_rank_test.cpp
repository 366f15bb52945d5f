#include "backends/cpu/support/select_rank.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace sy::cpu {
namespace {

// Few keys are compared, more are parted, many are counted by digits.
template <class K>
void expect_ranks(int64_t n, uint64_t values) {
  std::vector<K> keys, sorted;
  ScratchVector<K> room;
  uint64_t state = 1;
  for (int64_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    keys.push_back(
        static_cast<K>((state >> 20) % values * 0x0101010101010101u));
  }
  sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t rank = 0; rank < n; rank += 1 + n / 40) {
    const auto found = find_rank(keys.data(), n, rank, &room);
    const K key = sorted[static_cast<size_t>(rank)];
    ASSERT_EQ(found.key, key) << n << " " << values << " " << rank;
    ASSERT_EQ(found.less, std::lower_bound(sorted.begin(), sorted.end(), key) -
                              sorted.begin());
  }
}

TEST(Rank, IsThatOfSortedKeys) {
  for (const int64_t n : {1, 2, 16, 17, 40, 128, 129, 1000, 5000}) {
    for (const uint64_t values : {1u, 2u, 7u, 200u, 1u << 30}) {
      expect_ranks<uint8_t>(n, values);
      expect_ranks<uint16_t>(n, values);
      expect_ranks<uint32_t>(n, values);
      expect_ranks<uint64_t>(n, values);
    }
  }
}

}  // namespace
}  // namespace sy::cpu

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <thread>

#include "test/backends/cuda/fake/emulator_fixture.h"
// Include this after all others.
#include "scan.cuh"

// Tiles of a row that one pass scans: what they tell each other, and that they
// wait for it.

namespace {

using fake_cuda::BlockOrder;
using fake_cuda::run_well;
using fake_cuda::Shape;

// Neither associative nor commutative: another order is another number.
struct Mix {
  using State = ScanState<uint64_t, true>;

  State combine(const State& a, const State& b) const {
    return {a.v * 1000003 + b.v, a.at + b.at};
  }
};

struct LookParams {
  LaunchHead head;
  void* room;
  int64_t group;
  uint64_t* value;
  int64_t* place;
};

SY_KERNEL(look, LookParams, 32) {
  const ScanSlots<Mix::State> slots(p.room, 0, 64 * kScanGroup);
  const Mix::State s = before_group(Mix{}, slots, p.group);
  p.value[threadIdx.x] = s.v;
  p.place[threadIdx.x] = s.at;
}

constexpr int64_t kLooks = 40;  // the group that looks back

// The slots before that group, of which `nearest` and some before it know all.
class Slots {
 public:
  using State = Mix::State;

  explicit Slots(int64_t nearest)
      : room_(kScanCounterBytes + 68 * kScanGroup * sizeof(ScanSlot<State>)),
        slots_(room_.data(), 0, 64 * kScanGroup) {
    for (int64_t g = 0; g < kLooks; ++g) {
      sum_ = g == 0 ? own(g) : Mix{}.combine(sum_, own(g));
      if (g + 1 < kLooks) slots_.groups[g].publish(own(g));
      if (g == nearest || g + 3 == nearest) slots_.so_far[g].publish(sum_);
    }
  }
  void publish_the_last() {
    slots_.groups[kLooks - 1].publish(own(kLooks - 1));
  }

  void look_and_compare(uint64_t seed) {
    std::vector<uint64_t> value(32);
    std::vector<int64_t> place(32);
    run_well(sy_kernel_look,
             LookParams{{}, room_.data(), kLooks, value.data(), place.data()},
             Shape{{1}, {32}, 0, seed});
    EXPECT_EQ(value, std::vector<uint64_t>(32, sum_.v));
    EXPECT_EQ(place, std::vector<int64_t>(32, sum_.at));
  }

 private:
  static State own(int64_t g) {
    return {static_cast<uint64_t>(g * g + 3), int64_t{1} << g};
  }

  std::vector<char> room_;
  ScanSlots<State> slots_;
  State sum_{};
};

// The groups after the nearest one that knows all before it are added from left
// to right, however far it is.
TEST(LookBack, CombinesFromTheNearestGroupThatKnowsAll) {
  for (int64_t nearest = kLooks - kScanGroup; nearest < kLooks; ++nearest) {
    Slots slots(nearest);
    slots.publish_the_last();
    slots.look_and_compare(static_cast<uint64_t>(nearest));
  }
}

TEST(LookBack, WaitsForAGroupBetween) {
  Slots slots(kLooks - 5);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    slots.publish_the_last();
  });
  slots.look_and_compare(1);
  later.join();
}

struct GateParams : ScanHead {
  int* begun;  // tiles whose elements are read
  int wanted;  // before the first element of a row is there
};

// Nearly sums of floats in double. A row's first tile waits for others.
struct GatedSum {
  using Element = float;
  using Stored = double;
  using State = ScanState<double, false>;
  static constexpr bool kInMemory = false;

  const GateParams& p;

  Element fetch(const char* at) const {
    if ((at - p.data) % static_cast<ptrdiff_t>(kScanTile * sizeof(float)) ==
        0) {
      atomicAdd(p.begun, 1);
    }
    while (at == p.data &&
           *static_cast<const volatile int*>(p.begun) < p.wanted) {
      std::this_thread::yield();
    }
    return *reinterpret_cast<const float*>(at);
  }
  State load(const Element& x, int64_t) const { return {x}; }
  State combine(const State& a, const State& b) const {
    return {a.v * 0.999999 + b.v};
  }
  Stored stored(const State& s) const { return s.v; }
  void put(char* at, const Stored& x) const {
    *reinterpret_cast<double*>(at) = x;
  }
};

SY_KERNEL(gated_sums, GateParams, kScanThreads) { scan_rows(GatedSum{p}); }

class Sums {
 public:
  explicit Sums(size_t n) : in_(n) {
    uint64_t bits = 1;
    for (float& x : in_) {
      bits = bits * 6364136223846793005u + 1442695040888963407u;
      const int power = static_cast<int>(bits >> 58) - 32;
      x = std::ldexp(static_cast<float>(bits >> 33 & 0xffff) - 0x8000, power);
    }
  }

  // Scans by `threads` threads of the host, each of which runs one block after
  // the other. All tiles but the row's first have begun before that one ends,
  // if it waits.
  std::vector<double> scan(int threads, bool waits, const Shape& shape) const {
    const int64_t n = static_cast<int64_t>(in_.size());
    const int64_t tiles = (n + kScanTile - 1) / kScanTile;
    std::vector<double> out(in_.size());
    std::vector<uint64_t> room(static_cast<size_t>(2 + 6 * tiles));
    int begun = 0;
    GateParams p = {};
    p.data = reinterpret_cast<const char*>(in_.data());
    p.values = reinterpret_cast<char*>(out.data());
    if (threads > 0) p.room = room.data();
    p.rows = 1;
    p.length = n;
    p.step[0] = sizeof(float);
    p.step[1] = sizeof(double);
    p.walk.dims = 1;
    p.walk.numel = 1;
    p.begun = &begun;
    p.wanted = waits ? static_cast<int>(tiles) : 0;
    if (threads <= 1) {
      run_well(sy_kernel_gated_sums, p, shape);
      return out;
    }
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&] { run_well(sy_kernel_gated_sums, p, shape); });
    }
    for (std::thread& t : running) t.join();
    EXPECT_EQ(begun, tiles);
    return out;
  }

 private:
  std::vector<float> in_;
};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// The first tile is held until all others have read their elements: they can
// only wait for it, and for each other.
TEST(LookBack, TilesWaitForThoseBeforeThem) {
  constexpr int kTiles = kScanGroup + 5;
  const Sums sums(kTiles * kScanTile - 7);
  const std::vector<double> row = sums.scan(0, false, {{1}, {kScanThreads}});
  EXPECT_TRUE(same_bits(sums.scan(kTiles, true, {{1}, {kScanThreads}}), row));
}

TEST(LookBack, TheBitsAreThoseOfABlockThatScansTheRow) {
  for (const int tiles :
       {2, 3, kScanGroup, kScanGroup + 1, 2 * kScanGroup + 1, 5 * kScanGroup}) {
    const Sums sums(static_cast<size_t>(tiles * kScanTile - tiles));
    const std::vector<double> row =
        sums.scan(0, false, {{1}, {kScanThreads}, 0, 0});
    for (const BlockOrder order :
         {BlockOrder::kAscending, BlockOrder::kDescending,
          BlockOrder::kShuffled}) {
      const Shape shape{{7}, {kScanThreads}, 0, 3, order};
      EXPECT_TRUE(same_bits(sums.scan(1, false, shape), row)) << tiles;
    }
    EXPECT_TRUE(same_bits(sums.scan(4, false, {{3}, {kScanThreads}}), row))
        << tiles;
  }
}

}  // namespace

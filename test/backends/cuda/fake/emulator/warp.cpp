#include <string>
#include <utility>

#include "test/backends/cuda/fake/emulator/block.h"

// The operations that lanes of a warp do together.

namespace fake_cuda {
namespace {

using sy_on_host::Collective;

constexpr unsigned kLanes = 32;
// The value that a lane reads from a lane that did not take part.
constexpr uint64_t kNoValue = 0xdeadbeefdeadbeef;

uint64_t combine(Collective kind, uint64_t a, uint64_t b) {
  const auto sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
  switch (kind) {
    case Collective::kAdd: return a + b;
    case Collective::kMin: return sb < sa ? b : a;
    case Collective::kMax: return sa < sb ? b : a;
    case Collective::kMinUnsigned: return b < a ? b : a;
    case Collective::kMaxUnsigned: return a < b ? b : a;
    case Collective::kAnd: return a & b;
    case Collective::kOr: return a | b;
    default: return a ^ b;
  }
}

}  // namespace

const char* name_of(Collective kind) {
  switch (kind) {
    case Collective::kSync: return "__syncwarp";
    case Collective::kShuffle: return "__shfl_*_sync";
    case Collective::kBallot: return "__ballot_sync (or any, all)";
    case Collective::kMatchAny: return "__match_any_sync";
    default: return "__reduce_*_sync";
  }
}

uint64_t BlockRunner::collective(Strand* me, Collective kind, unsigned mask,
                                 uint64_t value, int source) {
  const unsigned bit = 1u << me->lane;
  if ((mask & bit) == 0) {
    fail(
        me, Ending::kFailed,
        std::string(name_of(kind)) + " with a mask that lacks the lane itself");
  }
  Block& b = *me->block;
  Warp& warp = b.warps[me->warp];
  const unsigned lane = me->lane;
  warp.waiting[lane] = me;
  warp.values[lane] = value;
  warp.sources[lane] = source;
  Group* group = nullptr;
  for (Group& g : warp.groups) {
    if (g.kind == kind && g.mask == mask) group = &g;
  }
  if (group == nullptr) {
    group = &warp.groups.emplace_back(Group{kind, mask, 0});
  }
  group->arrived |= bit;
  if (group->arrived == (mask & warp.living)) {
    const Group whole = *group;
    *group = warp.groups.back();
    warp.groups.pop_back();
    finish_group(b, me->warp, whole);
  }
  wait(me);
  return warp.results[lane];
}

void BlockRunner::finish_group(Block& b, unsigned number, const Group& group) {
  Warp& warp = b.warps[number];
  if (checks_ && group.kind == Collective::kSync) {
    b.clocks.sync_warp(number, group.arrived);
  }
  const uint64_t* const values = warp.values;
  uint64_t all = 0;
  bool first = true;
  if (group.kind == Collective::kBallot || group.kind >= Collective::kAdd) {
    for (unsigned i = 0; i < kLanes; ++i) {
      if ((group.arrived >> i & 1) == 0) continue;
      if (group.kind == Collective::kBallot) {
        all |= uint64_t{values[i] != 0} << i;
      } else {
        all = first ? values[i] : combine(group.kind, all, values[i]);
      }
      first = false;
    }
  }
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((group.arrived >> i & 1) == 0) continue;
    uint64_t result = all;
    if (group.kind == Collective::kShuffle) {
      const auto from = static_cast<unsigned>(warp.sources[i]) & 31;
      result = group.arrived >> from & 1 ? values[from] : kNoValue;
    } else if (group.kind == Collective::kMatchAny) {
      for (unsigned j = 0; j < kLanes; ++j) {
        if ((group.arrived >> j & 1) != 0 && values[j] == values[i]) {
          result |= uint64_t{1} << j;
        }
      }
    }
    warp.results[i] = result;
    b.ready.push_back(warp.waiting[i]);
  }
}

// A lane has ended: others wait for it no more.
void BlockRunner::check_groups(Block& b, unsigned number) {
  Warp& warp = b.warps[number];
  for (size_t i = 0; i < warp.groups.size();) {
    const Group g = warp.groups[i];
    if (g.arrived == (g.mask & warp.living)) {
      warp.groups[i] = warp.groups.back();
      warp.groups.pop_back();
      finish_group(b, number, g);
    } else {
      ++i;
    }
  }
}

}  // namespace fake_cuda

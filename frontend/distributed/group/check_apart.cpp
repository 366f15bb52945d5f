#include <algorithm>
#include <iterator>
#include <vector>

#include "c10/process/error.h"
#include "frontend/distributed/group/collective_op.h"

namespace sy::distributed {

namespace {

struct Range {
  const char* begin;
  const char* end;
  bool operator<(const Range& o) const noexcept { return begin < o.begin; }
};

void add_range(std::vector<Range>& to, const Part& p) {
  if (p.bytes() > 0) to.push_back({p.data, p.data + p.bytes()});
}

// Whether it overlaps one of those, which are sorted and lie apart.
bool overlaps(const std::vector<Range>& sorted, const Range& r) {
  const auto next = std::lower_bound(sorted.begin(), sorted.end(), r);
  return (next != sorted.end() && next->begin < r.end) ||
         (next != sorted.begin() && std::prev(next)->end > r.begin);
}

}  // namespace

void check_apart(const Call& call, int rank, const Buffers& buffers) {
  const auto& [segments, in, out] = buffers;
  if (segments.size() <= 1 && out.empty()) return;
  const bool reads_only =
      (call.what == Collective::kBroadcast && rank == call.root) ||
      (call.what == Collective::kReduce && rank != call.root);
  std::vector<Range> written;
  written.reserve(segments.size() + out.size());
  if (!reads_only) {
    for (const Part& p : segments) add_range(written, p);
  }
  for (const Part& p : out) add_range(written, p);
  std::sort(written.begin(), written.end());
  bool apart = true;
  for (size_t i = 1; i < written.size(); ++i) {
    apart &= written[i - 1].end <= written[i].begin;
  }
  // The part that this rank sends to itself may already be in place.
  const Part* const own_in = buffers.in_for(rank);
  const Part* const own_out = buffers.out_for(rank);
  const bool in_place = own_in != nullptr && own_out != nullptr &&
                        own_in->data == own_out->data &&
                        own_in->bytes() == own_out->bytes();
  for (const Part& p : in) {
    if (!apart || p.bytes() == 0 || (in_place && &p == own_in)) continue;
    apart = !overlaps(written, {p.data, p.data + p.bytes()});
  }
  SY_CHECK(apart, Value,
           "[{}] tensors that are written must not share memory with others "
           "of the call; clone() them before",
           call.name);
}

}  // namespace sy::distributed

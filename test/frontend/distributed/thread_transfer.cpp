#include "test/frontend/distributed/thread_transfer.h"

#include <cstring>
#include <numeric>
#include <type_traits>

namespace sy::distributed {

namespace {

using Ranks = std::vector<ThreadTransfer*>;

template <class T>
T combine(T a, T b, ReduceOp op) {
  if constexpr (std::is_same_v<T, bool>) {
    switch (op) {
      case ReduceOp::PRODUCT:
      case ReduceOp::MIN:
      case ReduceOp::BAND: return a && b;
      case ReduceOp::BXOR: return a != b;
      default: return a || b;
    }
  } else if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    switch (op) {
      case ReduceOp::PRODUCT: return static_cast<T>(x * y);
      case ReduceOp::MIN: return b < a ? b : a;
      case ReduceOp::MAX: return a < b ? b : a;
      case ReduceOp::BAND: return static_cast<T>(x & y);
      case ReduceOp::BOR: return static_cast<T>(x | y);
      case ReduceOp::BXOR: return static_cast<T>(x ^ y);
      default: return static_cast<T>(x + y);
    }
  } else {
    using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const C x = a, y = b;
    switch (op) {
      case ReduceOp::PRODUCT: return T(x * y);
      case ReduceOp::MIN: return x < y || x != x ? a : b;
      case ReduceOp::MAX: return x > y || x != x ? a : b;
      default: return T(x + y);
    }
  }
}

template <class T>
void combine_all(void* acc, const void* x, int64_t n, ReduceOp op) {
  T* const a = static_cast<T*>(acc);
  const T* const b = static_cast<const T*>(x);
  for (int64_t i = 0; i < n; ++i) a[i] = combine<T>(a[i], b[i], op);
}

size_t bytes(const Transfer& t, int64_t count) {
  return static_cast<size_t>(count) * element_size(t.dtype);
}

// memcpy that takes no bytes from nowhere, and leaves what is in place.
void copy(void* to, const void* from, size_t n) {
  if (n > 0 && to != from) std::memcpy(to, from, n);
}

char* at(void* p, size_t offset) { return static_cast<char*>(p) + offset; }
const char* at(const void* p, size_t offset) {
  return static_cast<const char*>(p) + offset;
}

const void* source(const Transfer& t) { return t.in != nullptr ? t.in : t.out; }

std::vector<char> reduced(const Ranks& ranks, int64_t count, bool backwards) {
  const Transfer& t = ranks[0]->t;
  const size_t n = ranks.size();
  std::vector<char> acc(bytes(t, count));
  copy(acc.data(), ranks[backwards ? n - 1 : 0]->t.in, acc.size());
  for (size_t i = 1; i < n; ++i) {
    thread_reduce(acc.data(), ranks[backwards ? n - 1 - i : i]->t.in, count,
                  t.dtype, t.op);
  }
  return acc;
}

// The ranks' parts, one after another. In place, a rank's part is where it
// belongs in its `out`, if it has one.
void gather_into(const Ranks& ranks, const Transfer& to, int only_root) {
  const size_t part = bytes(to, to.count);
  for (size_t r = 0; r < ranks.size(); ++r) {
    const Transfer& from = ranks[r]->t;
    const bool whole = only_root < 0 || static_cast<size_t>(only_root) == r;
    const void* const p =
        whole && from.in == from.out ? at(from.out, r * part) : from.in;
    copy(at(to.out, r * part), p, part);
  }
}

void all_to_all(const Ranks& ranks) {
  const size_t size = element_size(ranks[0]->t.dtype);
  std::vector<std::vector<char>> sent;
  for (const ThreadTransfer* r : ranks) {
    const int64_t n =
        std::accumulate(r->in_counts.begin(), r->in_counts.end(), int64_t{0});
    sent.emplace_back(static_cast<size_t>(n) * size);
    copy(sent.back().data(), r->t.in, sent.back().size());
  }
  std::vector<size_t> taken(ranks.size());
  for (size_t to = 0; to < ranks.size(); ++to) {
    size_t offset = 0;
    for (size_t from = 0; from < ranks.size(); ++from) {
      const size_t n = static_cast<size_t>(ranks[to]->out_counts[from]) * size;
      copy(at(ranks[to]->t.out, offset), sent[from].data() + taken[from], n);
      taken[from] += n;
      offset += n;
    }
  }
}

void move(const Ranks& ranks, bool backwards) {
  const Transfer& t = ranks[0]->t;
  const size_t n = ranks.size(), root = static_cast<size_t>(t.peer);
  const size_t part = bytes(t, t.count);
  switch (t.what) {
    case Collective::kAllReduce: {
      const auto sum = reduced(ranks, t.count, backwards);
      for (auto* r : ranks) copy(r->t.out, sum.data(), part);
      return;
    }
    case Collective::kReduce: {
      const auto sum = reduced(ranks, t.count, backwards);
      return copy(ranks[root]->t.out, sum.data(), part);
    }
    case Collective::kReduceScatter: {
      const auto sum =
          reduced(ranks, t.count * static_cast<int64_t>(n), backwards);
      for (size_t r = 0; r < n; ++r) {
        copy(ranks[r]->t.out, sum.data() + r * part, part);
      }
      return;
    }
    case Collective::kBroadcast:
      for (auto* r : ranks) copy(r->t.out, source(ranks[root]->t), part);
      return;
    case Collective::kAllGather:
      for (size_t r = 0; r < n; ++r) gather_into(ranks, ranks[r]->t, -1);
      return;
    case Collective::kGather: return gather_into(ranks, ranks[root]->t, t.peer);
    case Collective::kScatter: {
      const Transfer from = ranks[root]->t;
      for (size_t r = 0; r < n; ++r) {
        if (r == root && from.in == from.out) continue;
        copy(ranks[r]->t.out, at(from.in, r * part), part);
      }
      return;
    }
    case Collective::kAllToAll: return all_to_all(ranks);
    default: return;
  }
}

bool reduces(Collective what) {
  return what == Collective::kAllReduce || what == Collective::kReduce ||
         what == Collective::kReduceScatter;
}
bool rooted(Collective what) {
  return what == Collective::kBroadcast || what == Collective::kReduce ||
         what == Collective::kGather || what == Collective::kScatter;
}

std::string text_of(const ThreadTransfer& r) {
  std::string text = text_of(r.t.what);
  text += ' ';
  text += dtype_name(r.t.dtype);
  text += '[' + std::to_string(r.t.count) + ']';
  if (reduces(r.t.what)) text += std::string(" ") + name_of(r.t.op);
  if (rooted(r.t.what)) text += " root " + std::to_string(r.t.peer);
  return text;
}

bool agree(const ThreadTransfer& a, const ThreadTransfer& b) {
  if (a.t.what != b.t.what) return false;
  if (a.t.what == Collective::kBarrier) return true;
  return a.t.dtype == b.t.dtype &&
         (a.t.what == Collective::kAllToAll || a.t.count == b.t.count) &&
         (!reduces(a.t.what) || a.t.op == b.t.op) &&
         (!rooted(a.t.what) || a.t.peer == b.t.peer);
}

}  // namespace

void thread_reduce(void* acc, const void* x, int64_t n, ScalarType dtype,
                   ReduceOp op) {
  switch (dtype) {
#define SY_CASE(cpp, Enum) \
  case ScalarType::Enum: return combine_all<cpp>(acc, x, n, op);
    SY_FORALL_SCALAR_TYPES(SY_CASE)
#undef SY_CASE
    case ScalarType::Undefined: return;
  }
}

std::string move_between(const Ranks& ranks, bool backwards) {
  for (size_t r = 1; r < ranks.size(); ++r) {
    if (agree(*ranks[0], *ranks[r])) continue;
    return "rank 0 began " + text_of(*ranks[0]) + ", rank " +
           std::to_string(r) + " " + text_of(*ranks[r]);
  }
  if (ranks[0]->t.what == Collective::kAllToAll) {
    for (size_t a = 0; a < ranks.size(); ++a) {
      for (size_t b = 0; b < ranks.size(); ++b) {
        const int64_t gives = ranks[a]->in_counts[b];
        const int64_t takes = ranks[b]->out_counts[a];
        if (gives == takes) continue;
        return "rank " + std::to_string(a) + " gives " + std::to_string(gives) +
               " elements to rank " + std::to_string(b) + ", which takes " +
               std::to_string(takes);
      }
    }
  }
  move(ranks, backwards);
  return "";
}

}  // namespace sy::distributed

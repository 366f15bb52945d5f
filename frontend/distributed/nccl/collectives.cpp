#include "frontend/distributed/nccl/collectives.h"

#include <vector>

namespace sy::distributed::nccl {

namespace {

int type_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Char: return kInt8;
    case ScalarType::Int: return kInt32;
    case ScalarType::Long: return kInt64;
    case ScalarType::Half: return kFloat16;
    case ScalarType::Float: return kFloat32;
    case ScalarType::Double: return kFloat64;
    case ScalarType::BFloat16: return kBfloat16;
    default: return kUint8;
  }
}

int op_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::PRODUCT: return kProd;
    case ReduceOp::MIN: return kMin;
    case ReduceOp::MAX: return kMax;
    default: return kSum;
  }
}

// One message of a group of them.
struct Part {
  bool sends;
  int peer;
  const void* in;
  void* out;
  size_t bytes;
};

// All messages go at the same time.
int exchange(const Api& api, const std::vector<Part>& parts, Comm comm,
             Stream stream) {
  int first = api.group_start();
  for (const Part& p : parts) {
    if (p.bytes == 0) continue;
    const int code =
        p.sends ? api.send(p.in, p.bytes, kUint8, p.peer, comm, stream)
                : api.recv(p.out, p.bytes, kUint8, p.peer, comm, stream);
    if (first == kSuccess && code != kInProgress) first = code;
  }
  const int code = api.group_end();
  return first != kSuccess ? first : code;
}

std::vector<Part> parts_of(const Transfer& t, int rank, int size) {
  std::vector<Part> parts;
  const size_t element = element_size(t.dtype), part = bytes_of(t);
  const char* in = static_cast<const char*>(t.in);
  char* out = static_cast<char*>(t.out);
  const bool at_root = rank == t.peer, in_place = t.in == t.out;
  for (int r = 0; r < size; ++r) {
    const auto i = static_cast<size_t>(r);
    const bool own = r == rank && in_place;
    if (t.what == Collective::kAllToAll) {
      const size_t gives = static_cast<size_t>(t.in_counts[r]) * element;
      const size_t takes = static_cast<size_t>(t.out_counts[r]) * element;
      parts.push_back({true, r, in, nullptr, gives});
      parts.push_back({false, r, nullptr, out, takes});
      in += gives;
      out += takes;
    } else if (t.what == Collective::kGather && at_root && !own) {
      parts.push_back({false, r, nullptr, out + i * part, part});
    } else if (t.what == Collective::kScatter && at_root && !own) {
      parts.push_back({true, r, in + i * part, nullptr, part});
    }
  }
  if (at_root && in_place) return parts;
  if (t.what == Collective::kGather) {
    parts.push_back({true, t.peer, in, nullptr, part});
  } else if (t.what == Collective::kScatter) {
    parts.push_back({false, t.peer, nullptr, out, part});
  }
  return parts;
}

}  // namespace

bool reduces(Collective what) noexcept {
  return what == Collective::kAllReduce || what == Collective::kReduce ||
         what == Collective::kReduceScatter;
}

bool reducible(ScalarType dtype, ReduceOp op) noexcept {
  if (dtype == ScalarType::Bool || dtype == ScalarType::Short) return false;
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::PRODUCT: return true;
    case ReduceOp::MIN:
    case ReduceOp::MAX: return !is_floating_type(dtype);
    default: return false;
  }
}

size_t bytes_of(const Transfer& t) noexcept {
  return static_cast<size_t>(t.count) * element_size(t.dtype);
}

bool moves_nothing(const Transfer& t, int size) noexcept {
  if (t.what != Collective::kAllToAll) return t.count == 0;
  for (int r = 0; r < size; ++r) {
    if (t.in_counts[r] != 0 || t.out_counts[r] != 0) return false;
  }
  return true;
}

std::function<int(Comm, Stream)> launch_of(const Api& api, const Transfer& t,
                                           int rank, int size) {
  const auto count = static_cast<size_t>(t.count);
  const size_t bytes = bytes_of(t);
  const size_t offset = bytes * static_cast<size_t>(rank);
  const int type = type_of(t.dtype), op = op_of(t.op), root = t.peer;
  const bool in_place = t.in == t.out;
  const void* in = t.in;
  void* out = t.out;
  switch (t.what) {
    case Collective::kAllReduce:
      return [=, &api](Comm c, Stream s) {
        return api.all_reduce(in, out, count, type, op, c, s);
      };
    case Collective::kBroadcast:
      if (in == nullptr) in = out;
      return [=, &api](Comm c, Stream s) {
        return api.broadcast(in, out, bytes, kUint8, root, c, s);
      };
    case Collective::kReduce:
      return [=, &api](Comm c, Stream s) {
        return api.reduce(in, out, count, type, op, root, c, s);
      };
    case Collective::kAllGather:
      if (in_place) in = static_cast<char*>(out) + offset;
      return [=, &api](Comm c, Stream s) {
        return api.all_gather(in, out, bytes, kUint8, c, s);
      };
    case Collective::kReduceScatter:
      if (in_place) out = static_cast<char*>(out) + offset;
      return [=, &api](Comm c, Stream s) {
        return api.reduce_scatter(in, out, count, type, op, c, s);
      };
    default:
      return [&api, parts = parts_of(t, rank, size)](Comm c, Stream s) {
        return exchange(api, parts, c, s);
      };
  }
}

}  // namespace sy::distributed::nccl

#include <algorithm>
#include <climits>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "aten/ops/factory.h"
#include "aten/tensor.h"
#include "c10/process/error.h"
#include "frontend/distributed/operators/collectives_pending.h"
#include "frontend/distributed/operators/named.h"

// The kernels of collectives.yaml, for all devices. They leave wrong arguments
// of one rank to the group's methods, which tell all ranks.

namespace sy::composite {

using distributed::group_for;
using distributed::kAsync;
using distributed::named;
using distributed::pending_result;
using distributed::reduce_op_of;
using distributed::ReduceOp;
using distributed::Work;

namespace {

// Narrows a rank or a tag; a number that no int holds is no rank either.
int narrowed(int64_t n) {
  return static_cast<int>(std::clamp<int64_t>(n, INT_MIN, INT_MAX));
}

// A copy for a call that reads it after it has returned: the program may write
// to `t`.
Tensor copy_of(const Tensor& t) { return t.clone(MemoryFormat::Contiguous); }

Tensor empty_of(IntArrayRef sizes, const Tensor& like) {
  return sy::empty(sizes, like.options());
}

// The sizes of `t` with another number of rows. A tensor without dims has one
// row.
std::vector<int64_t> with_rows(const Tensor& t, int64_t rows) {
  std::vector<int64_t> sizes(t.sizes().begin(), t.sizes().end());
  if (sizes.empty()) sizes.push_back(1);
  sizes[0] = rows;
  return sizes;
}

int64_t rows_of(const Tensor& t) { return t.dim() == 0 ? 1 : t.size(0); }

// The rows that come in an all_to_all; splits that are wrong are refused by the
// group.
int64_t rows_of_splits(IntArrayRef splits) {
  int64_t rows = 0;
  for (const int64_t s : splits) {
    if (s < 0 || __builtin_add_overflow(rows, s, &rows)) return 0;
  }
  return rows;
}

std::span<const int64_t> span_of(const OptionalIntArrayRef& splits) {
  if (!splits) return {};
  return {splits->data(), splits->size()};
}

// Calls begin(by). A name that is none is refused by the group too, so that no
// rank waits for this one.
template <class F>
Work reduced_by(const char* op, std::string_view name, const F& begin) {
  return named(op, [&] {
    ReduceOp by;
    try {
      by = reduce_op_of(name);
    } catch (const Error&) {
      try {
        begin(static_cast<ReduceOp>(UINT8_MAX));
      } catch (const Error&) {
      }
      throw;
    }
    return begin(by);
  });
}

std::vector<Tensor> pending_results(const std::vector<Tensor>& outs,
                                    const Work& work) {
  std::vector<Tensor> results;
  results.reserve(outs.size());
  for (const Tensor& t : outs) results.push_back(pending_result(t, work));
  return results;
}

}  // namespace

// ---- the same sizes on all ranks

Tensor dist_all_reduce_begin(const Tensor& self, std::string_view op,
                             std::string_view group) {
  if (self.is_meta()) return empty_of(self.sizes(), self);
  const auto g = group_for("all_reduce", group);
  const Tensor out = copy_of(self);
  return pending_result(out, reduced_by("all_reduce", op, [&](ReduceOp by) {
                          return g->allreduce(out, by, kAsync);
                        }));
}

Tensor& dist_all_reduce_(Tensor& self, std::string_view op,
                         std::string_view group) {
  if (self.is_meta()) return self;
  const auto g = group_for("all_reduce", group);
  reduced_by("all_reduce", op,
             [&](ReduceOp by) { return g->allreduce(self, by); });
  return self;
}

Tensor dist_broadcast(const Tensor& self, int64_t src, std::string_view group) {
  if (self.is_meta()) return empty_of(self.sizes(), self);
  const auto g = group_for("broadcast", group);
  const Tensor out =
      g->rank() == src ? copy_of(self) : empty_of(self.sizes(), self);
  return pending_result(out, g->broadcast(out, narrowed(src), kAsync));
}

Tensor& dist_broadcast_(Tensor& self, int64_t src, std::string_view group) {
  if (!self.is_meta())
    group_for("broadcast", group)->broadcast(self, narrowed(src));
  return self;
}

Tensor dist_reduce(const Tensor& self, int64_t dst, std::string_view op,
                   std::string_view group) {
  if (self.is_meta()) return empty_of(self.sizes(), self);
  const auto g = group_for("reduce", group);
  const Tensor out = copy_of(self);
  return pending_result(out, reduced_by("reduce", op, [&](ReduceOp by) {
                          return g->reduce(out, narrowed(dst), by, kAsync);
                        }));
}

Tensor& dist_reduce_(Tensor& self, int64_t dst, std::string_view op,
                     std::string_view group) {
  if (self.is_meta()) return self;
  const auto g = group_for("reduce", group);
  reduced_by("reduce", op,
             [&](ReduceOp by) { return g->reduce(self, narrowed(dst), by); });
  return self;
}

// ---- all parts together, and apart

Tensor dist_all_gather_into_tensor(const Tensor& self, std::string_view group) {
  const auto g = group_for("all_gather_into_tensor", group);
  const Tensor out = empty_of(with_rows(self, rows_of(self) * g->size()), self);
  if (self.is_meta()) return out;
  return pending_result(out, named("all_gather_into_tensor", [&] {
                          return g->allgather_into_tensor(out, copy_of(self),
                                                          kAsync);
                        }));
}

Tensor& dist_all_gather_into_tensor_out(const Tensor& self,
                                        std::string_view group, Tensor& out) {
  if (self.is_meta()) return out;
  const auto g = group_for("all_gather_into_tensor", group);
  named("all_gather_into_tensor",
        [&] { return g->allgather_into_tensor(out, self); });
  return out;
}

std::vector<Tensor> dist_all_gather(const Tensor& self,
                                    std::string_view group) {
  const auto g = group_for("all_gather", group);
  std::vector<Tensor> outs;
  for (int r = 0; r < g->size(); ++r) {
    outs.push_back(empty_of(self.sizes(), self));
  }
  if (self.is_meta()) return outs;
  return pending_results(outs, g->allgather(outs, copy_of(self), kAsync));
}

Tensor dist_reduce_scatter_tensor(const Tensor& self, std::string_view op,
                                  std::string_view group) {
  const auto g = group_for("reduce_scatter_tensor", group);
  const int64_t rows = rows_of(self);
  if (self.is_meta()) {
    SY_CHECK(
        rows % g->size() == 0, Value,
        "[reduce_scatter_tensor] self: expected a multiple of {} rows, got "
        "{}",
        g->size(), self.sizes());
  }
  const Tensor out = empty_of(with_rows(self, rows / g->size()), self);
  if (self.is_meta()) return out;
  return pending_result(
      out, reduced_by("reduce_scatter_tensor", op, [&](ReduceOp by) {
        return g->reduce_scatter_tensor(out, copy_of(self), by, kAsync);
      }));
}

Tensor& dist_reduce_scatter_tensor_out(const Tensor& self, std::string_view op,
                                       std::string_view group, Tensor& out) {
  if (self.is_meta()) return out;
  const auto g = group_for("reduce_scatter_tensor", group);
  reduced_by("reduce_scatter_tensor", op, [&](ReduceOp by) {
    return g->reduce_scatter_tensor(out, self, by);
  });
  return out;
}

Tensor dist_all_to_all_single(const Tensor& self,
                              OptionalIntArrayRef output_split_sizes,
                              OptionalIntArrayRef input_split_sizes,
                              std::string_view group) {
  const int64_t rows =
      output_split_sizes ? rows_of_splits(*output_split_sizes) : rows_of(self);
  const Tensor out = empty_of(with_rows(self, rows), self);
  if (self.is_meta()) return out;
  const auto g = group_for("all_to_all_single", group);
  return pending_result(out, named("all_to_all_single", [&] {
                          return g->alltoall_base(
                              out, copy_of(self), span_of(output_split_sizes),
                              span_of(input_split_sizes), kAsync);
                        }));
}

std::vector<Tensor> dist_gather(const Tensor& self, int64_t dst,
                                std::string_view group) {
  const auto g = group_for("gather", group);
  const bool root = g->rank() == dst;
  std::vector<Tensor> outs;
  for (int r = 0; r < g->size(); ++r) {
    outs.push_back(root ? empty_of(self.sizes(), self)
                        : empty_of(with_rows(self, 0), self));
  }
  if (self.is_meta()) return outs;
  const Work work = g->gather(
      root ? std::span<const Tensor>(outs) : std::span<const Tensor>(),
      copy_of(self), narrowed(dst), kAsync);
  return pending_results(outs, work);
}

Tensor dist_scatter(const Tensor& self, int64_t src, std::string_view group) {
  const auto g = group_for("scatter", group);
  if (g->rank() != src) {
    const Tensor out = empty_of(self.sizes(), self);
    if (self.is_meta()) return out;
    return pending_result(out, g->scatter(out, {}, narrowed(src), kAsync));
  }
  const int64_t rows = rows_of(self), size = g->size();
  const bool divides = rows % size == 0 && self.dim() > 0;
  if (self.is_meta()) {
    SY_CHECK(divides, Value,
             "[scatter] self: expected a multiple of {} rows, got {}", size,
             self.sizes());
  }
  const Tensor out = empty_of(with_rows(self, rows / size), self);
  if (self.is_meta()) return out;
  const Tensor whole = copy_of(self);
  std::vector<Tensor> parts;
  for (int64_t r = 0; r < size && divides; ++r) {
    parts.push_back(whole.narrow(0, r * (rows / size), rows / size));
  }
  return pending_result(out, g->scatter(out, parts, narrowed(src), kAsync));
}

// ---- between two ranks, and without tensors

void dist_send(const Tensor& self, int64_t dst, int64_t tag,
               std::string_view group) {
  if (!self.is_meta()) {
    group_for("send", group)->send(self, narrowed(dst), narrowed(tag));
  }
}

Tensor dist_recv(const Tensor& like, int64_t src, int64_t tag,
                 std::string_view group) {
  const Tensor out = empty_of(like.sizes(), like);
  if (like.is_meta()) return out;
  return pending_result(out,
                        group_for("recv", group)
                            ->recv(out, narrowed(src), narrowed(tag), kAsync));
}

Tensor& dist_recv_(Tensor& self, int64_t src, int64_t tag,
                   std::string_view group) {
  if (!self.is_meta()) {
    group_for("recv", group)->recv(self, narrowed(src), narrowed(tag));
  }
  return self;
}

void dist_barrier(std::string_view group) {
  group_for("barrier", group)->barrier();
}

}  // namespace sy::composite

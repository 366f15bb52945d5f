#include "backends/cpu/indexing.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "aten/engine/copy.h"
#include "aten/engine/iter.h"
#include "aten/engine/view.h"
#include "backends/cpu/indexing_kernels_gen.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/tiles/kernels.h"

namespace sy::cpu {

namespace {

constexpr program::ComputeType kInt64 = program::ComputeType::i64;

// Sizes or strides of a tensor; one without dims has one of size 1.
Dims at_least_one(IntArrayRef list) {
  Dims out(list);
  if (out.empty()) out.push_back(1);
  return out;
}

// "[1, 0]", the place of element i.
std::string place(IntArrayRef sizes, int64_t i) {
  Dims at(sizes);
  for (int64_t d = at.size(); d-- > 0;) {
    at[d] = i % sizes[static_cast<size_t>(d)];
    i /= sizes[static_cast<size_t>(d)];
  }
  return to_string(IntArrayRef(at));
}

// `t` without the repetitions that it was expanded by.
Tensor unexpanded(const Tensor& t) {
  Dims sizes(t.sizes());
  bool expanded = false;
  for (int64_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] > 1 && t.strides()[static_cast<size_t>(d)] == 0) {
      sizes[d] = 1;
      expanded = true;
    }
  }
  return expanded
             ? alias_without_view(t, sizes, t.strides(), t.storage_offset())
             : t;
}

[[noreturn]] SY_COLD void reject(const char* op, const Tensor& index,
                                 int64_t dim, int64_t n, bool wrap) {
  const Tensor all = contiguous_cpu(index, kLong);
  const auto* p = static_cast<const int64_t*>(all.raw_data());
  for (int64_t i = 0; i < all.numel(); ++i) {
    SY_CHECK(p[i] >= (wrap ? -n : 0) && p[i] < n, Index,
             "[{}] index: expected indices in [{}, {}] for dim {} of size {}, "
             "got {} at {}",
             op, wrap ? -n : 0, n - 1, dim, n, p[i], place(index.sizes(), i));
  }
  fail(ErrorKind::Internal, "[{}] index: changed while it was read", op);
}

// Whether every one of them is in [low, n): the least and the greatest are.
bool all_in(const int64_t* p, int64_t count, int64_t low, int64_t n) {
  constexpr int64_t kPiece = 2048;  // read once from beyond the first cache
  const auto least = tiles::reduce_fn(tiles::Reduction::min, kInt64);
  const auto greatest = tiles::reduce_fn(tiles::Reduction::max, kInt64);
  std::atomic<bool> good{true};
  parallel_for(0, count, 2 * kIndexGrain, [&](int64_t begin, int64_t end) {
    int64_t first = p[begin], last = first;
    for (int64_t i = begin; i < end; i += kPiece) {
      least(&first, p + i, std::min(kPiece, end - i));
      greatest(&last, p + i, std::min(kPiece, end - i));
    }
    if (first < low || last >= n) good.store(false, std::memory_order_relaxed);
  });
  return good.load(std::memory_order_relaxed);
}

struct Strides {
  int64_t column, row;
};

Strides strides_of(const Iter& it, int operand) {
  return {it.stride(operand, 0), it.ndim() > 1 ? it.stride(operand, 1) : 0};
}

// Whole rows of `row` bytes: outer times n of them, out of outer times size.
void take_rows(const char* from, const int64_t* index, int64_t outer,
               int64_t size, int64_t n, size_t row, char* to) {
  const auto bytes = static_cast<int64_t>(row);
  parallel_for(0, outer * n, std::max<int64_t>(1, 4 * kIndexGrain / bytes),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   std::memcpy(to + i * bytes,
                               from + (i / n * size + index[i % n]) * bytes,
                               row);
                 }
               });
}

}  // namespace

Dims sizes_of(const TensorBase& t) { return at_least_one(t.sizes()); }
Dims strides_of(const TensorBase& t) { return at_least_one(t.strides()); }

Indices checked_indices(const char* op, const Tensor& index, int64_t dim,
                        int64_t n, bool wrap) {
  const Tensor few = unexpanded(index);
  Indices result{contiguous_cpu(few, kLong), strides_of(few)};
  const int64_t count = few.numel();
  if (SY_UNLIKELY(!all_in(result.data(), count, 0, n))) {
    if (!wrap || !all_in(result.data(), count, -n, n)) {
      reject(op, index, dim, n, wrap);
    }
    const Tensor wrapped(make_tensor(few.sizes(), kLong, Device(kCPU)));
    auto* const to = static_cast<int64_t*>(wrapped.raw_data());
    for (int64_t i = 0; i < count; ++i) {
      to[i] = result.data()[i] + (result.data()[i] < 0 ? n : 0);
    }
    result.tensor = wrapped;
  }
  result.strides = strides_of(result.tensor);
  const Dims sizes = sizes_of(few);
  for (int64_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) result.strides[d] = 0;
  }
  return result;
}

Indices checked_vector(const char* op, const Tensor& index, int64_t dim,
                       int64_t n, int64_t ndim, bool wrap) {
  Indices result = checked_indices(op, index, dim, n, wrap);
  const int64_t stride = result.strides[0];
  result.strides.resize(ndim);
  std::fill(result.strides.begin(), result.strides.end(), 0);
  result.strides[dim] = stride;
  return result;
}

void check_covers(const char* op, const char* argument, const Tensor& t,
                  const Tensor& index, int64_t dim) {
  const Dims have = sizes_of(t), want = sizes_of(index);
  SY_CHECK(have.size() == want.size(), Value,
           "[{}] {}: expected as many dims as index, {}, got {}", op, argument,
           want.size(), have.size());
  for (int64_t d = 0; d < want.size(); ++d) {
    SY_CHECK(d == dim || want[d] <= have[d], Value,
             "[{}] index: expected sizes of at most those of {}, {}, got {}",
             op, argument, IntArrayRef(have), IntArrayRef(want));
  }
}

void start_result(const Tensor& out, const Tensor& self) {
  if (!out.is_same(self)) copy_cpu(out, self);
}

void gather(size_t itemsize, const GatherPlan& p) {
  Iter it(p.sizes);
  it.add(p.to, itemsize, p.to_strides);
  it.add(const_cast<void*>(p.from), itemsize, p.from_strides);
  it.add(const_cast<int64_t*>(p.index), sizeof(int64_t), p.index_strides);
  it.finish();
  const Strides to = strides_of(it, 0), from = strides_of(it, 1),
                at = strides_of(it, 2);
  const auto item = static_cast<int64_t>(itemsize);
  const bool rows = at.column == 0 && to.column == item && from.column == item;
  const bool along_rows = at.column == sizeof(int64_t) && to.column == item &&
                          from.column == 0 && p.step == item;
  visit_element_size(itemsize, [&]<class T>() {
    it.for_each(kIndexGrain, [&](const Iter::Block& b) {
      for (int64_t r = 0; r < b.rows; ++r) {
        char* y = b.data[0] + r * to.row;
        const char* x = b.data[1] + r * from.row;
        const char* i = b.data[2] + r * at.row;
        if (rows) {
          const int64_t k = *reinterpret_cast<const int64_t*>(i);
          std::memcpy(y, x + k * p.step,
                      static_cast<size_t>(b.columns) * sizeof(T));
          continue;
        }
        if (along_rows) {
          const auto* k = reinterpret_cast<const int64_t*>(i);
          for (int64_t c = 0; c < b.columns; ++c) {
            reinterpret_cast<T*>(y)[c] = reinterpret_cast<const T*>(x)[k[c]];
          }
          continue;
        }
        for (int64_t c = 0; c < b.columns; ++c) {
          const int64_t k = *reinterpret_cast<const int64_t*>(i);
          *reinterpret_cast<T*>(y) =
              *reinterpret_cast<const T*>(x + k * p.step);
          y += to.column;
          x += from.column;
          i += at.column;
        }
      }
    });
  });
}

void index_select_out(const Tensor& self, int64_t dim, const Tensor& index,
                      const Tensor& out) {
  dim = wrap_dim("index_select", dim, self.dim());
  SY_CHECK(self.dim() > 0 || index.numel() == 1, Value,
           "[index_select] index: expected one index for a tensor without "
           "dims, got {}",
           index.numel());
  const Dims sizes = sizes_of(self);
  const Tensor all = contiguous_cpu(index, kLong);
  const Indices at =
      checked_vector("index_select", all, dim, sizes[dim], sizes.size());
  if (out.numel() == 0) return;
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < sizes.size(); ++d) {
    if (d != dim) (d < dim ? outer : inner) *= sizes[d];
  }
  const size_t row = static_cast<size_t>(inner) * self.itemsize();
  if (row >= 64 && self.is_contiguous() && out.is_contiguous()) {
    take_rows(static_cast<const char*>(self.raw_data()), at.data(), outer,
              sizes[dim], index.numel(), row,
              static_cast<char*>(out.raw_data()));
    return;
  }
  Dims from = strides_of(self);
  const int64_t step = from[dim] * static_cast<int64_t>(self.itemsize());
  from[dim] = 0;
  gather(self.itemsize(), {sizes_of(out), self.raw_data(), from, at.data(),
                           at.strides, step, out.raw_data(), strides_of(out)});
}

void gather_out(const Tensor& self, int64_t dim, const Tensor& index, bool,
                const Tensor& out) {
  dim = wrap_dim("gather", dim, self.dim());
  if (index.numel() == 0) return;
  check_covers("gather", "self", self, index, dim);
  const Indices at = checked_indices("gather", index, dim, sizes_of(self)[dim]);
  Dims from = strides_of(self);
  const int64_t step = from[dim] * static_cast<int64_t>(self.itemsize());
  from[dim] = 0;
  gather(self.itemsize(), {sizes_of(out), self.raw_data(), from, at.data(),
                           at.strides, step, out.raw_data(), strides_of(out)});
}

void index_add_out(const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& source, const Scalar& alpha,
                   const Tensor& out) {
  SY_CHECK(!alpha.is_boolean() || self.dtype() == kBool, Type,
           "[index_add] alpha: expected a number for {}, got a bool",
           self.dtype());
  SY_CHECK(!alpha.is_floating_point() || self.is_floating_point(), Type,
           "[index_add] alpha: expected a whole number for {}, got {}",
           self.dtype(), alpha);
  join_slices("index_add", self, dim, index, source, Join::Add, alpha, out);
}

void scatter_add_out(const Tensor& self, int64_t dim, const Tensor& index,
                     const Tensor& src, const Tensor& out) {
  join_elements("scatter_add", self, dim, index, src, Join::Add, out);
}

}  // namespace sy::cpu

#include "backends/cuda/indexing.h"

#include "aten/engine/view.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/copy.h"
#include "backends/cuda/support/walk.h"

namespace sy::cuda {

namespace {

Dims at_least_one(IntArrayRef list) {
  Dims out(list);
  if (out.empty()) out.push_back(1);
  return out;
}

// f(std::integral_constant<int, n>).
template <class F>
void with_count(size_t n, const F& f) {
  switch (n) {
    case 1: return f(std::integral_constant<int, 1>());
    case 2: return f(std::integral_constant<int, 2>());
    case 3: return f(std::integral_constant<int, 3>());
    default: return f(std::integral_constant<int, 4>());
  }
}
static_assert(kMostIndices == 4);

std::string_view digit(int n) {
  static constexpr std::string_view kDigits = "1234";
  return kDigits.substr(static_cast<size_t>(n - 1), 1);
}

void add_indices(Walker& iter, const std::vector<IndexUse>& indices) {
  for (const IndexUse& i : indices) {
    iter.add(i.index.raw_data(), i.index.itemsize(), i.strides);
  }
}

std::vector<const TensorBase*> operands(
    std::initializer_list<const TensorBase*> first,
    const std::vector<IndexUse>& indices) {
  std::vector<const TensorBase*> all(first);
  for (const IndexUse& i : indices) all.push_back(&i.index);
  return all;
}

// to (+)= first + base + what at most kMostIndices indices stand for.
void fold_some(const Tensor& to, IntArrayRef base,
               const std::vector<IndexUse>& indices, int argument, bool adds) {
  const int device = to.device().index();
  Walker iter(to.sizes());
  iter.add(to);
  iter.add(nullptr, 1, base);
  add_indices(iter, indices);
  iter.finish();
  with_count(indices.size(), [&]<class N>(N) {
    constexpr int kIndices = N::value;
    each_walk<2 + kIndices>(
        iter, [&](Walk<2 + kIndices>& w, char* const* data) {
          finish_walk(w);
          FoldParams<kIndices> p{};
          p.walk = w;
          p.to = data[0];
          p.first = reinterpret_cast<intptr_t>(data[1]);
          p.adds = adds ? 1 : 0;
          for (int k = 0; k < kIndices; ++k) {
            p.index[k] = operand_of(indices[static_cast<size_t>(k)], 1);
            p.index[k].data = data[2 + k];
          }
          p.argument = argument;
          const Define count[] = {{"SY_INDICES", digit(kIndices)}};
          const auto all = operands({&to}, indices);
          launch(device, kernel(device, "indexing.cu", "fold_indices", count),
                 shape_for_items(device, w.numel), &p, sizeof(p), all.data(),
                 all.size());
        });
  });
}

}  // namespace

Dims sizes_of(const TensorBase& t) { return at_least_one(t.sizes()); }
Dims strides_of(const TensorBase& t) { return at_least_one(t.strides()); }

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

void check_not_empty(const char* op, int64_t size) {
  SY_CHECK(size > 0, Index,
           "[{}] index: expected no indices for a dim of size 0, got some", op);
}

IndexOperand operand_of(const IndexUse& use, int64_t unit) {
  IndexOperand o;
  o.data = static_cast<const char*>(use.index.raw_data());
  o.step = use.step * unit;
  o.low = use.low;
  o.size = use.size;
  o.narrow = use.index.dtype() == kInt ? 1 : 0;
  return o;
}

Tensor fold_indices(Device device, IntArrayRef sizes, IntArrayRef base,
                    const std::vector<IndexUse>& indices, int argument) {
  const Tensor to = empty_on(device, sizes, kLong);
  constexpr size_t kMost = kMostIndices;
  for (size_t k = 0; k < indices.size(); k += kMost) {
    Dims none(base);
    for (int64_t& stride : none) stride = 0;
    fold_some(to, k == 0 ? base : IntArrayRef(none),
              {indices.begin() + static_cast<std::ptrdiff_t>(k),
               indices.begin() + static_cast<std::ptrdiff_t>(
                                     std::min(indices.size(), k + kMost))},
              argument, k > 0);
  }
  return to;
}

void read_at(const ReadPlan& plan) {
  if (plan.indices.size() > kMostIndices) {
    // The indices are folded over the dims where some index moves.
    ReadPlan folded = plan;
    Dims sizes = plan.sizes, base;
    for (int64_t d = 0; d < sizes.size(); ++d) {
      base.push_back(0);
      bool moves = false;
      for (const IndexUse& i : plan.indices) moves |= i.strides[d] != 0;
      if (!moves) sizes[d] = 1;
    }
    IndexUse all;
    all.index = fold_indices(plan.to->device(), sizes, base, plan.indices,
                             plan.argument);
    all.strides = Dims(all.index.strides());
    for (int64_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] == 1) all.strides[d] = 0;
    }
    all.size = kAnywhere;
    all.step = 1;
    folded.indices = {all};
    return read_at(folded);
  }
  const auto item = static_cast<int64_t>(plan.to->itemsize());
  const int device = plan.to->device().index();
  Walker iter(plan.sizes);
  iter.add(plan.to->raw_data(), plan.to->itemsize(), plan.to_strides);
  iter.add(plan.from->raw_data(), plan.from->itemsize(), plan.from_strides);
  add_indices(iter, plan.indices);
  iter.finish();
  uint64_t steps = 0;
  for (const IndexUse& i : plan.indices) {
    steps |= static_cast<uint64_t>(i.step * item);
  }
  with_count(plan.indices.size(), [&]<class N>(N) {
    constexpr int kIndices = N::value;
    each_walk<2 + kIndices>(
        iter, [&](Walk<2 + kIndices>& w, char* const* data) {
          const int64_t size = widen(w, 2, data, steps, item);
          finish_walk(w);
          ReadParams<kIndices> p{};
          p.walk = w;
          p.to = data[0];
          p.from = data[1];
          for (int k = 0; k < kIndices; ++k) {
            p.index[k] = operand_of(plan.indices[static_cast<size_t>(k)], item);
            p.index[k].data = data[2 + k];
          }
          p.argument = plan.argument;
          const Define defines[] = {{"SY_ITEM", item_text(size)},
                                    {"SY_INDICES", digit(kIndices)}};
          const auto all = operands({plan.to, plan.from}, plan.indices);
          launch(device, kernel(device, "indexing.cu", "read_items", defines),
                 shape_for_items(device, w.numel), &p, sizeof(p), all.data(),
                 all.size());
        });
  });
}

Tensor gather(const Tensor& x, int64_t dim, const Tensor& index, bool) {
  const Tensor self = on_device(x, index.device());
  dim = wrap_dim("gather", dim, self.dim());
  const Tensor out = empty_on(self.device(), index.sizes(), self.dtype());
  if (index.numel() == 0) return out;
  check_covers("gather", "self", self, index, dim);
  check_not_empty("gather", sizes_of(self)[dim]);
  const Tensor at = on_device(index, self.device());
  Dims from = strides_of(self);
  const int64_t step = from[dim];
  from[dim] = 0;
  read_at({sizes_of(out),
           &out,
           strides_of(out),
           &self,
           from,
           {{at, strides_of(at), 0, sizes_of(self)[dim], step}},
           2});
  return out;
}

Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index) {
  const Tensor self = on_device(x, index.device());
  dim = wrap_dim("index_select", dim, self.dim());
  SY_CHECK(self.dim() > 0 || index.numel() == 1, Value,
           "[index_select] index: expected one index for a tensor without "
           "dims, got {}",
           index.numel());
  Dims sizes(self.sizes());
  if (self.dim() > 0) sizes[dim] = index.numel();
  const Tensor out = empty_on(self.device(), sizes, self.dtype());
  if (out.numel() == 0) return out;
  check_not_empty("index_select", sizes_of(self)[dim]);
  const Tensor at = on_device(index, self.device());
  Dims from = strides_of(self), along = from;
  const int64_t step = from[dim];
  from[dim] = 0;
  for (int64_t& s : along) s = 0;
  along[dim] = strides_of(at)[0];
  read_at({sizes_of(out),
           &out,
           strides_of(out),
           &self,
           from,
           {{at, along, 0, sizes_of(self)[dim], step}},
           2});
  return out;
}

}  // namespace sy::cuda

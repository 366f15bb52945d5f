#include <algorithm>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/view.h"
#include "aten/ops/splitting.h"
#include "aten/ops/splitting_kernels.h"

namespace sy::composite {

namespace {

// More pieces than anyone can mean.
constexpr int64_t kMaxPieces = int64_t{1} << 20;

int64_t checked_dim(const char* op, const Tensor& self, int64_t dim) {
  SY_CHECK(self.dim() > 0, Value,
           "[{}] self: expected at least one dim, got none", op);
  return wrap_dim(op, dim, self.dim());
}

}  // namespace

std::vector<Tensor> tensor_split_sections(const Tensor& self, int64_t sections,
                                          int64_t dim) {
  const int64_t d = checked_dim("tensor_split", self, dim);
  SY_CHECK(sections > 0 && sections <= kMaxPieces, Value,
           "[tensor_split] sections: expected a number in [1, {}], got {}",
           kMaxPieces, sections);
  const int64_t size = self.size(d), extra = size % sections;
  std::vector<Tensor> out;
  out.reserve(static_cast<size_t>(sections));
  int64_t at = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t end = at + size / sections + (i < extra);
    out.push_back(self.slice(d, at, end));
    at = end;
  }
  return out;
}

std::vector<Tensor> tensor_split_indices(const Tensor& self,
                                         IntArrayRef indices, int64_t dim) {
  const int64_t d = checked_dim("tensor_split", self, dim);
  std::vector<Tensor> out;
  out.reserve(indices.size() + 1);
  int64_t at = 0;
  for (const int64_t i : indices) {
    out.push_back(self.slice(d, at, i));
    at = i;
  }
  out.push_back(self.slice(d, at, self.size(d)));
  return out;
}

std::vector<Tensor> tensor_split_tensor(const Tensor& self,
                                        const Tensor& indices, int64_t dim) {
  SY_CHECK(indices.defined() && indices.is_cpu() &&
               indices.scalar_type() == kLong && indices.dim() <= 1,
           Value,
           "[tensor_split] tensor_indices_or_sections: expected int64 of at "
           "most one dim on cpu, got {}",
           describe(indices));
  const Tensor list = contiguous_cpu(indices);
  const auto* const p = static_cast<const int64_t*>(list.raw_data());
  if (list.dim() == 0) return tensor_split_sections(self, *p, dim);
  return tensor_split_indices(self, {p, static_cast<size_t>(list.numel())},
                              dim);
}

namespace {

std::vector<Tensor> without_views(std::vector<Tensor> pieces) {
  for (Tensor& t : pieces) {
    t = alias_without_view(t, t.sizes(), t.strides(), t.storage_offset());
  }
  return pieces;
}

}  // namespace

std::vector<Tensor> unsafe_split(const Tensor& self, int64_t split_size,
                                 int64_t dim) {
  return without_views(self.split(split_size, dim));
}

std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self,
                                            IntArrayRef split_sizes,
                                            int64_t dim) {
  return without_views(self.split_with_sizes(split_sizes, dim));
}

std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks,
                                 int64_t dim) {
  const int64_t d = checked_dim("unsafe_chunk", self, dim);
  SY_CHECK(chunks > 0 && chunks <= kMaxPieces, Value,
           "[unsafe_chunk] chunks: expected a number in [1, {}], got {}",
           kMaxPieces, chunks);
  const int64_t size = self.size(d);
  if (size == 0) {  // as many empty pieces as asked for
    const std::vector<int64_t> zeros(static_cast<size_t>(chunks), 0);
    return sy::unsafe_split_with_sizes(self, zeros, d);
  }
  return sy::unsafe_split(self, (size + chunks - 1) / chunks, d);
}

}  // namespace sy::composite

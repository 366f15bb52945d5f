#include "aten/engine/apart.h"
#include "aten/engine/copy.h"
#include "backends/cuda/copy.h"
#include "backends/cuda/scatter.h"

namespace sy::cuda {

namespace {

constexpr int kIndexArgument = 2;  // of all that are here

int64_t span_of(const TensorBase& t) {
  return static_cast<int64_t>(storage_span(t).bytes / t.itemsize());
}

Route route_of(const char* op, const Tensor& out, int64_t dim) {
  SY_CHECK(out.is_cuda(), Value,
           "[{}] self: expected a tensor on the device of index, got {}", op,
           describe(out));
  Route r;
  r.op = op;
  r.dim = dim;
  return r;
}

}  // namespace

Source source_of(const Tensor& source, const Tensor& out) {
  const Tensor t = generated::apart(on_device(source, out.device()), out);
  return {t, strides_of(t)};
}

Route route_of_slices(const char* op, const Tensor& out, int64_t dim,
                      const Tensor& index, bool wrap) {
  dim = wrap_dim(op, dim, out.dim());
  Route r = route_of(op, out, dim);
  r.sizes = sizes_of(out);
  const int64_t size = r.sizes[dim];
  r.sizes[dim] = index.numel();
  if (index.numel() > 0) check_not_empty(op, size);
  r.argument = kIndexArgument;
  r.to_strides = strides_of(out);
  r.span = span_of(out);
  r.at.index = generated::apart(on_device(index, out.device()), out);
  for (int64_t d = 0; d < r.sizes.size(); ++d) r.at.strides.push_back(0);
  if (index.numel() > 1) r.at.strides[dim] = strides_of(r.at.index)[0];
  r.at.low = wrap ? -size : 0;
  r.at.size = size;
  r.at.step = r.to_strides[dim];
  return r;
}

void check_slices(const char* op, const Tensor& self, int64_t dim,
                  const Tensor& index, const Tensor& source) {
  dim = wrap_dim(op, dim, self.dim());
  Dims wanted = sizes_of(self);
  wanted[dim] = index.numel();
  SY_CHECK(IntArrayRef(sizes_of(source)) == IntArrayRef(wanted), Value,
           "[{}] source: expected sizes {}, those of self with one slice for "
           "each index, got {}",
           op, IntArrayRef(wanted), source.sizes());
}

Route route_of_elements(const char* op, const Tensor& out, int64_t dim,
                        const Tensor& index, const Tensor* src) {
  dim = wrap_dim(op, dim, out.dim());
  Route r = route_of(op, out, dim);
  r.sizes = sizes_of(index);
  if (index.numel() == 0) return r;
  if (src != nullptr) check_covers(op, "src", *src, index, -1);
  check_covers(op, "self", out, index, dim);
  const int64_t size = sizes_of(out)[dim];
  check_not_empty(op, size);
  r.argument = kIndexArgument;
  r.to_strides = strides_of(out);
  r.span = span_of(out);
  r.at.index = generated::apart(on_device(index, out.device()), out);
  r.at.strides = strides_of(r.at.index);
  for (int64_t d = 0; d < r.sizes.size(); ++d) {
    if (r.sizes[d] == 1) r.at.strides[d] = 0;
  }
  r.at.size = size;
  r.at.step = r.to_strides[dim];
  return r;
}

}  // namespace sy::cuda

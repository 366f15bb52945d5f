#include "backends/cuda/dnn/problem.h"

#include <algorithm>

#include "backends/cuda/blas/product.h"

namespace sy::cuda::dnn {

namespace {

bool is_aligned(const void* data) {
  return reinterpret_cast<uintptr_t>(data) % kAlignment == 0;
}

Dims dense_strides(IntArrayRef sizes, Order order) {
  Dims strides(sizes);
  int64_t step = 1;
  const auto lay = [&](size_t d) {
    strides[d] = step;
    step *= sizes[d];
  };
  if (order == Order::kLast) lay(1);
  for (size_t d = sizes.size(); d-- > 2;) lay(d);
  if (order == Order::kFirst) lay(1);
  lay(0);
  return strides;
}

View dense_view(const Tensor& t, Order order) {
  return {dense_strides(t.sizes(), order), true};
}

View view_of(const Tensor& t, Order order, bool has_images) {
  View view = dense_view(t, order);
  if (!is_aligned(t.raw_data())) return view;
  int64_t apart = view.strides[0];
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    const int64_t own = t.strides()[d];
    if (t.sizes()[d] == 1 || own == view.strides[d]) continue;
    if (d != 0 || !has_images || own < apart) return view;
    apart = own;
  }
  view.strides[0] = apart;
  view.is_other = false;
  return view;
}

// The operand has 2 dims of space at least, as the geometry has them.
Operand operand_of(const Tensor& t, const View& view) {
  Operand o;
  int at = 0;
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    if (d == 2 && t.sizes().size() == 3) {
      o.sizes[at] = 1;
      o.strides[at++] = view.strides[d] * t.sizes()[d];
    }
    o.sizes[at] = t.sizes()[d];
    o.strides[at++] = view.strides[d];
  }
  return o;
}

}  // namespace

Order order_of(const Convolution& c, ConvolutionPart result) {
  const auto is_last = [](const Tensor& t) {
    return t.suggest_memory_format() != MemoryFormat::Contiguous;
  };
  const bool last = result == ConvolutionPart::kByWeight
                        ? is_last(c.x) || is_last(c.y)
                        : is_last(c.made(result));
  return last ? Order::kLast : Order::kFirst;
}

Views views_of(const Convolution& c, Order order) {
  return {view_of(c.x, order, true), view_of(c.w, order, false),
          view_of(c.y, order, true)};
}

Views dense_views(const Convolution& c, Order order) {
  return {dense_view(c.x, order), dense_view(c.w, order),
          dense_view(c.y, order)};
}

Problem problem_of(const Convolution& c, ConvolutionPart result,
                   const Views& views) {
  Problem p;
  p.dtype = c.x.scalar_type();
  p.tf32 = p.dtype == kFloat && blas::allow_tf32();
  p.made = result;
  p.space = static_cast<int>(std::max<int64_t>(c.g.dims, 2));
  p.x = operand_of(c.x, views.x);
  p.w = operand_of(c.w, views.w);
  p.y = operand_of(c.y, views.y);
  const int absent = ConvolutionGeometry::kDims - p.space;
  std::copy(c.g.stride + absent, std::end(c.g.stride), p.stride);
  std::copy(c.g.padding + absent, std::end(c.g.padding), p.padding);
  std::copy(c.g.dilation + absent, std::end(c.g.dilation), p.dilation);
  return p;
}

}  // namespace sy::cuda::dnn

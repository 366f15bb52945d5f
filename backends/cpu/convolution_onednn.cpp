#include <algorithm>
#include <limits>

#include "aten/copy.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "backends/cpu/convolution.h"
#include "backends/cpu/onednn_api.h"
#include "backends/cpu/packed_weight.h"
#include "c10/parallel.h"
#include "c10/storage.h"

namespace sy::cpu {

namespace {

// From how many multiplications on oneDNN is faster than own loops.
constexpr int64_t kOneDnnWork = int64_t{1} << 17;

bool onednn_type(ScalarType t, OneDnnType* type) {
  switch (t) {
    case kFloat: *type = OneDnnType::f32; return true;
    case kBFloat16: *type = OneDnnType::bf16; return true;
    case kHalf: *type = OneDnnType::f16; return true;
    default: return false;
  }
}

bool is_channels_last(const Tensor& t) {
  return t.suggest_memory_format() != MemoryFormat::Contiguous;
}

// oneDNN's sizes are 32 bits in places.
bool is_in_range(const ConvolutionGeometry& g) {
  const auto fits = [](int64_t v) {
    return v <= std::numeric_limits<int32_t>::max();
  };
  return fits(g.batch) && fits(g.in) && fits(g.out) &&
         std::all_of(g.x, g.x + 3, fits) && std::all_of(g.y, g.y + 3, fits) &&
         std::all_of(g.padding, g.padding + 3, fits) &&
         std::all_of(g.stride, g.stride + 3, fits) &&
         std::all_of(g.dilation, g.dilation + 3, fits);
}

// t in that layout: itself, or a copy.
Tensor laid_out(const Tensor& t, MemoryFormat format, bool read) {
  if (t.is_contiguous(format)) return t;
  const Tensor copy = sy::empty(t.sizes(), t.options(), format);
  if (read) copy_cpu(copy, t);
  return copy;
}

}  // namespace

bool convolve_by_onednn(const Convolution& c, ConvolutionPart part) {
  const auto no = [](const auto&... why) {
    return kConvolutions.declines(kByOneDnn, why...);
  };
  OneDnnConvolution p;
  if (!onednn_type(c.x.dtype(), &p.type)) return no("dtype ", c.x.dtype());
  if (c.g.work() < kOneDnnWork) {
    return no(c.g.work(), " multiplications, fewer than ", kOneDnnWork);
  }
  if (!is_in_range(c.g)) return no("a size beyond 31 bits");
  const OneDnnApi* const api = onednn();
  if (api == nullptr) return no("not loaded (", why_no_onednn(), ")");
  const bool forward = part == ConvolutionPart::kForward;
  const bool by_input = part == ConvolutionPart::kByInput;
  p.part = forward    ? OneDnnPart::forward
           : by_input ? OneDnnPart::by_input
                      : OneDnnPart::by_weight;
  p.dims = c.g.dims;
  p.batch = c.g.batch;
  p.in = c.g.in;
  p.out = c.g.out;
  p.groups = c.g.groups;
  for (int d = 0; d < 3; ++d) {
    p.x_size[d] = c.g.x[d];
    p.y_size[d] = c.g.y[d];
    p.kernel[d] = c.g.kernel[d];
    p.stride[d] = c.g.stride[d];
    p.padding[d] = c.g.padding[d];
    p.dilation[d] = c.g.dilation[d];
  }
  const MemoryFormat last =
      c.g.dims == 3 ? MemoryFormat::ChannelsLast3d : MemoryFormat::ChannelsLast;
  p.channels_last = is_channels_last(c.x) || is_channels_last(c.y);
  p.w_channels_last = is_channels_last(c.w);
  const auto format = [&](bool is_last) {
    return is_last ? last : MemoryFormat::Contiguous;
  };
  const Tensor x = laid_out(c.x, format(p.channels_last), !by_input);
  const Tensor y = laid_out(c.y, format(p.channels_last), !forward);
  const Tensor w =
      laid_out(c.w, format(p.w_channels_last), forward || by_input);
  const Tensor bias =
      forward && c.bias.defined() ? contiguous_cpu(c.bias) : Tensor();
  p.x = x.data_ptr();
  p.y = y.data_ptr();
  p.w = w.data_ptr();
  p.bias = bias.defined() ? bias.data_ptr() : nullptr;
  // The sum over the batch would be cut by the number of threads.
  p.threads = part == ConvolutionPart::kByWeight || in_parallel_region()
                  ? 1
                  : get_num_threads();
  Storage room;
  p.allocate = [](void* context, size_t bytes) {
    auto& storage = *static_cast<Storage*>(context);
    storage = StorageImpl::allocate(bytes, Device(kCPU));
    return storage->data();
  };
  p.context = &room;
  PackedWeight packed(
      part != ConvolutionPart::kByWeight && w.is_same(c.w) ? &c.w : nullptr);
  p.packed = packed.why_not() == nullptr ? &PackedWeight::memory : nullptr;
  p.packed_context = &packed;
  if (!api->convolution(&p)) return no("it has none, or only a reference");
  packed.keep();
  kConvolutions.takes(kByOneDnn);
  const Tensor& written = forward ? y : by_input ? x : w;
  const Tensor& target = forward ? c.y : by_input ? c.x : c.w;
  if (!written.is_same(target)) copy_cpu(target, written);
  if (by_input && c.bias.defined()) {
    Dims sizes(target.sizes());
    for (int64_t d = 0; d < sizes.size(); ++d) sizes[d] = d == 1 ? sizes[d] : 1;
    target.add_(c.bias.reshape(sizes));
  }
  return true;
}

}  // namespace sy::cpu

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "aten/engine/copy.h"
#include "aten/ops/factory.h"
#include "backends/cpu/convolution.h"
#include "backends/cpu/gemm/packed_weight.h"
#include "backends/cpu/onednn/api.h"
#include "c10/process/fork.h"
#include "c10/process/parallel.h"
#include "c10/tensor/storage.h"

namespace sy::cpu {

namespace {

// The fewest multiplications for which oneDNN is faster than own loops.
constexpr int64_t kOneDnnWork = int64_t{1} << 17;
// The same where each of 16 channels or more is one of its own.
constexpr int64_t kOneDnnWorkApart = int64_t{1} << 13;

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

bool run(const Convolution& c, ConvolutionPart part) {
  OneDnnConvolution p;
  if (!onednn_type(c.x.dtype(), &p.type) ||
      !onednn_type(c.w.dtype(), &p.w_type)) {
    return false;
  }
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
  p.x = x.raw_data();
  p.y = y.raw_data();
  p.w = w.raw_data();
  p.bias = bias.defined() ? bias.raw_data() : nullptr;
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
  const ForkSection section;
  if (!onednn()->convolution(&p)) return false;
  packed.keep();
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

// Note [The derivative by weight in parts]
// It is a sum over all images: oneDNN's threads would cut it by their number.
// It is computed in parts that depend on sizes alone, one thread each: of the
// images, summed up in order, where weights are few; of y's channels otherwise.
constexpr int64_t kMostParts = 8;
constexpr int64_t kPartWork = int64_t{1} << 24;
constexpr int64_t kPartChannels = 64;

struct Parts {
  int64_t of_batch = 1, of_channels = 1;
};

Parts parts_of(const Convolution& c) {
  const ConvolutionGeometry& g = c.g;
  const int64_t most = std::min(kMostParts, g.work() / kPartWork);
  const int64_t affordable = (c.x.numel() + c.y.numel()) / (2 * c.w.numel());
  const int64_t n = std::min({most, g.batch, affordable});
  if (n > 1) return {n, 1};
  if (g.groups != 1) return {};
  return {1, std::max<int64_t>(1, std::min(most, g.out / kPartChannels))};
}

// f(part, first, number) for n parts of a range; whether all returned true.
template <class F>
bool for_parts(int64_t n, int64_t range, const F& f) {
  std::atomic<bool> all{true};
  parallel_for(0, n, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = range * i / n;
      if (!f(i, first, range * (i + 1) / n - first)) all = false;
    }
  });
  return all;
}

bool by_weight(const Convolution& c) {
  const Parts parts = parts_of(c);
  if (parts.of_batch > 1) {
    // Sums of narrow floats are rounded once, at the end.
    std::vector<Tensor> sums(static_cast<size_t>(parts.of_batch));
    for (Tensor& sum : sums) {
      sum = sy::empty_like(c.w, c.w.options().dtype(kFloat));
    }
    const auto part = [&](int64_t i, int64_t first, int64_t n) {
      Convolution p = c;
      p.g.batch = n;
      p.x = c.x.narrow(0, first, n);
      p.y = c.y.narrow(0, first, n);
      p.w = sums[static_cast<size_t>(i)];
      return run(p, ConvolutionPart::kByWeight);
    };
    if (!for_parts(parts.of_batch, c.g.batch, part)) {
      return run(c, ConvolutionPart::kByWeight);
    }
    for (size_t i = 1; i < sums.size(); ++i) sums[0].add_(sums[i]);
    copy_cpu(c.w, sums[0]);
    return true;
  }
  return for_parts(parts.of_channels, c.g.out,
                   [&](int64_t, int64_t first, int64_t n) {
                     Convolution p = c;
                     p.g.out = n;
                     p.y = c.y.narrow(1, first, n);
                     p.w = c.w.narrow(0, first, n);
                     return run(p, ConvolutionPart::kByWeight);
                   });
}

}  // namespace

bool convolve_by_onednn(const Convolution& c, ConvolutionPart part) {
  const auto no = []<class... A>(FormatOf<A...> why, const A&... arguments) {
    return kConvolutions.declines(kByOneDnn, why, arguments...);
  };
  OneDnnType type;
  if (!onednn_type(c.x.dtype(), &type)) return no("dtype {}", c.x.dtype());
  const bool apart =
      c.g.groups >= 16 && c.g.groups == c.g.in && c.g.groups == c.g.out;
  const int64_t least = apart ? kOneDnnWorkApart : kOneDnnWork;
  if (c.g.work() < least) {
    return no("{} multiplications, fewer than {}", c.g.work(), least);
  }
  if (!is_in_range(c.g)) return no("a size beyond 31 bits");
  if (onednn() == nullptr) return no("not loaded ({})", why_no_onednn());
  if (!(part == ConvolutionPart::kByWeight ? by_weight(c) : run(c, part))) {
    return no("it has none, or only a reference");
  }
  kConvolutions.takes(kByOneDnn);
  return true;
}

}  // namespace sy::cpu

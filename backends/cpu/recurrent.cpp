#include <limits>

#include "aten/engine/copy.h"
#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/recurrent_kernels.h"
#include "backends/cpu/gemm/packed_weight.h"
#include "backends/cpu/onednn/api.h"
#include "backends/cpu/recurrent_kernels_gen.h"
#include "c10/dispatch/implementation.h"
#include "c10/process/fork.h"
#include "c10/process/parallel.h"
#include "c10/tensor/storage.h"

namespace sy::cpu {

namespace {

// The fewest multiplications for which oneDNN is taken. It is faster from 2^17
// on, but a primitive for one more length takes a millisecond to make.
constexpr int64_t kOneDnnWork = int64_t{1} << 20;

enum : size_t { kOneDnn, kSteps };
const Implementations kLayers(
    "CPU", "layer of lstm", "lstm _lstm_layer",
    {{"oneDNN",
      "float32, from 2^20 multiplications on; no gradients, packed sequences "
      "or projections"},
     {"steps", "products of matrices and pointwise operators"}});

struct Layer {
  const Tensor &input, &hx, &cx, &w_ih, &w_hh;
  const std::optional<Tensor>&b_ih, &b_hh;
  bool reverse;

  int64_t work() const {
    return input.size(0) * input.size(1) * (w_ih.numel() + w_hh.numel());
  }
  Tensor bias() const {
    if (b_ih && b_hh) return *b_ih + *b_hh;
    if (b_ih || b_hh) return contiguous_cpu(b_ih ? *b_ih : *b_hh);
    return sy::zeros({w_ih.size(0)}, input.options());
  }
};

struct Result {
  Tensor output, h, c;
};

bool run_onednn(const Layer& l, Result* result) {
  const TensorOptions options = l.input.options();
  const Tensor x = contiguous_cpu(l.input), h = contiguous_cpu(l.hx);
  const Tensor c = contiguous_cpu(l.cx), bias = contiguous_cpu(l.bias());
  const Tensor w_x = contiguous_cpu(l.w_ih), w_h = contiguous_cpu(l.w_hh);
  Result r = {sy::empty({x.size(0), x.size(1), h.size(1)}, options),
              sy::empty(h.sizes(), options), sy::empty(h.sizes(), options)};
  PackedWeight packed_x(w_x.is_same(l.w_ih) ? &l.w_ih : nullptr);
  PackedWeight packed_h(w_h.is_same(l.w_hh) ? &l.w_hh : nullptr);
  const auto weight = [](const Tensor& w, PackedWeight& packed) {
    return OneDnnLstmWeight{
        w.raw_data(),
        packed.why_not() == nullptr ? &PackedWeight::memory : nullptr, &packed};
  };
  Storage room;
  OneDnnLstm p;
  p.steps = x.size(0);
  p.rows = x.size(1);
  p.in = x.size(2);
  p.hidden = h.size(1);
  p.reverse = l.reverse;
  p.x = x.raw_data();
  p.h = h.raw_data();
  p.c = c.raw_data();
  p.w_x = weight(w_x, packed_x);
  p.w_h = weight(w_h, packed_h);
  p.bias = bias.raw_data();
  p.y = r.output.raw_data();
  p.last_h = r.h.raw_data();
  p.last_c = r.c.raw_data();
  p.threads = in_parallel_region() ? 1 : get_num_threads();
  p.allocate = [](void* context, size_t bytes) {
    auto& storage = *static_cast<Storage*>(context);
    storage = StorageImpl::allocate(bytes, Device(kCPU));
    return storage->data();
  };
  p.context = &room;
  const ForkSection section;
  if (!onednn()->lstm(&p)) return false;
  packed_x.keep();
  packed_h.keep();
  *result = std::move(r);
  return true;
}

// oneDNN's sizes are 32 bits in places.
bool is_in_range(const Layer& l) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return l.input.numel() <= kMost && l.w_ih.numel() <= kMost &&
         l.w_hh.numel() <= kMost &&
         l.input.size(0) * l.input.size(1) * l.w_ih.size(0) <= kMost;
}

bool by_onednn(const Layer& l, Result* result) {
  const auto no = []<class... A>(FormatOf<A...> why, const A&... arguments) {
    return kLayers.declines(kOneDnn, why, arguments...);
  };
  if (l.input.dtype() != kFloat) return no("dtype {}", l.input.dtype());
  if (l.work() < kOneDnnWork) {
    return no("{} multiplications, fewer than {}", l.work(), kOneDnnWork);
  }
  if (!is_in_range(l)) return no("a size beyond 31 bits");
  if (onednn() == nullptr) return no("not loaded ({})", why_no_onednn());
  if (!run_onednn(l, result)) return no("it has none, or only a reference");
  kLayers.takes(kOneDnn);
  return true;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lstm_layer(
    const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih,
    const Tensor& w_hh, const std::optional<Tensor>& b_ih,
    const std::optional<Tensor>& b_hh, bool reverse) {
  Result r;
  if (by_onednn({input, hx, cx, w_ih, w_hh, b_ih, b_hh, reverse}, &r)) {
    return {r.output, r.h, r.c};
  }
  kLayers.takes(kSteps);
  return composite::lstm_layer_by_steps(input, hx, cx, w_ih, w_hh, b_ih, b_hh,
                                        reverse);
}

}  // namespace sy::cpu

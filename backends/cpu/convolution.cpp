#include "backends/cpu/convolution.h"

#include <limits>

#include "aten/engine/copy.h"
#include "aten/engine/structured.h"
#include "aten/engine/view.h"
#include "backends/cpu/convolution_kernels_gen.h"
#include "backends/cpu/gemm/matrix.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

using Part = ConvolutionPart;

// The fewest multiplications for which a copy of the places that are seen pays.
constexpr int64_t kLeastCopied = int64_t{1} << 20;

Tensor tensor_of(const std::optional<Tensor>& t) { return t ? *t : Tensor(); }

// Whether products of matrices are better than oneDNN, which would change the
// layout of too much for what it does with it, or fill its vectors with
// channels that are not there.
bool prefers_products(const Convolution& c, Part part) {
  const auto no = []<class... A>(FormatOf<A...> why, const A&... arguments) {
    return kConvolutions.declines(kByProducts, why, arguments...);
  };
  const ConvolutionGeometry& g = c.g;
  const bool is_float = c.x.dtype() == kFloat;
  if (!c.x.is_contiguous() || !c.y.is_contiguous()) return no("not contiguous");
  if (is_float && is_product(g)) {
    return g.batch < 4 || part == Part::kByWeight ||
           (part == Part::kForward && g.y_places() >= 128) ||
           no("{} images, more than 3", g.batch);
  }
  if (g.groups != 1) return no("{} groups", g.groups);
  const bool many = is_float && g.out >= 64;
  switch (part) {
    case Part::kByInput:
      return g.in <= (many ? 8 : 4) || no("{} channels", g.in);
    case Part::kByWeight:
      return (many && g.in > 3 && g.in < 16) || no("{} channels", g.in);
    default: return no("more than one tap, or dtype {}", c.x.dtype());
  }
}

// Returns c or, for a single tap that skips places, forward or by weight, the
// same convolution of a copy of the places that it sees, without steps.
Convolution without_steps(const Convolution& c, Part part) {
  ConvolutionGeometry g = c.g;
  const bool steps = g.stride[0] != 1 || g.stride[1] != 1 || g.stride[2] != 1;
  const bool borders =
      g.padding[0] != 0 || g.padding[1] != 0 || g.padding[2] != 0;
  if (part == Part::kByInput || g.taps() != 1 || !steps || borders ||
      g.work() < kLeastCopied || c.x.dtype() != kFloat ||
      !c.x.is_contiguous()) {
    return c;
  }
  Dims sizes(c.x.sizes()), strides(c.x.strides());
  const int absent = ConvolutionGeometry::kDims - static_cast<int>(g.dims);
  for (int d = absent; d < ConvolutionGeometry::kDims; ++d) {
    sizes[d - absent + 2] = g.y[d];
    strides[d - absent + 2] *= g.stride[d];
    g.x[d] = g.y[d];
    g.stride[d] = 1;
  }
  const Tensor seen =
      alias_without_view(c.x, sizes, strides, c.x.storage_offset());
  return {g, contiguous_cpu(seen), c.w, c.y, c.bias, c.op};
}

void run(const Convolution& given, Part part) {
  const Convolution c = without_steps(given, part);
  const Tensor& written = c.made(part);
  if (written.numel() == 0) return;
  if (c.g.work() == 0) {
    written.zero_();
    if (c.bias.defined()) {
      Dims sizes(written.sizes());
      for (int64_t d = 0; d < sizes.size(); ++d)
        sizes[d] = d == 1 ? sizes[d] : 1;
      copy_cpu(written, c.bias.reshape(sizes));
    }
    return;
  }
  const bool as_products = prefers_products(c, part);
  if (!as_products && convolve_by_onednn(c, part)) return;
  const int64_t pairs = c.g.group_in() * c.g.group_out();
  if (pairs <= 2) {
    kConvolutions.takes(kByRows);
    return convolve_by_rows(c, part);
  }
  if (as_products) {
    kConvolutions.takes(kByProducts);
  } else {
    kConvolutions.declines(kByRows, "{} pairs of channels in a group", pairs);
    kConvolutions.takes(kByColumns);
  }
  convolve_by_columns(c, part);
}

}  // namespace

const Implementations kConvolutions(
    "CPU", "convolution", "convolution convolution_backward",
    {{"products",
      "contiguous: float32 of one tap without borders, its steps by a copy of "
      "what it sees, up to 3 images, forward "
      "of planes of 128, by weight; by input of up to 4 channels; float32 with "
      "64 channels of the result by input of up to 8, by weight of 4 to 15"},
     {"oneDNN",
      "float32, bfloat16, float16 from 2^17 multiplications on, 2^13 of 16 "
      "channels or more apart, where oneDNN has more than a reference"},
     {"rows", "groups of up to 2 pairs of channels"},
     {"columns", "all others: products of the taps, written out by tiles"}});

Tensor convolution(const Tensor& input, const Tensor& weight,
                   const std::optional<Tensor>& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, int64_t groups) {
  const Tensor b = tensor_of(bias);
  return convolve(plan_convolution("convolution", input, weight, b,
                                   {stride, padding, dilation, transposed,
                                    output_padding, groups}),
                  input, weight, b, &run);
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor& grad_output, const Tensor& input, const Tensor& weight,
    OptionalIntArrayRef, IntArrayRef stride, IntArrayRef padding,
    IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
    int64_t groups, ArrayRef<bool> output_mask) {
  return convolve_backward(
      plan_convolution(
          "convolution_backward", input, weight, Tensor(),
          {stride, padding, dilation, transposed, output_padding, groups}),
      grad_output, input, weight, output_mask, &run);
}

// One product for each tap, of all steps and batches that it sees.
void conv_tbc_out(const Tensor& self, const Tensor& weight, const Tensor& bias,
                  int64_t pad, const Tensor& out) {
  copy_cpu(out, bias);
  const Tensor x = contiguous_cpu(self);
  const Tensor w = contiguous_cpu(weight);
  Tensor y = out.is_contiguous() ? out : contiguous_cpu(out);
  const int64_t batch = x.sizes()[1], in = x.sizes()[2], n = y.sizes()[2];
  const auto item = static_cast<int64_t>(x.itemsize());
  if (in == 0 || out.numel() == 0) return;
  for (int64_t k = 0; k < w.sizes()[0]; ++k) {
    // Step t of y sees step t + k - pad of x.
    const int64_t first = std::max<int64_t>(0, pad - k);
    const int64_t last = std::min(y.sizes()[0], x.sizes()[0] + pad - k);
    if (last <= first) continue;
    const int64_t rows = (last - first) * batch;
    char* const from = static_cast<char*>(x.raw_data()) +
                       (first + k - pad) * batch * in * item;
    char* const taps = static_cast<char*>(w.raw_data()) + k * in * n * item;
    char* const to =
        static_cast<char*>(y.raw_data()) + first * batch * n * item;
    multiply("conv_tbc", x.dtype(), {from, rows, in, in, 1},
             {taps, in, n, n, 1}, {to, rows, n, n, 1}, 1, 1, nullptr);
  }
  if (!y.is_same(out)) copy_cpu(out, y);
}

}  // namespace sy::cpu

#include <array>

#include "benchmarks/cuda/measure.h"

// The convolutions of ResNet-50, each once, with 32 images: bfloat16 with
// channels last, and float32 with channels first. peers/ has the same names.

namespace bench {
namespace {

using sy::Tensor;

struct Layer {
  int64_t in, out, kernel, stride, size;

  // "64_256_1x1_56", "128_128_3x3s2_56".
  std::string name() const {
    const std::string k = std::to_string(kernel);
    return std::to_string(in) + "_" + std::to_string(out) + "_" + k + "x" + k +
           (stride == 1 ? "" : "s" + std::to_string(stride)) + "_" +
           std::to_string(size);
  }
};
constexpr Layer kLayers[] = {
    {3, 64, 7, 2, 224},    {64, 64, 1, 1, 56},    {64, 64, 3, 1, 56},
    {64, 256, 1, 1, 56},   {256, 64, 1, 1, 56},   {256, 128, 1, 1, 56},
    {128, 128, 3, 2, 56},  {128, 512, 1, 1, 28},  {256, 512, 1, 2, 56},
    {512, 128, 1, 1, 28},  {128, 128, 3, 1, 28},  {512, 256, 1, 1, 28},
    {256, 256, 3, 2, 28},  {256, 1024, 1, 1, 14}, {512, 1024, 1, 2, 28},
    {1024, 256, 1, 1, 14}, {256, 256, 3, 1, 14},  {1024, 512, 1, 1, 14},
    {512, 512, 3, 2, 14},  {512, 2048, 1, 1, 7},  {1024, 2048, 1, 2, 14},
    {2048, 512, 1, 1, 7},  {512, 512, 3, 1, 7},
};

void run_layer(const Options& o, const Layer& l, sy::ScalarType dtype) {
  const bool last = dtype == sy::kBFloat16;
  const int64_t images = o.smoke ? 1 : 32, size = o.smoke ? 8 : l.size;
  const auto random = [&](sy::IntArrayRef sizes) {
    const Tensor t =
        sy::rand(sizes, sy::TensorOptions(device())).sub(0.5).to(dtype);
    return last ? t.contiguous(sy::MemoryFormat::ChannelsLast) : t;
  };
  const Tensor x = random({images, l.in, size, size});
  const Tensor w = random({l.out, l.in, l.kernel, l.kernel});
  const std::array<int64_t, 1> stride = {l.stride}, padding = {l.kernel / 2};
  const auto forward = [&] {
    return sy::convolution(x, w, std::nullopt, stride, padding, {1}, false, {0},
                           1);
  };
  const Tensor g = random(forward().sizes());
  const auto backward = [&](bool by_x) {
    const std::array<bool, 3> mask = {by_x, !by_x, false};
    sy::convolution_backward(g, x, w, std::nullopt, stride, padding, {1}, false,
                             {0}, 1, sy::ArrayRef<bool>(mask));
  };
  const std::string name = "conv_" + l.name() + (last ? "_bf16" : "_f32");
  report(name + "_fwd", device_time(o, [&] { forward(); }));
  report(name + "_dgrad", device_time(o, [&] { backward(true); }));
  report(name + "_wgrad", device_time(o, [&] { backward(false); }));
}

}  // namespace

void run_convolutions(const Options& o) {
  for (const sy::ScalarType dtype : {sy::kBFloat16, sy::kFloat}) {
    for (const Layer& l : kLayers) {
      if (!o.smoke || l.in < 128) run_layer(o, l, dtype);
    }
  }
}

}  // namespace bench

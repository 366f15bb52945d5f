#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "aten/backend/engines.h"
#include "aten/backend/node.h"
#include "aten/engine/copy.h"
#include "c10/device/device_guard.h"
#include "c10/dispatch/dispatcher.h"

// Pairs of equal tensors on the CPU and on a device, for tests that hold the
// engines of the device to those of the CPU.

namespace sy::cuda::testing {

// Numbers of everyday size, and in every dtype those at the edges: -0,
// infinities, NaN, denormals, the least and the largest integer.
inline void fill_with_edges(const Tensor& t, uint64_t seed) {
  std::mt19937_64 random(seed);
  const size_t size = t.itemsize();
  auto* const to = static_cast<char*>(t.raw_data());
  const auto put = [&]<class T>(size_t i, T x) {
    std::memcpy(to + i * size, &x, sizeof x);
  };
  static constexpr double kEdges[] = {0.0,
                                      -0.0,
                                      1.0,
                                      -1.0,
                                      0.5,
                                      __builtin_inf(),
                                      -__builtin_inf(),
                                      __builtin_nan(""),
                                      1e-40,
                                      -1e-310,
                                      3e38,
                                      65504.0};
  for (size_t i = 0; i < t.storage()->nbytes() / size; ++i) {
    const uint64_t bits = random();
    const bool edge = bits % 8 == 0;
    double x = static_cast<double>(bits % 40001) / 2000 - 10;
    if (edge) x = kEdges[(bits >> 32) % std::size(kEdges)];
    auto n = static_cast<int64_t>(bits >> 8) % 20 - 10;
    if (edge)
      n = static_cast<int64_t>((bits >> 8 & 1) ? bits : ~uint64_t{0} >> 1);
    switch (t.dtype()) {
      case ScalarType::Float: put(i, static_cast<float>(x)); break;
      case ScalarType::Double: put(i, x); break;
      case ScalarType::Half: put(i, Half(static_cast<float>(x))); break;
      case ScalarType::BFloat16: put(i, BFloat16(static_cast<float>(x))); break;
      case ScalarType::Bool: put(i, static_cast<uint8_t>(bits & 1)); break;
      case ScalarType::Byte: put(i, static_cast<uint8_t>(n)); break;
      case ScalarType::Char: put(i, static_cast<int8_t>(n)); break;
      case ScalarType::Short: put(i, static_cast<int16_t>(n)); break;
      case ScalarType::Int: put(i, static_cast<int32_t>(n)); break;
      default: put(i, n); break;
    }
  }
}

// One place each in memory of the host and of the device.
struct Twin {
  Tensor cpu, cuda;

  Twin view(std::vector<int64_t> sizes, std::vector<int64_t> strides,
            int64_t offset = 0) const {
    const auto of = [&](const Tensor& t) {
      return Tensor(t.impl()->alias(sizes, strides, offset));
    };
    return {of(cpu), of(cuda)};
  }
};

inline Device on_cuda() { return Device(kCUDA, 0); }

inline Twin twin_of(std::vector<int64_t> sizes, ScalarType dtype,
                    uint64_t seed = 1) {
  Twin p;
  p.cpu = Tensor(make_tensor(sizes, dtype, Device(kCPU)));
  fill_with_edges(p.cpu, seed);
  p.cuda = to_device(p.cpu, on_cuda());
  return p;
}

// Whether kernels run on a GPU. On the fake driver the mathematical functions
// of special functions are the host's, on a GPU they are CUDA's.
inline bool on_gpu() {
  return std::getenv("SWITCHYARD_CUDA_DRIVER") == nullptr;
}

// "" if all elements are equal, to the bit but for NaNs, or differ by no more
// than `share` of what is expected; or else the first difference.
inline std::string difference(const Tensor& expected, const Tensor& got,
                              double share = 0) {
  if (got.dtype() != expected.dtype()) return "dtypes differ";
  if (got.sizes() != expected.sizes()) return "sizes differ";
  const Tensor a = contiguous_cpu(expected);
  const Tensor b = contiguous_cpu(to_device(got, Device(kCPU)));
  const Tensor wide_a = contiguous_cpu(a, kDouble),
               wide_b = contiguous_cpu(b, kDouble);
  const size_t size = a.itemsize();
  for (size_t i = 0; i < static_cast<size_t>(a.numel()); ++i) {
    if (std::memcmp(static_cast<const char*>(a.raw_data()) + i * size,
                    static_cast<const char*>(b.raw_data()) + i * size,
                    size) == 0) {
      continue;
    }
    const double x = static_cast<const double*>(wide_a.raw_data())[i];
    const double y = static_cast<const double*>(wide_b.raw_data())[i];
    if (x != x && y != y) continue;
    if (std::abs(x - y) <= share * std::abs(x)) continue;
    return str("element {}: expected {}, got {}", i, x, y);
  }
  return "";
}

inline const PointwiseOp& pointwise_op(std::string_view name) {
  for (const OperatorHandle& op : Dispatcher::singleton().operators()) {
    if (op.name() != name) continue;
    const NodeDesc* const node = node_desc(op.entry());
    SY_CHECK(node != nullptr && node->pointwise != nullptr, Value,
             "{} is not pointwise", name);
    return *node->pointwise;
  }
  fail(ErrorKind::Value, "no operator {}", name);
}

inline const PointwiseEngine& cpu_engine() {
  return *engines_of(kCPU)->pointwise;
}

}  // namespace sy::cuda::testing

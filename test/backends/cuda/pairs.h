#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <sy/sy.h>

#include "c10/device/device_guard.h"
#include "c10/device/stream.h"

// For tests of kernels: the same tensors on the CPU and on the device, in all
// dtypes and in several layouts. The CPU's kernel says what is right, to the
// bit.

namespace sy::cuda::testing {

// Programs are interpreted: compiled in the background, they would take the
// machine from the tests.
inline const bool kInterprets =
    setenv("SWITCHYARD_CUDA_JIT", "off", /*overwrite=*/0) == 0;

inline const std::vector<ScalarType>& all_dtypes() {
  static const std::vector<ScalarType> list = {kByte, kChar,    kShort, kInt,
                                               kLong, kHalf,    kFloat, kDouble,
                                               kBool, kBFloat16};
  return list;
}

struct Pair {
  Tensor cpu, cuda;
};
inline Pair pair(const Tensor& t) { return {t, t.to(Device(kCUDA))}; }
// The same view of both.
inline Pair view(const Pair& p, const std::function<Tensor(const Tensor&)>& f) {
  return {f(p.cpu), f(p.cuda)};
}

// Small numbers, of either sign where there are signs.
inline Tensor numbers(IntArrayRef sizes, ScalarType dtype, unsigned seed = 1) {
  std::mt19937 random(seed);
  const Tensor t = empty(sizes, TensorOptions(kDouble));
  auto* const p = static_cast<double*>(t.data_ptr());
  for (int64_t i = 0; i < t.numel(); ++i) {
    const int v = static_cast<int>(random() % 41) - 20;
    p[i] = dtype == kByte   ? v + 20
           : dtype == kBool ? v % 2
                            : (is_floating_type(dtype) ? v * 0.37 : v);
  }
  return t.to(dtype);
}

// Indices in [low, n).
inline Tensor indices(IntArrayRef sizes, int64_t n, ScalarType dtype = kLong,
                      unsigned seed = 7, int64_t low = 0) {
  std::mt19937 random(seed);
  const Tensor t = empty(sizes, TensorOptions(kLong));
  auto* const p = static_cast<int64_t*>(t.data_ptr());
  for (int64_t i = 0; i < t.numel(); ++i) {
    p[i] =
        low + static_cast<int64_t>(random() % static_cast<unsigned>(n - low));
  }
  return t.to(dtype);
}

enum class LaidOut { kContiguous, kTransposed, kSliced, kExpanded, kOffset };
inline const std::vector<LaidOut>& all_layouts() {
  static const std::vector<LaidOut> list = {
      LaidOut::kContiguous, LaidOut::kTransposed, LaidOut::kSliced,
      LaidOut::kExpanded, LaidOut::kOffset};
  return list;
}
inline std::string name_of(LaidOut l) {
  static const char* const names[] = {"contiguous", "transposed", "sliced",
                                      "expanded", "offset"};
  return names[static_cast<int>(l)];
}

// A pair of these sizes in a layout; contiguous where the sizes allow no other.
template <class Make>
Pair laid_out(IntArrayRef sizes, LaidOut layout, const Make& make) {
  std::vector<int64_t> s = sizes.vec();
  if (s.empty()) return pair(make(IntArrayRef(s)));
  switch (layout) {
    case LaidOut::kTransposed: {
      if (s.size() < 2) break;
      std::swap(s.front(), s.back());
      const auto last = static_cast<int64_t>(s.size()) - 1;
      return view(pair(make(IntArrayRef(s))),
                  [&](const Tensor& t) { return t.transpose(0, last); });
    }
    case LaidOut::kSliced: {
      s.back() *= 2;
      return view(pair(make(IntArrayRef(s))),
                  [&](const Tensor& t) { return t.slice(-1, 0, s.back(), 2); });
    }
    case LaidOut::kExpanded: {
      if (s[0] == 0) break;
      s[0] = 1;
      return view(pair(make(IntArrayRef(s))),
                  [&](const Tensor& t) { return t.expand(sizes); });
    }
    case LaidOut::kOffset: {
      s[0] += 1;
      return view(pair(make(IntArrayRef(s))),
                  [&](const Tensor& t) { return t.slice(0, 1, s[0]); });
    }
    default: break;
  }
  return pair(make(IntArrayRef(s)));
}

inline Pair laid_out(IntArrayRef sizes, LaidOut layout, ScalarType dtype,
                     unsigned seed = 1) {
  return laid_out(sizes, layout,
                  [&](IntArrayRef s) { return numbers(s, dtype, seed); });
}

// Whether the two have the same sizes, dtype and bits.
inline ::testing::AssertionResult same(const Tensor& cpu, const Tensor& cuda) {
  if (!cuda.is_cuda()) {
    return ::testing::AssertionFailure() << "not on the device";
  }
  if (cpu.sizes() != cuda.sizes() || cpu.dtype() != cuda.dtype()) {
    return ::testing::AssertionFailure()
           << "expected " << describe(cpu) << ", got " << describe(cuda);
  }
  const Tensor a = cpu.contiguous(), b = cuda.to(kCPU).contiguous();
  const auto* const x = static_cast<const char*>(a.raw_data());
  const auto* const y = static_cast<const char*>(b.raw_data());
  const size_t item = a.itemsize();
  for (int64_t i = 0; i < a.numel(); ++i) {
    const size_t at = static_cast<size_t>(i) * item;
    if (std::memcmp(x + at, y + at, item) == 0) continue;
    return ::testing::AssertionFailure()
           << "element " << i << " of " << a.numel() << ": expected "
           << to_string(a.reshape({-1}).select(0, i).item()) << ", got "
           << to_string(b.reshape({-1}).select(0, i).item());
  }
  return ::testing::AssertionSuccess();
}

// f of the tensors on the CPU and of those on the device.
template <class F>
::testing::AssertionResult agrees(const F& f, const std::vector<Pair>& args) {
  std::vector<Tensor> cpu, cuda;
  for (const Pair& p : args) {
    cpu.push_back(p.cpu);
    cuda.push_back(p.cuda);
  }
  return same(f(cpu), f(cuda));
}

// The error that work on the device ends with.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
    synchronize(with_index(Device(kCUDA)));
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace sy::cuda::testing

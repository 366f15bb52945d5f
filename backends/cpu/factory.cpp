#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "aten/composite/ranges.h"
#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "aten/engine/iter.h"
#include "backends/cpu/factory_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/fill_ranges.h"
#include "backends/cpu/support/random_stream.h"
#include "c10/memory/pinned_memory.h"

namespace sy::cpu {

namespace {

SY_COLD Tensor empty_pinned(IntArrayRef size, ScalarType dtype) {
  checked_numel("empty", size, element_size(dtype));
  Dims strides;
  strides.resize(static_cast<int64_t>(size.size()));
  contiguous_strides(size, strides.data());
  return Tensor(make_pinned_tensor(size, strides, dtype,
                                   pinning_backend("empty", std::nullopt)));
}

// Libraries set and copy bytes by the widest vectors there are.
template <class T>
void fill_run(T* to, int64_t n, T value) {
  constexpr T kZero{};
  if (std::memcmp(&value, &kZero, sizeof(T)) == 0) {
    std::memset(static_cast<void*>(to), 0, static_cast<size_t>(n) * sizeof(T));
    return;
  }
  const int64_t piece = std::min<int64_t>(n, 4096 / sizeof(T));
  std::fill_n(to, piece, value);
  for (int64_t i = piece; i < n; i += piece) {
    std::memcpy(static_cast<void*>(to + i), to,
                static_cast<size_t>(std::min(piece, n - i)) * sizeof(T));
  }
}

// 0 to n - 1, each swapped with one before it or itself, from the last on. A
// block of words is for two elements.
template <class T>
void shuffle(const RandomStream& stream, int64_t n, T* p) {
  constexpr int64_t kBlocks = 256;
  uint32_t words[4 * kBlocks];
  std::iota(p, p + n, T(0));
  for (int64_t i = n - 1; i > 0;) {
    const int64_t first = i / (2 * kBlocks) * (2 * kBlocks);
    stream.words(static_cast<uint64_t>(first / 2), (i - first) / 2 + 1, words);
    for (; i > 0 && i >= first; --i) {
      const auto at = static_cast<uint64_t>(i - first);
      const uint64_t to =
          below(RandomStream::word64(words, at), static_cast<uint64_t>(i) + 1);
      std::swap(p[i], p[to]);
    }
  }
}

}  // namespace

Tensor empty(IntArrayRef size, std::optional<ScalarType> dtype,
             std::optional<Layout>, std::optional<Device> device,
             std::optional<bool> pin_memory,
             std::optional<MemoryFormat> memory_format) {
  const ScalarType t = dtype ? *dtype : default_dtype();
  Tensor result =
      SY_UNLIKELY(pin_memory.value_or(false))
          ? empty_pinned(size, t)
          : Tensor(make_tensor(size, t, device.value_or(Device(kCPU))));
  if (SY_UNLIKELY(memory_format.has_value() &&
                  *memory_format != MemoryFormat::Contiguous)) {
    SY_CHECK(*memory_format != MemoryFormat::Preserve, Value,
             "[empty] memory_format: expected a layout, got {}",
             *memory_format);
    int64_t strides[TensorImpl::kMaxDims];
    dense_strides_like(result, *memory_format, strides);
    result.impl()->set_sizes_and_strides(Dims(size), {strides, size.size()}, 0);
  }
  return result;
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride,
                     std::optional<ScalarType> dtype, std::optional<Layout>,
                     std::optional<Device> device,
                     std::optional<bool> pin_memory) {
  const ScalarType t = dtype.value_or(default_dtype());
  if (pin_memory.value_or(false)) {
    return Tensor(make_pinned_tensor(
        size, stride, t, pinning_backend("empty_strided", std::nullopt)));
  }
  return Tensor(
      make_tensor_strided(size, stride, t, device.value_or(Device(kCPU))));
}

Tensor& fill_(Tensor& self, const Scalar& value) {
  if (self.numel() == 0) return self;
  visit_all_dtypes("fill_", self.dtype(), [&]<class T>() {
    const T v = value.to<T>();
    if (self.is_contiguous()) {
      T* const to = static_cast<T*>(self.raw_data());
      parallel_for(0, self.numel(), kGenerateGrain,
                   [&](int64_t begin, int64_t end) {
                     fill_run(to + begin, end - begin, v);
                   });
      return;
    }
    Iter iter(self.sizes());
    iter.add(self);
    iter.finish();
    iter.for_each(kGenerateGrain, [&](const Iter::Block& b) {
      for (int64_t r = 0; r < b.rows; ++r) {
        char* p = b.data[0] + (b.rows > 1 ? r * iter.stride(0, 1) : 0);
        for (int64_t c = 0; c < b.columns; ++c) {
          *reinterpret_cast<T*>(p + c * iter.stride(0, 0)) = v;
        }
      }
    });
  });
  return self;
}

Tensor& arange_out(const Scalar& start, const Scalar& end, const Scalar& step,
                   Tensor& out) {
  resize_vector("arange", out, arange_size(start, end, step, out));
  visit_all_dtypes("arange", out.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      const int64_t a = start.to_long(), s = step.to_long();
      if (start.is_integral(true) && step.is_integral(true)) {
        // A sum that goes on: not all vectors can multiply 64 bits. It wraps.
        const auto by = static_cast<uint64_t>(s);
        generate_ranges<T>(out, [=](T* to, int64_t begin, int64_t end) {
          uint64_t v =
              static_cast<uint64_t>(a) + static_cast<uint64_t>(begin) * by;
          for (int64_t i = begin; i < end; ++i, v += by) {
            to[i] = static_cast<T>(v);
          }
        });
        return;
      }
    }
    const double a = start.to_double(), s = step.to_double();
    generate<T>(out, [=](int64_t i) {
      return static_cast<
          std::conditional_t<std::is_same_v<T, double>, double, float>>(
          a + static_cast<double>(i) * s);
    });
  });
  return out;
}

Tensor& linspace_out(const Scalar& start, const Scalar& end, int64_t steps,
                     Tensor& out) {
  SY_CHECK(steps >= 0, Value, "[linspace] steps: expected at least 0, got {}",
           steps);
  resize_vector("linspace", out, steps);
  const double a = start.to_double(), b = end.to_double();
  const double step = steps > 1 ? (b - a) / static_cast<double>(steps - 1) : 0;
  visit_all_dtypes("linspace", out.dtype(), [&]<class T>() {
    // Elements count from both ends, so that the last one is `end`.
    generate<T>(out, [=](int64_t i) {
      const double v = i < (steps + 1) / 2
                           ? a + step * static_cast<double>(i)
                           : b - step * static_cast<double>(steps - 1 - i);
      if constexpr (std::is_integral_v<T>) {
        return static_cast<int64_t>(v);
      } else if constexpr (std::is_same_v<T, double>) {
        return v;
      } else {
        return static_cast<float>(v);
      }
    });
  });
  return out;
}

Tensor& randperm_out(int64_t n, std::optional<Generator> generator,
                     Tensor& out) {
  SY_CHECK(n >= 0, Value, "[randperm] n: expected at least 0, got {}", n);
  SY_CHECK(out.dtype() != kBool, Type,
           "[randperm] dtype: expected a dtype of numbers, got bool");
  resize_vector("randperm", out, n);
  const RandomStream stream(generator, 2 * static_cast<uint64_t>(n));
  const bool narrow = n <= std::numeric_limits<int32_t>::max();
  const Tensor order(make_tensor(n, narrow ? kInt : kLong, Device(kCPU)));
  narrow ? shuffle(stream, n, static_cast<int32_t*>(order.raw_data()))
         : shuffle(stream, n, static_cast<int64_t*>(order.raw_data()));
  if (n > 0) {
    visit_all_dtypes("randperm", out.dtype(), [&]<class T>() {
      (void)Scalar(n - 1).to<T>();  // throws if the dtype is too narrow
    });
  }
  copy_cpu(out, order);
  return out;
}

}  // namespace sy::cpu

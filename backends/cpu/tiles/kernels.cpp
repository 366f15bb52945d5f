#include "backends/cpu/tiles/kernels.h"

#include <emmintrin.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string_view>

#include "backends/cpu/tiles/element16.h"
#include "backends/cpu/tiles/narrow.h"
#include "backends/cpu/tiles/reverse.h"
#include "backends/cpu/tiles/table.h"
#include "c10/process/environment.h"

namespace sy::cpu::tiles {

// Hidden, but not local: gold, which Bazel links with, gets the initial-exec
// offsets of local thread-locals wrong in shared objects.
namespace detail {
SY_TLS_FAST constinit thread_local bool division_by_zero = false;
}  // namespace detail

namespace {

using detail::division_by_zero;

bool supported(Isa isa) {
  switch (isa) {
    case Isa::sse4: return true;
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    case Isa::avx512:
      return supported(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw");
  }
  return false;
}

Isa limit() {
  const char* name = environment("SY_ISA");
  if (name == nullptr) return Isa::avx512;
  if (name == std::string_view("sse4")) return Isa::sse4;
  if (name == std::string_view("avx2")) return Isa::avx2;
  return Isa::avx512;
}

struct Kernels {
  KernelTable table = {};
  Isa isa = Isa::sse4;

  Kernels() {
    __builtin_cpu_init();
    const Isa most = limit();
    for (Isa candidate : {Isa::avx2, Isa::avx512}) {
      if (candidate <= most && supported(candidate)) isa = candidate;
    }
    fill(isa);
  }
  void fill(Isa chosen) {
    isa = chosen;
    fill_plain(table);
    fill_arithmetic(isa, table);
    fill_compare(isa, table);
    fill_compiled(isa, table);
    fill_integer(isa, table);
    fill_division(isa, table);
    fill_power(isa, table);
    fill_math_float(isa, table);
    fill_math_double(isa, table);
    fill_convert(isa, table);
    fill_reduce(isa, table);
    fill_choose(isa, table);
    fill_moments(isa, table);
    fill_transpose(isa, table);
  }
};

Kernels& kernels() {
  static Kernels instance;
  return instance;
}

// The fewest elements for which the choice of an instruction set pays.
constexpr int64_t kLeastVectors = 16;

template <class T>
void gather(void* dst, const void* src, int64_t stride, int64_t n) {
  T* d = static_cast<T*>(dst);
  const char* s = static_cast<const char*>(src);
  for (int64_t i = 0; i < n; ++i, s += stride) std::memcpy(d + i, s, sizeof(T));
}
template <class T>
void scatter(void* dst, int64_t stride, const void* src, int64_t n) {
  char* d = static_cast<char*>(dst);
  const T* s = static_cast<const T*>(src);
  for (int64_t i = 0; i < n; ++i, d += stride) std::memcpy(d, s + i, sizeof(T));
}

// Transposes in squares whose lines the first cache holds.
void transpose16(char* dst, int64_t dst_stride, const char* src,
                 int64_t src_stride, int64_t rows, int64_t cols) {
  constexpr int64_t kSide = 16;
  constexpr auto kSize = static_cast<int64_t>(sizeof(Element16));
  for (int64_t r = 0; r < rows; r += kSide) {
    for (int64_t c = 0; c < cols; c += kSide) {
      const int64_t last = std::min(cols, c + kSide);
      for (int64_t k = c; k < last; ++k) {
        gather<Element16>(dst + k * dst_stride + r * kSize,
                          src + r * src_stride + k * kSize, src_stride,
                          std::min(rows - r, kSide));
      }
    }
  }
}

}  // namespace

PrimFn prim_fn(lang::Prim prim, ComputeType type) noexcept {
  if (prim >= lang::Prim::kCount) return nullptr;
  return kernels().table.at(prim, type);
}

ConvertFn convert_fn(ScalarType from, ScalarType to) noexcept {
  if (from >= ScalarType::Undefined || to >= ScalarType::Undefined) {
    return nullptr;
  }
  return kernels().table.converts[static_cast<int>(from)][static_cast<int>(to)];
}

ReduceFn reduce_fn(Reduction r, ComputeType type) noexcept {
  return kernels().table.reduces[static_cast<int>(r)][static_cast<int>(type)];
}

ReduceRowsFn reduce_rows_fn(Reduction r, ComputeType type) noexcept {
  return kernels()
      .table.reduce_rows[static_cast<int>(r)][static_cast<int>(type)];
}

PrimFn narrow_prim_fn(lang::Prim prim, ScalarType narrow,
                      int float_operand) noexcept {
  return kernels().table.narrow(prim, narrow)[float_operand + 1];
}

PrimFn compiled_fn(const Program& program, ComputeType type) noexcept {
  if (type != ComputeType::f32 && type != ComputeType::f64) return nullptr;
  const auto place = static_cast<int>(program::find_compiled(program));
  if (place == 0) return nullptr;
  return kernels().table.compiled[place - 1][type == ComputeType::f64];
}

static bool number_is_zero(const Uniform& u, ComputeType type) {
  return type == ComputeType::f32 ? u.f32 == 0 : u.f64 == 0;
}

ReduceFn mapped_reduce_fn(Reduction r, const Program& map,
                          const Uniform* uniforms, ComputeType type) noexcept {
  if (type != ComputeType::f32 && type != ComputeType::f64) return nullptr;
  ReduceMap kind;
  if (map.n_steps == 1 && map.n_results == 1 && map.steps[0].a == 0 &&
      map.results[0].reg == map.steps[0].dst) {
    if (map.steps[0].op == lang::Prim::abs) {
      kind = ReduceMap::abs;
    } else if (map.steps[0].op == lang::Prim::square) {
      kind = ReduceMap::square;
    } else {
      return nullptr;
    }
  } else if (program::find_compiled(map) == program::Compiled::nansum_map &&
             number_is_zero(uniforms[0], type)) {
    kind = ReduceMap::numbers;
  } else {
    return nullptr;
  }
  return kernels().table.mapped_reduces[static_cast<int>(
      kind)][static_cast<int>(r)][type == ComputeType::f64];
}

ReduceFn narrow_reduce_fn(Reduction r, ScalarType narrow) noexcept {
  return kernels().table.narrow_reduces[static_cast<int>(r)]
                                       [KernelTable::narrow_index(narrow)];
}

ReduceRowsFn narrow_reduce_rows_fn(Reduction r, ScalarType narrow) noexcept {
  return kernels().table.narrow_reduce_rows[static_cast<int>(r)]
                                           [KernelTable::narrow_index(narrow)];
}

FindFn find_fn(ComputeType type) noexcept {
  return kernels().table.finds[static_cast<int>(type)];
}

ChooseRowsFn choose_rows_fn(bool max, ComputeType type) noexcept {
  return kernels().table.choose_rows[max ? 1 : 0][static_cast<int>(type)];
}

MomentsFn moments_fn(ComputeType type) noexcept {
  return kernels().table.moments[static_cast<int>(type)];
}

MomentsRowsFn moments_rows_fn(ComputeType type) noexcept {
  return kernels().table.moments_rows[static_cast<int>(type)];
}

void load_strided(size_t element_size, void* dst, const void* src,
                  int64_t stride, int64_t n) noexcept {
  if (stride == -static_cast<int64_t>(element_size) && n >= kLeastVectors) {
    return reverse_fn(element_size)(dst, src, n);
  }
  if (stride == 0 && n >= kLeastVectors && element_size <= 8) {
    const ComputeType type = element_size == 1   ? ComputeType::u8
                             : element_size == 2 ? ComputeType::i16
                             : element_size == 4 ? ComputeType::i32
                                                 : ComputeType::i64;
    return prim_fn(lang::Prim::copy, type)(dst, src, nullptr, nullptr, 1, n);
  }
  switch (element_size) {
    case 1: return gather<uint8_t>(dst, src, stride, n);
    case 2: return gather<uint16_t>(dst, src, stride, n);
    case 4: return gather<uint32_t>(dst, src, stride, n);
    case 16: return gather<Element16>(dst, src, stride, n);
    default: return gather<uint64_t>(dst, src, stride, n);
  }
}

void store_strided(size_t element_size, void* dst, int64_t stride,
                   const void* src, int64_t n) noexcept {
  switch (element_size) {
    case 1: return scatter<uint8_t>(dst, stride, src, n);
    case 2: return scatter<uint16_t>(dst, stride, src, n);
    case 4: return scatter<uint32_t>(dst, stride, src, n);
    case 16: return scatter<Element16>(dst, stride, src, n);
    default: return scatter<uint64_t>(dst, stride, src, n);
  }
}

void transpose(size_t element_size, void* dst, int64_t dst_stride,
               const void* src, int64_t src_stride, int64_t rows,
               int64_t cols) noexcept {
  if (element_size == 16) {
    return transpose16(static_cast<char*>(dst), dst_stride,
                       static_cast<const char*>(src), src_stride, rows, cols);
  }
  const int kind = element_size == 1   ? 0
                   : element_size == 2 ? 1
                   : element_size == 4 ? 2
                                       : 3;
  kernels().table.transposes[kind](dst, dst_stride, src, src_stride, rows,
                                   cols);
}

void stream_copy(void* dst, const void* src, size_t bytes) noexcept {
  char* d = static_cast<char*>(dst);
  const char* s = static_cast<const char*>(src);
  const size_t to_line = -reinterpret_cast<uintptr_t>(d) & 63;
  if (bytes < to_line + 64) {
    std::memcpy(d, s, bytes);
    return;
  }
  std::memcpy(d, s, to_line);
  size_t i = to_line;
  for (; i + 64 <= bytes; i += 64) {
    for (size_t k = i; k < i + 64; k += 16) {
      _mm_stream_si128(
          reinterpret_cast<__m128i*>(d + k),
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(s + k)));
    }
  }
  std::memcpy(d + i, s + i, bytes - i);
}

void stream_fence() noexcept { _mm_sfence(); }

void set_error() noexcept { division_by_zero = true; }

bool take_error() noexcept {
  const bool was = division_by_zero;
  division_by_zero = false;
  return was;
}

Isa active_isa() noexcept { return kernels().isa; }

bool set_isa(Isa isa) noexcept {
  Kernels& k = kernels();
  if (!supported(isa)) return false;
  k.fill(isa);
  return true;
}

}  // namespace sy::cpu::tiles

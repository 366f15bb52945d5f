#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "aten/backend/claims.h"
#include "aten/backend/cpu_fallback.h"
#include "aten/engine/copy.h"
#include "c10/plugin/library.h"
#include "c10/process/error.h"
#include "c10/tensor/scalar.h"
#include "c10/tensor/tensor_base.h"
#include "test/conformance/host_device.h"

// A backend in host memory whose kernels are right, but for the one that
// SWITCHYARD_MUTANT names: what `sy conform` must notice. Loaded by
// mutants_test.py, which lists them. mutated_calls.cpp has more of them.

namespace sy {
namespace {

bool is(std::string_view mutant) {
  static const char* const chosen = std::getenv("SWITCHYARD_MUTANT");
  return chosen != nullptr && mutant == chosen;
}

// Fresh memory is not zero, and a kernel may run over its end unnoticed.
class MutantDevice final : public HostDevice {
 public:
  void* allocate(size_t n) override {
    void* const p = HostDevice::allocate(n);
    if (p != nullptr) std::memset(p, 0x7e, n);
    return p;
  }
} device;

TensorBase empty(IntArrayRef sizes, ScalarType dtype, Device where) {
  return TensorBase(make_tensor(sizes, dtype, where));
}

// The storage places of the elements, broadcast to `sizes`, in row-major order.
std::vector<int64_t> places(const TensorBase& t, IntArrayRef sizes) {
  const size_t missing = sizes.size() - t.sizes().size();
  std::vector<int64_t> out;
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i, at = 0;
    for (size_t d = sizes.size(); d-- > 0;) {
      const int64_t index = rest % sizes[d];
      rest /= sizes[d];
      if (d < missing || t.sizes()[d - missing] == 1) continue;
      at += index * t.strides()[d - missing];
    }
    out.push_back(at);
  }
  return out;
}

// Holds every float32 and every int64.
using Number = long double;

Number get(const TensorBase& t, int64_t place) {
  if (t.dtype() == kFloat) return t.data_ptr<float>()[place];
  if (t.dtype() == kBFloat16) {
    return static_cast<float>(t.data_ptr<BFloat16>()[place]);
  }
  const int64_t v = t.data_ptr<int64_t>()[place];
  if (is("computes int64 as int32")) return static_cast<int32_t>(v);
  if (is("computes int64 as float64")) return static_cast<double>(v);
  return v;
}
void clear_low_bits(void* element) {
  uint16_t bits;
  std::memcpy(&bits, element, sizeof bits);
  bits &= 0xfff8;
  std::memcpy(element, &bits, sizeof bits);
}
void put(const TensorBase& t, int64_t place, Number v) {
  if (t.dtype() == kFloat) {
    t.data_ptr<float>()[place] = static_cast<float>(v);
  } else if (t.dtype() == kBFloat16) {
    auto* const to = t.data_ptr<BFloat16>() + place;
    *to = static_cast<BFloat16>(static_cast<float>(v));
    if (is("loses bits of bfloat16")) clear_low_bits(to);
  } else {
    t.data_ptr<int64_t>()[place] = static_cast<int64_t>(v);
  }
}

std::vector<int64_t> broadcast(IntArrayRef a, IntArrayRef b) {
  std::vector<int64_t> out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

constexpr size_t kTile = 16;

template <class F>
void binary(const TensorBase& out, const TensorBase& a, const TensorBase& b,
            const F& f) {
  const IntArrayRef sizes = out.sizes();
  const auto to = places(out, sizes), x = places(a, sizes),
             y = places(b, sizes);
  size_t n = to.size();
  if (is("skips the last tile")) n = n / kTile * kTile;
  for (size_t i = 0; i < n; ++i) {
    size_t j = i;
    if (is("reads the first tile again")) j = i % kTile;
    const bool dense = is("ignores strides");
    put(out, to[i],
        f(get(a, dense ? static_cast<int64_t>(i) % a.numel() : x[i]),
          get(b, y[j])));
  }
  if (is("writes past the end") && n != 0) put(out, to[n - 1] + 1, 42);
  if (is("writes to an input") && n != 0) put(a, x[0], 42);
}

// Whether the mutant goes wrong, if it does so for some ranks, sizes, layouts
// and calls alone.
bool goes_wrong(const TensorBase& out, const TensorBase& a,
                const TensorBase& b) {
  static std::atomic<int> calls = 0;
  const size_t rank = out.sizes().size();
  const bool left = a.sizes() != out.sizes(), right = b.sizes() != out.sizes();
  const int64_t row = rank == 0 ? 1 : out.sizes().back();
  const bool same = &a != &b && a.numel() != 0 && a.is_alias_of(b);
  return (is("fails in 4 dims") && rank == 4) ||
         (is("fails in 5 dims") && rank == 5) ||
         (is("fails in 6 dims") && rank == 6) ||
         (is("fails in 7 dims") && rank == 7) ||
         (is("fails without dims") && rank == 0) ||
         (is("fails for a first that broadcasts") && left && !right) ||
         (is("fails for both that broadcast") && left && right) ||
         (is("fails for an offset") && a.storage_offset() != 0) ||
         (is("fails for one tensor twice") && same &&
          a.storage_offset() == b.storage_offset()) ||
         (is("fails for views of one storage") && same &&
          a.storage_offset() != b.storage_offset()) ||
         (is("fails in rows beyond 4,096") && row > 4096) ||
         (is("fails beyond 6,000 elements") && out.numel() > 6000) ||
         (is("fails for 257 rows") && rank == 2 && out.sizes()[0] == 257) ||
         (is("fails every 997th call") && ++calls % 997 == 0);
}

// Faults beside the values.
void spoil(const TensorBase& out, const TensorBase& a, const TensorBase& b) {
  if (out.dtype() != kFloat || out.numel() == 0) {
    if (goes_wrong(out, a, b) && out.numel() != 0) put(out, 0, 41);
    return;
  }
  float* const data = out.data_ptr<float>();
  if (goes_wrong(out, a, b)) data[0] += 1;
  if (is("writes behind its result")) data[out.numel()] = 1;
  if (is("reads behind its input") && a.dtype() == kFloat)
    data[0] += 0 * a.data_ptr<float>()[a.numel()];
  if (is("writes before its result")) data[-1] = 1;
  if (is("keeps a tensor of each call")) {
    static std::vector<TensorBase>& kept = *new std::vector<TensorBase>;
    kept.push_back(empty({4}, kFloat, out.device()));
  }
  if (is("leaks")) {
    static void* volatile lost;
    lost = std::malloc(65536);
    std::memset(lost, 1, 65536);
  }
  if (is("shares a buffer between threads")) {
    static float buffer[64];
    const auto n = static_cast<size_t>(std::min<int64_t>(64, out.numel()));
    std::memcpy(buffer, data, n * sizeof(float));
    std::this_thread::yield();
    std::memcpy(data, buffer, n * sizeof(float));
  }
}

TensorBase add(const TensorBase& a, const TensorBase& b, const Scalar& alpha) {
  ScalarType dtype = promote_types(a.dtype(), b.dtype());
  if (is("takes the dtype of the first")) dtype = a.dtype();
  std::vector<int64_t> sizes = broadcast(a.sizes(), b.sizes());
  TensorBase out = empty(sizes, dtype, a.device());
  double scale = is("forgets alpha") ? 1 : alpha.toDouble();
  if (is("takes alpha for 1 or 2") && scale != 1) scale = 2;
  if (is("takes alpha as a whole number")) scale = std::trunc(scale);
  if (is("takes the size of alpha") && scale < 0) scale = -scale;
  if (is("returns its argument for alpha 0") && scale == 0 &&
      a.sizes() == IntArrayRef(sizes) && a.dtype() == dtype) {
    return a;
  }
  binary(out, a, b, [&](Number x, Number y) {
    if (is("clamps at a million") && x > 1e6 && x < 1e30) x = 1e6;
    if (is("flushes what is small") && std::fabs(x) < 1e-20) x = 0;
    return x + scale * y;
  });
  spoil(out, a, b);
  return out;
}

TensorBase& add_(TensorBase& self, const TensorBase& other,
                 const Scalar& alpha) {
  binary(self, self, other,
         [&](Number x, Number y) { return x + alpha.toDouble() * y; });
  return self;
}

TensorBase relu(const TensorBase& self) {
  if (is("throws what is no Error")) throw 42;
  if (is("crashes on no elements") && self.numel() == 0) std::abort();
  const Device where = is("leaves its result") ? Device(kCPU) : self.device();
  TensorBase out = empty(self.sizes(), self.dtype(), where);
  binary(out, self, self, [](Number x, Number) -> Number {
    if (is("drops NaN") && x != x) return 0;
    if (is("clamps infinity") && x > 1e30) return 1e30;
    return x > 0 || x != x ? x : 0;
  });
  spoil(out, self, self);
  return out;
}

// Rows along dims, the others outside.
struct Reduction {
  Reduction(const TensorBase& self, std::vector<int64_t> dims, bool keepdim)
      : reduced(self.sizes().size(), false) {
    const auto rank = static_cast<int64_t>(reduced.size());
    for (int64_t d : dims) {
      if (d < 0) d = is("takes dim -1 for 0") ? 0 : d + rank;
      if (rank != 0) reduced[static_cast<size_t>(d)] = true;
    }
    if (dims.empty()) reduced.assign(reduced.size(), true);
    if (is("ignores keepdim")) keepdim = false;
    for (size_t d = 0; d < reduced.size(); ++d) {
      if (!reduced[d]) {
        sizes.push_back(self.sizes()[d]);
      } else if (keepdim) {
        sizes.push_back(1);
      }
    }
    const auto at = places(self, self.sizes());
    int64_t results = 1;
    for (const int64_t s : sizes) results *= s;
    rows.resize(static_cast<size_t>(results));
    for (size_t i = 0; i < at.size(); ++i) {
      auto rest = static_cast<int64_t>(i);
      int64_t result = 0, step = 1;
      for (size_t d = reduced.size(); d-- > 0;) {
        const int64_t index = rest % self.sizes()[d];
        rest /= self.sizes()[d];
        if (reduced[d]) continue;
        result += index * step;
        step *= self.sizes()[d];
      }
      rows[static_cast<size_t>(result)].push_back(at[i]);
    }
  }

  std::vector<bool> reduced;
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> rows;
};

TensorBase sum(const TensorBase& self, OptionalIntArrayRef dim, bool keepdim,
               std::optional<ScalarType> dtype) {
  const Reduction r(self, dim ? dim->vec() : std::vector<int64_t>{}, keepdim);
  if (is("ignores dtype")) dtype.reset();
  TensorBase out = empty(r.sizes, dtype.value_or(self.dtype()), self.device());
  for (size_t i = 0; i < r.rows.size(); ++i) {
    Number total = is("does not start at zero") ? 1e-3 : 0;
    if (is("sums 4,096 of a row") && r.rows[i].size() > 4096) total = 1;
    if (is("sums 128 rows") && i >= 128) total = 1;
    for (size_t k = 0; k < r.rows[i].size(); ++k) {
      if (is("leaves the last of a row") && k != 0 &&
          k + 1 == r.rows[i].size()) {
        break;
      }
      const Number element = get(self, r.rows[i][k]);
      total += out.dtype() == kLong ? std::truncl(element) : element;
    }
    put(out, static_cast<int64_t>(i), total);
  }
  return out;
}

TensorBase argmax(const TensorBase& self, std::optional<int64_t> dim,
                  bool keepdim) {
  std::vector<int64_t> dims;
  if (dim) dims.push_back(*dim);
  const Reduction r(self, dims, keepdim);
  TensorBase out = empty(
      r.sizes, is("gives indices as numbers") ? kFloat : kLong, self.device());
  for (size_t i = 0; i < r.rows.size(); ++i) {
    SY_CHECK(!r.rows[i].empty(), Index, "[argmax] expected elements");
    size_t best = 0;
    for (size_t k = 1; k < r.rows[i].size(); ++k) {
      const Number now = get(self, r.rows[i][k]);
      const Number most = get(self, r.rows[i][best]);
      const bool nan = now != now && most == most;
      if (now > most || (nan && !is("passes NaN over")) ||
          (is("takes the last of equals") && now == most)) {
        best = k;
      }
    }
    put(out, static_cast<int64_t>(i), static_cast<Number>(best));
  }
  return out;
}

TensorBase mm(const TensorBase& a, const TensorBase& b) {
  TensorBase out = empty({a.sizes()[0], b.sizes()[1]}, a.dtype(), a.device());
  int64_t inner = a.sizes()[1];
  if (is("leaves the odd end of a product") && inner > 1) inner -= inner % 2;
  if (is("leaves K beyond 100")) inner = std::min<int64_t>(inner, 100);
  for (int64_t i = 0; i < a.sizes()[0]; ++i) {
    for (int64_t j = 0; j < b.sizes()[1]; ++j) {
      Number total = 0;
      for (int64_t k = 0; k < inner; ++k) {
        const int64_t at = is("takes a matrix for row-major")
                               ? k * b.sizes()[1] + j
                               : k * b.strides()[0] + j * b.strides()[1];
        total += get(a, i * a.strides()[0] + k * a.strides()[1]) * get(b, at);
      }
      put(out, i * b.sizes()[1] + j, total);
    }
  }
  return out;
}

TensorBase& fill_(TensorBase& self, const Scalar& value) {
  const auto at = places(self, self.sizes());
  for (size_t i = 0; i < at.size(); ++i) {
    put(self, is("fills from the start on") ? static_cast<int64_t>(i) : at[i],
        value.toDouble());
  }
  return self;
}

TensorBase empty_strided(IntArrayRef size, IntArrayRef stride,
                         std::optional<ScalarType> dtype, std::optional<Layout>,
                         std::optional<Device> where, std::optional<bool>) {
  return TensorBase(make_tensor_strided(
      size, stride, dtype.value_or(default_dtype()), where.value()));
}

TensorBase empty_memory_format(IntArrayRef size,
                               std::optional<ScalarType> dtype,
                               std::optional<Layout>,
                               std::optional<Device> where, std::optional<bool>,
                               std::optional<MemoryFormat>) {
  return empty(size, dtype.value_or(default_dtype()), where.value());
}

// Copies within the device, and leaves the others to the library.
Tensor copy_from(const Tensor& self, const Tensor& dst, bool) {
  const bool here = self.device() == dst.device();
  if (here && is("copies as if rows lay together")) {
    const auto to = places(dst, dst.sizes());
    for (size_t i = 0; i < to.size(); ++i) {
      if (self.dtype() != kFloat || dst.dtype() != kFloat) break;
      put(dst, to[i], get(self, static_cast<int64_t>(i) % self.numel()));
    }
    if (self.dtype() == kFloat && dst.dtype() == kFloat) return dst;
  }
  if (!here && is("leaves copies between devices")) return dst;
  copy_between(dst, self);
  return dst;
}

SY_BACKEND(Mutant, m) { m.device("mutant", &device); }

constexpr BackendClaims kClaims{1u << 4 | 1u << 6, true};
constexpr BackendClaims kAddClaims{
    1u << 4 | 1u << 6 | 1u << static_cast<int>(kBFloat16), true};
constexpr char kAdd[] = "aten::add.Tensor";
constexpr char kAddInplace[] = "aten::add_.Tensor";
constexpr char kArgmax[] = "aten::argmax";
constexpr char kFill[] = "aten::fill_.Scalar";
constexpr char kMm[] = "aten::mm";
constexpr char kRelu[] = "aten::relu";
constexpr char kSum[] = "aten::sum.dim_IntList";

SY_LIBRARY_IMPL(aten, Mutant, m) {
  m.impl("_copy_from", SY_FN(copy_from));
  m.impl("add.Tensor", SY_FN((*claimed<&add, kAddClaims, kAdd>)));
  m.impl("add_.Tensor", SY_FN((*claimed<&add_, kClaims, kAddInplace>)));
  m.impl("argmax", SY_FN((*claimed<&argmax, kClaims, kArgmax>)));
  m.impl("empty.memory_format", SY_FN(empty_memory_format));
  m.impl("empty_strided", SY_FN(empty_strided));
  m.impl("fill_.Scalar", SY_FN((*claimed<&fill_, kClaims, kFill>)));
  m.impl("mm", SY_FN((*claimed<&mm, kClaims, kMm>)));
  m.impl("relu", SY_FN((*claimed<&relu, kClaims, kRelu>)));
  m.impl("sum.dim_IntList", SY_FN((*claimed<&sum, kClaims, kSum>)));
}

SY_LIBRARY_IMPL(aten, AutogradMutant, m) {
  if (is("records no gradient")) m.impl("relu", Kernel::fallthrough());
}

SY_LIBRARY_IMPL(_, Mutant, m) { m.fallback(Kernel::from_boxed(&cpu_fallback)); }

}  // namespace
}  // namespace sy

// The claims, as sygen writes them of a YAML.
extern "C" __attribute__((visibility("default"), used))
const char* const switchyard_backend_claims[] = {
    "Mutant",
    "float32 int64",
    "strided",
    "aten::_copy_from float32,int64 strided",
    "aten::add.Tensor float32,bfloat16,int64 strided",
    "aten::add_.Tensor",
    "aten::argmax",
    "aten::fill_.Scalar",
    "aten::mm",
    "aten::relu",
    "aten::sum.dim_IntList",
    nullptr};

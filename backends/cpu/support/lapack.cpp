#include "backends/cpu/support/lapack.h"

#include <cmath>
#include <limits>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/view.h"
#include "backends/cpu/support/optional_library.h"
#include "c10/process/fork.h"

namespace sy::cpu {

namespace {

Dims with_matrix(IntArrayRef batch, int64_t rows, int64_t cols) {
  Dims sizes(batch);
  sizes.push_back(rows);
  sizes.push_back(cols);
  return sizes;
}

constexpr OptionalLibrary kLibrary = {
    "libswitchyard_lapack.so", "switchyard_lapack_api", "SWITCHYARD_LAPACK"};

}  // namespace

const LapackApi* lapack() {
  const ForkSection section;
  static const LapackApi* const api = load_table<LapackApi>(kLibrary);
  return api;
}

std::string why_no_lapack() { return why_not_loaded(kLibrary); }

const LapackApi& require_lapack(const char* op) {
  const LapackApi* api = lapack();
  SY_CHECK(api != nullptr, NotImplemented,
           "[{}] expected libswitchyard_lapack.so beside the library, or where "
           "SWITCHYARD_LAPACK says: {}",
           op, why_no_lapack());
  return *api;
}

void Matrices::store(const Tensor& out) const { copy_cpu(out, memory); }

Matrices make_columns(const char* op, ScalarType dtype, IntArrayRef batch,
                      int64_t rows, int64_t cols) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  SY_CHECK(
      rows <= kMost && cols <= kMost, Value,
      "[{}] expected matrices of less than 2^31 rows and columns, got {} by {}",
      op, rows, cols);
  const Dims sizes = with_matrix(batch, rows, cols);
  checked_numel(op, sizes);
  Dims strides(sizes);
  int64_t step = rows * cols;
  const int64_t n = sizes.size();
  strides[n - 1] = rows;
  strides[n - 2] = 1;
  for (int64_t d = n - 3; d >= 0; --d) {
    strides[d] = step;
    step *= sizes[d];
  }
  return {Tensor(make_tensor_strided(sizes, strides, dtype, Device(kCPU))),
          count_of(batch), rows, cols};
}

Matrices columns_of(const char* op, const TensorBase& t, IntArrayRef batch) {
  const auto n = t.sizes().size();
  Matrices m =
      make_columns(op, t.dtype(), batch, t.sizes()[n - 2], t.sizes()[n - 1]);
  copy_cpu(m.memory, t);
  return m;
}

Matrices columns_of(const char* op, const TensorBase& t) {
  return columns_of(op, t, batch_of(t));
}

IntArrayRef batch_of(const TensorBase& t) {
  return t.sizes().slice(0, t.sizes().size() - 2);
}

int64_t count_of(IntArrayRef batch) {
  int64_t n = 1;
  for (const int64_t b : batch) n *= b;
  return n;
}

Tensor transposed(const TensorBase& t) {
  Dims sizes(t.sizes()), strides(t.strides());
  const int64_t n = sizes.size();
  std::swap(sizes[n - 1], sizes[n - 2]);
  std::swap(strides[n - 1], strides[n - 2]);
  return Tensor(t.impl()->alias(sizes, strides, t.storage_offset()));
}

Room::Room(const Tensor& out)
    : out_(out),
      memory_(out.is_contiguous() ? out
                                  : Tensor(make_tensor(out.sizes(), out.dtype(),
                                                       Device(kCPU)))) {}

void Room::store() const {
  if (!memory_.is_same(out_)) copy_cpu(out_, memory_);
}

void check_finite(const char* op, const char* argument, const TensorBase& t) {
  const Tensor all = contiguous_cpu(Tensor(t));
  bool finite = true;
  visit_lapack_dtypes(t.dtype(), [&]<class T>() {
    const T* x = static_cast<const T*>(all.raw_data());
    int bad = 0;
    for (int64_t i = 0; i < all.numel(); ++i) bad |= x[i] - x[i] != 0;
    finite = bad == 0;
  });
  SY_CHECK(finite, Value,
           "[{}] {}: expected finite elements, got NaN or infinity", op,
           argument);
}

}  // namespace sy::cpu

#pragma once

#include <algorithm>

#include "aten/tensor.h"
#include "backends/cpu/lapack/api.h"
#include "c10/process/fork.h"
#include "c10/process/parallel.h"

// Shared by kernels on LAPACK: column-major matrices, memory for routines, the
// walk over a batch. Dtypes are float32 and float64.

namespace sy::cpu {

// Throws NotImplementedError if there is no LAPACK.
const LapackApi& require_lapack(const char* op);

template <class T>
const LapackRoutines<T>& routines(const LapackApi& api) {
  if constexpr (std::is_same_v<T, float>) {
    return api.f32;
  } else {
    return api.f64;
  }
}

// Calls f.operator()<T>() for float or double.
template <class F>
void visit_lapack_dtypes(ScalarType t, const F& f) {
  if (t == kFloat) {
    f.template operator()<float>();
  } else {
    f.template operator()<double>();
  }
}

// A batch of matrices in contiguous memory of its own.
struct Matrices {
  Tensor memory;  // the batch's sizes, and two more
  int64_t count = 0, rows = 0, cols = 0;

  template <class T>
  T* at(int64_t i) const {
    return static_cast<T*>(memory.raw_data()) + i * rows * cols;
  }
  int32_t m() const { return static_cast<int32_t>(rows); }
  int32_t n() const { return static_cast<int32_t>(cols); }
  // The leading dimension of column-major matrices; never 0.
  int32_t lead() const { return std::max(m(), 1); }
  // Copies the matrices to out.
  void store(const Tensor& out) const;
};

// Column-major, uninitialised. Throws ValueError if a side exceeds int32.
Matrices make_columns(const char* op, ScalarType dtype, IntArrayRef batch,
                      int64_t rows, int64_t cols);
// The matrices of t, column-major. The batch of t broadcasts to `batch`. For
// the transpose of a contiguous t this is a plain copy.
Matrices columns_of(const char* op, const TensorBase& t, IntArrayRef batch);
Matrices columns_of(const char* op, const TensorBase& t);
// All sizes but the last two.
IntArrayRef batch_of(const TensorBase& t);
int64_t count_of(IntArrayRef batch);
// t with its last two dims swapped: metadata only.
Tensor transposed(const TensorBase& t);

// Contiguous memory for `out`: its own if it is contiguous.
class Room {
 public:
  explicit Room(const Tensor& out);
  template <class T>
  T* data() const {
    return static_cast<T*>(memory_.raw_data());
  }
  const Tensor& memory() const { return memory_; }
  // Copies what was written to data() to out.
  void store() const;

 private:
  Tensor out_, memory_;
};

// Memory for a routine, uninitialised.
template <class T>
class Work {
 public:
  explicit Work(int64_t n)
      : memory_(make_tensor(IntArrayRef(n), CppTypeToScalarType<T>::value,
                            Device(kCPU))),
        size_(static_cast<int32_t>(n)) {}
  // The memory that a routine asked for. A float holds large numbers inexactly,
  // so this rounds up.
  static Work asked(T answer) {
    const auto n = static_cast<double>(answer) * (1 + 1e-6);
    return Work(std::clamp<int64_t>(static_cast<int64_t>(n) + 1, 1, INT32_MAX));
  }
  T* data() const { return static_cast<T*>(memory_.raw_data()); }
  const int32_t* size() const { return &size_; }

 private:
  Tensor memory_;
  int32_t size_;
};

// While it lives, this thread may call routines, which use up to `threads`
// threads. No other one may live on the thread.
class InLapack {
 public:
  InLapack(const LapackApi& api, int threads)
      : api_(api), before_(api.enter(threads)) {}
  ~InLapack() { api_.leave(before_); }
  InLapack(const InLapack&) = delete;
  InLapack& operator=(const InLapack&) = delete;

 private:
  const ForkSection section_;  // OpenBLAS has locks of its own
  const LapackApi& api_;
  int before_;
};

// Calls f(begin, end) for parts of a batch of `count` matrices, on several
// threads if that pays. `work` is the number of operations per matrix. LAPACK's
// own threads work on a large single matrix.
template <class F>
void each_matrix(const LapackApi& api, int64_t count, double work, const F& f) {
  if (count == 1) {
    const bool split = work > 1 << 25 && !in_parallel_region();
    const InLapack in(api, split ? get_num_threads() : 1);
    f(0, 1);
    return;
  }
  const auto grain = static_cast<int64_t>((1 << 16) / std::max(work, 1.0)) + 1;
  parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
    const InLapack in(api, 1);
    f(begin, end);
  });
}

// Clears the elements above (or below) the diagonal of a row-major matrix.
template <class T>
void clear_triangle(T* a, int64_t n, bool above) {
  for (int64_t i = 0; i < n; ++i) {
    T* row = a + i * n;
    if (above) {
      std::fill(row + i + 1, row + n, T(0));
    } else {
      std::fill(row, row + i, T(0));
    }
  }
}

// Throws ValueError if an element is NaN or infinite. Some routines do not
// return for those.
void check_finite(const char* op, const char* argument, const TensorBase& t);

}  // namespace sy::cpu

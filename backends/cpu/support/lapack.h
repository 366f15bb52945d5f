#pragma once

#include <algorithm>

#include "aten/tensor.h"
#include "backends/cpu/lapack/api.h"
#include "c10/parallel.h"

// What kernels on LAPACK share: matrices by columns, memory for routines, the
// walk over a batch. Dtypes are float32 and float64.

namespace sy::cpu {

// Throws NotImplementedError where there is no LAPACK.
const LapackApi& require_lapack(const char* op);

template <class T>
const LapackRoutines<T>& routines(const LapackApi& api) {
  if constexpr (std::is_same_v<T, float>) {
    return api.f32;
  } else {
    return api.f64;
  }
}

// f.operator()<T>() for float or double.
template <class F>
void visit_lapack_dtypes(ScalarType t, const F& f) {
  if (t == kFloat) {
    f.template operator()<float>();
  } else {
    f.template operator()<double>();
  }
}

// Batches of matrices in contiguous memory of their own.
struct Matrices {
  Tensor memory;  // of the sizes of the batch, and two more
  int64_t count = 0, rows = 0, cols = 0;

  template <class T>
  T* at(int64_t i) const {
    return static_cast<T*>(memory.raw_data()) + i * rows * cols;
  }
  int32_t m() const { return static_cast<int32_t>(rows); }
  int32_t n() const { return static_cast<int32_t>(cols); }
  // The leading dim of matrices by columns; never 0.
  int32_t lead() const { return std::max(m(), 1); }
  // out = these.
  void store(const Tensor& out) const;
};

// By columns, uninitialised. Throws ValueError if a side exceeds int32.
Matrices make_columns(const char* op, ScalarType dtype, IntArrayRef batch,
                      int64_t rows, int64_t cols);
// The elements of t, whose batch broadcasts to `batch`. The transposed ones of
// a contiguous t are by columns what t is by rows: a plain copy.
Matrices columns_of(const char* op, const TensorBase& t, IntArrayRef batch);
Matrices columns_of(const char* op, const TensorBase& t);
// The sizes but the last two.
IntArrayRef batch_of(const TensorBase& t);
int64_t count_of(IntArrayRef batch);
// t with its last two dims swapped: metadata only.
Tensor transposed(const TensorBase& t);

// Contiguous memory for `out`: its own where that lies so.
class Room {
 public:
  explicit Room(const Tensor& out);
  template <class T>
  T* data() const {
    return static_cast<T*>(memory_.raw_data());
  }
  const Tensor& memory() const { return memory_; }
  // Puts what was written there into out.
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
  // As many as a routine asked for: a float says large numbers inexactly.
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
  const LapackApi& api_;
  int before_;
};

// Calls f(begin, end) for parts of a batch of `count` matrices, on several
// threads if it is worth it; `work` is the number of operations for one. A
// large single matrix is left to LAPACK's own threads.
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

// Zeros above (or below) the diagonal of a matrix by rows.
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

// Throws ValueError if an element is NaN or infinite, which some routines do
// not return from.
void check_finite(const char* op, const char* argument, const TensorBase& t);

}  // namespace sy::cpu

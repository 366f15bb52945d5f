#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// The table of routines of LAPACK and BLAS that libswitchyard_lapack.so offers.
// The 40 MB behind it are mapped on first use, and nothing of it is linked.

namespace sy::cpu {

// The Fortran interface: arguments by address, column-major matrices, an
// integer `info`, and the lengths of strings at the end.
template <class T>
struct LapackRoutines {
  using Int = const int32_t*;
  using Char = const char*;
  using Ints = int32_t*;
  using Len = size_t;

  void (*getrf)(Int m, Int n, T* a, Int lda, Ints pivots, Ints info);
  void (*getrs)(Char trans, Int n, Int nrhs, const T* a, Int lda, Int pivots,
                T* b, Int ldb, Ints info, Len);
  void (*getri)(Int n, T* a, Int lda, Int pivots, T* work, Int lwork,
                Ints info);
  void (*potrf)(Char uplo, Int n, T* a, Int lda, Ints info, Len);
  void (*potrs)(Char uplo, Int n, Int nrhs, const T* a, Int lda, T* b, Int ldb,
                Ints info, Len);
  void (*potri)(Char uplo, Int n, T* a, Int lda, Ints info, Len);
  void (*sytrf)(Char uplo, Int n, T* a, Int lda, Ints pivots, T* work,
                Int lwork, Ints info, Len);
  void (*sytrs)(Char uplo, Int n, Int nrhs, const T* a, Int lda, Int pivots,
                T* b, Int ldb, Ints info, Len);
  void (*trsm)(Char side, Char uplo, Char trans, Char diag, Int m, Int n,
               const T* alpha, const T* a, Int lda, T* b, Int ldb, Len, Len,
               Len, Len);
  void (*geqrf)(Int m, Int n, T* a, Int lda, T* tau, T* work, Int lwork,
                Ints info);
  void (*orgqr)(Int m, Int n, Int k, T* a, Int lda, const T* tau, T* work,
                Int lwork, Ints info);
  void (*ormqr)(Char side, Char trans, Int m, Int n, Int k, const T* a, Int lda,
                const T* tau, T* c, Int ldc, T* work, Int lwork, Ints info, Len,
                Len);
  void (*gesdd)(Char job, Int m, Int n, T* a, Int lda, T* s, T* u, Int ldu,
                T* vt, Int ldvt, T* work, Int lwork, Ints iwork, Ints info,
                Len);
  void (*syevd)(Char job, Char uplo, Int n, T* a, Int lda, T* w, T* work,
                Int lwork, Ints iwork, Int liwork, Ints info, Len, Len);
  void (*gels)(Char trans, Int m, Int n, Int nrhs, T* a, Int lda, T* b, Int ldb,
               T* work, Int lwork, Ints info, Len);
  void (*gelsy)(Int m, Int n, Int nrhs, T* a, Int lda, T* b, Int ldb, Ints jpvt,
                const T* rcond, Ints rank, T* work, Int lwork, Ints info);
  void (*gelsd)(Int m, Int n, Int nrhs, T* a, Int lda, T* b, Int ldb, T* s,
                const T* rcond, Ints rank, T* work, Int lwork, Ints iwork,
                Ints info);
  void (*gelss)(Int m, Int n, Int nrhs, T* a, Int lda, T* b, Int ldb, T* s,
                const T* rcond, Ints rank, T* work, Int lwork, Ints info);
  // BLAS. With beta 0, c is not read.
  void (*gemm)(Char trans_a, Char trans_b, Int m, Int n, Int k, const T* alpha,
               const T* a, Int lda, const T* b, Int ldb, const T* beta, T* c,
               Int ldc, Len, Len);
};

struct LapackApi {
  static constexpr uint32_t kVersion = 2;
  uint32_t version;
  // Call enter() before routines, with the most threads they may use, and
  // leave() after them, with the result of enter(). While one thread uses
  // several threads in between, no other thread is in between. Neither throws.
  // The OpenMP settings of the process stay as they were.
  int (*enter)(int threads);
  void (*leave)(int entered);
  LapackRoutines<float> f32;
  LapackRoutines<double> f64;
};

// The table; nullptr if the library is not there or SWITCHYARD_LAPACK=0. The
// first call loads it. Thread-safe.
const LapackApi* lapack();
// The reason why lapack() is nullptr, for people.
std::string why_no_lapack();

}  // namespace sy::cpu

#pragma once

#include <cstddef>
#include <cstdint>

// cuBLASLt's functions as we declare them, for libcublasLt.so.13 and .12. No
// header of NVIDIA's is needed; where there is a toolkit, a test holds these
// declarations to it. Matrices are stored by columns.

namespace sy::cuda::blas {

using Handle = struct Context*;
using Stream = struct RuntimeStream*;
using Result = int;

// Descriptors are plain memory that the library fills.
struct Description {
  uint64_t data[32];
};
struct MatrixLayout {
  uint64_t data[8];
};
struct Preference {
  uint64_t data[8];
};
struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace;  // bytes
  Result state;
  float waves;
  int reserved[4];
};

constexpr Result kDone = 0;
constexpr Result kNotSupported = 15;

// Numbers of the library's enumerations, by what they belong to.
enum ComputeType : int {
  kCompute32 = 68,
  kCompute32ByTf32 = 77,
  kCompute64 = 70
};
enum DataType : int { kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kBrain16 = 14 };
enum DescriptionAttribute : int {
  kTransposeA = 3,
  kTransposeB = 4,
  kEpilogue = 7,
  kBiasPointer = 8,
};
enum Epilogue : uint32_t { kNoEpilogue = 1, kAddBias = 4 };
enum LayoutAttribute : int { kBatchCount = 5, kBatchStride = 6 };
enum PreferenceAttribute : int {
  kMostWorkspace = 1,
  kReductions = 3,
  kAlignmentA = 5,
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentD = 8,
};
// Sums in parts add up in the type that is computed in.
enum Reduction : uint32_t { kReduceInComputeType = 2 };

// X(member, symbol, arguments); all return a result.
#define SY_CUDA_BLAS_FUNCTIONS(X)                                              \
  X(create, "cublasLtCreate", (Handle*))                                       \
  X(init_description, "cublasLtMatmulDescInit_internal",                       \
    (Description*, size_t, ComputeType, DataType))                             \
  X(describe, "cublasLtMatmulDescSetAttribute",                                \
    (Description*, DescriptionAttribute, const void*, size_t))                 \
  X(init_layout, "cublasLtMatrixLayoutInit_internal",                          \
    (MatrixLayout*, size_t, DataType, uint64_t rows, uint64_t columns,         \
     int64_t))                                                                 \
  X(lay_out, "cublasLtMatrixLayoutSetAttribute",                               \
    (MatrixLayout*, LayoutAttribute, const void*, size_t))                     \
  X(init_preference, "cublasLtMatmulPreferenceInit_internal",                  \
    (Preference*, size_t))                                                     \
  X(prefer, "cublasLtMatmulPreferenceSetAttribute",                            \
    (Preference*, PreferenceAttribute, const void*, size_t))                   \
  X(choose, "cublasLtMatmulAlgoGetHeuristic",                                  \
    (Handle, Description*, MatrixLayout * a, MatrixLayout * b,                 \
     MatrixLayout * c, MatrixLayout * d, Preference*, int most, Heuristic*,    \
     int* found))                                                              \
  X(multiply, "cublasLtMatmul",                                                \
    (Handle, Description*, const void* alpha, const void* a, MatrixLayout*,    \
     const void* b, MatrixLayout*, const void* beta, const void* c,            \
     MatrixLayout*, void* d, MatrixLayout*, const Algorithm*, void* workspace, \
     size_t, Stream))

struct Api {
#define SY_MEMBER(member, symbol, arguments) Result(*member) arguments;
  SY_CUDA_BLAS_FUNCTIONS(SY_MEMBER)
#undef SY_MEMBER
  size_t (*version)();
  const char* (*error_text)(Result);
};

}  // namespace sy::cuda::blas

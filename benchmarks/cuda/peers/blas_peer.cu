// cuBLASLt called directly: the fastest way that its heuristics name, for each
// product of products.cpp. Prints lines "NAME <tab> NANOSECONDS".
// Built by bench_cuda.py: nvcc blas_peer.cu -lcublasLt.

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

void check(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "blas_peer: %s failed\n", what);
  std::exit(1);
}
#define CHECK(call) check((call) == 0, #call)

struct Kind {
  cudaDataType_t type;
  cublasComputeType_t compute;
  const char* name;
};
constexpr Kind kKinds[] = {{CUDA_R_32F, CUBLAS_COMPUTE_32F, "f32"},
                           {CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, "tf32"},
                           {CUDA_R_16F, CUBLAS_COMPUTE_32F, "f16"},
                           {CUDA_R_16BF, CUBLAS_COMPUTE_32F, "bf16"}};
constexpr int kMost = 16;
constexpr size_t kRoom = size_t{32} << 20;

// Fills with numbers as random as sy::rand's: the power that a product draws
// depends on it.
__global__ void fill(void* data, size_t n, int kind) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n;
       i += size_t{gridDim.x} * blockDim.x) {
    unsigned x = static_cast<unsigned>(i) * 2654435761U;
    x ^= x >> 15;
    x *= 2246822519U;
    x ^= x >> 13;
    const float value = static_cast<float>(x >> 8) / 16777216.0F;
    const unsigned bits = __float_as_uint(value);
    if (kind == CUDA_R_32F) static_cast<float*>(data)[i] = value;
    if (kind == CUDA_R_16BF) {
      static_cast<unsigned short*>(data)[i] =
          static_cast<unsigned short>(bits >> 16);
    }
    if (kind == CUDA_R_16F) {  // normal numbers of [0, 1)
      const int e = static_cast<int>(bits >> 23) - 127 + 15;
      static_cast<unsigned short*>(data)[i] =
          e <= 0 ? 0
                 : static_cast<unsigned short>(e << 10 | (bits >> 13 & 0x3ff));
    }
  }
}

double time_of(cublasLtHandle_t lt, cublasLtMatmulDesc_t how,
               cublasLtMatrixLayout_t m, const cublasLtMatmulAlgo_t& algorithm,
               void* const* p) {
  const float alpha = 1, beta = 0;
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  const auto run = [&] {
    return cublasLtMatmul(lt, how, &alpha, p[0], m, p[1], m, &beta, p[2], m,
                          p[2], m, &algorithm, p[3], kRoom, nullptr);
  };
  std::vector<double> times;
  for (int i = 0; i < 3; ++i) {
    if (run() != CUBLAS_STATUS_SUCCESS) return -1;
  }
  for (int turn = 0; turn < 9; ++turn) {
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < 5; ++i) CHECK(run());
    CHECK(cudaEventRecord(end));
    CHECK(cudaDeviceSynchronize());
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(double{ms} * 1e6 / 5);
  }
  std::nth_element(times.begin(), times.begin() + 4, times.end());
  return times[4];
}

void run_size(cublasLtHandle_t lt, const Kind& kind, int n, void* const* p) {
  cublasLtMatmulDesc_t how;
  cublasLtMatrixLayout_t m;
  cublasLtMatmulPreference_t preference;
  CHECK(cublasLtMatmulDescCreate(&how, kind.compute, CUDA_R_32F));
  CHECK(cublasLtMatrixLayoutCreate(&m, kind.type, n, n, n));
  CHECK(cublasLtMatmulPreferenceCreate(&preference));
  CHECK(cublasLtMatmulPreferenceSetAttribute(
      preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kRoom,
      sizeof kRoom));
  for (int i = 0; i < 2; ++i) {
    fill<<<1024, 256>>>(p[i], size_t(n) * n, kind.type);
  }
  cublasLtMatmulHeuristicResult_t found[kMost];
  int count = 0;
  CHECK(cublasLtMatmulAlgoGetHeuristic(lt, how, m, m, m, m, preference, kMost,
                                       found, &count));
  double best = -1;
  for (int i = 0; i < count; ++i) {
    const double ns = time_of(lt, how, m, found[i].algo, p);
    if (ns > 0 && (best < 0 || ns < best)) best = ns;
  }
  if (best > 0) std::printf("mm_%s_%d\t%.1f\n", kind.name, n, best);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bool smoke = argc > 1 && std::strcmp(argv[1], "--smoke") == 0;
  const std::vector<int> sizes =
      smoke ? std::vector<int>{16, 64}
            : std::vector<int>{64, 256, 512, 1024, 2048, 4096, 8192};
  cublasLtHandle_t lt;
  CHECK(cublasLtCreate(&lt));
  void* p[4];
  const size_t bytes = size_t(sizes.back()) * sizes.back() * 4;
  for (int i = 0; i < 3; ++i) CHECK(cudaMalloc(&p[i], bytes));
  CHECK(cudaMalloc(&p[3], kRoom));
  for (const Kind& kind : kKinds) {
    for (const int n : sizes) run_size(lt, kind, n, p);
  }
}

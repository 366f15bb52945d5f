// CUB called directly: the measurements of cuda_bench that sort and select,
// under the same names, as lines "NAME <tab> NANOSECONDS".
//
//   nvcc -O3 -std=c++17 -arch=native -o cub_peer cub_peer.cu && ./cub_peer

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/cub.cuh>
#include <random>
#include <vector>

namespace {

bool smoke = false;

void check(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "cub_peer: %s: %s\n", what, cudaGetErrorString(e));
  std::exit(1);
}
#define CHECK(call) check(call, #call)

template <class T>
T* allocate(size_t n) {
  void* p = nullptr;
  CHECK(cudaMalloc(&p, n * sizeof(T)));
  return static_cast<T*>(p);
}

float* random_floats(size_t n) {
  std::vector<float> values(n);
  std::mt19937 random(1);
  for (float& x : values) x = static_cast<float>(random() >> 8) * 0x1p-24f;
  float* const out = allocate<float>(n);
  CHECK(cudaMemcpy(out, values.data(), n * sizeof(float),
                   cudaMemcpyHostToDevice));
  return out;
}

__global__ void count_up(long long* to, long long n) {
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) +
                      threadIdx.x;
  if (i < n) to[i] = i;
}

template <class F>
void report(const char* name, F f) {
  const int turns = smoke ? 1 : 9, calls = smoke ? 1 : 5;
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  for (int i = 0; i < 3; ++i) CHECK(f());
  std::vector<float> times;
  for (int turn = 0; turn < turns; ++turn) {
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < calls; ++i) CHECK(f());
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms / calls);
  }
  std::sort(times.begin(), times.end());
  std::printf("%s\t%.1f\n", name, times[times.size() / 2] * 1e6);
}

// Keys with 64-bit indices, as a sort of tensors gives; the keys stay.
void sort(long long n) {
  const float* const keys = random_floats(n);
  float* const sorted = allocate<float>(n);
  auto* const counted = allocate<long long>(n);
  auto* const indices = allocate<long long>(n);
  size_t bytes = 0;
  CHECK(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, sorted, counted,
                                        indices, n));
  void* const room = allocate<char>(bytes);
  report("sort_f32", [&] {
    count_up<<<(n + 255) / 256, 256>>>(counted, n);
    return cub::DeviceRadixSort::SortPairs(room, bytes, keys, sorted, counted,
                                           indices, n);
  });
}

void cumsum(long long n) {
  const float* const from = random_floats(n);
  float* const to = allocate<float>(n);
  size_t bytes = 0;
  CHECK(cub::DeviceScan::InclusiveSum(nullptr, bytes, from, to, n));
  void* const room = allocate<char>(bytes);
  report("cumsum_f32", [&] {
    return cub::DeviceScan::InclusiveSum(room, bytes, from, to, n);
  });
}

}  // namespace

int main(int argc, char** argv) {
  smoke = argc > 1 && std::strcmp(argv[1], "--smoke") == 0;
  sort(smoke ? 512 : 16 << 20);
  cumsum(smoke ? 4096 : 64 << 20);
}

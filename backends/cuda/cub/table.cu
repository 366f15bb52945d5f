#include <cub/version.cuh>

#include "backends/cuda/cub/api.h"
#include "backends/cuda/cub/parts.cuh"

namespace {

const char* error_text(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const SwitchyardCub*
switchyard_cuda_cub() {
  using namespace sy::cuda::cub_library;
  static const SwitchyardCub table = {SWITCHYARD_CUDA_CUB_VERSION,
                                      CUDART_VERSION,
                                      CUB_VERSION,
                                      &error_text,
                                      &sort_pairs,
                                      &sort_rows,
                                      &select_places,
                                      &sum_before,
                                      &count_numbers};
  return &table;
}

#include "backends/cuda/blas/product.h"
#include "benchmarks/cuda/measure.h"

// Products of square matrices, by cuBLASLt if it is there, and as NAME_own by
// our own kernels. peers/ has the same names.

namespace bench {
namespace {

using sy::Tensor;

struct Kind {
  sy::ScalarType dtype;
  bool tf32;
  const char* name;
};
constexpr Kind kKinds[] = {{sy::kFloat, false, "f32"},
                           {sy::kFloat, true, "tf32"},
                           {sy::kHalf, false, "f16"},
                           {sy::kBFloat16, false, "bf16"}};
// Our own kernels take long beyond.
constexpr int64_t kLargestOwn = 4096;

void run_size(const Options& o, const Kind& kind, int64_t n) {
  const auto options = sy::TensorOptions(device()).dtype(kind.dtype);
  const Tensor a = sy::rand({n, n}, options), b = sy::rand({n, n}, options);
  const auto multiply = [&] { const Tensor c = sy::mm(a, b); };
  const std::string name =
      std::string("mm_") + kind.name + "_" + std::to_string(n);
  sy::cuda::blas::set_allow_tf32(kind.tf32);
  report(name, device_time(o, multiply));
  sy::cuda::blas::set_allow_tf32(false);
  if (kind.tf32 || n > kLargestOwn) return;
  int64_t& least = sy::cuda::blas::least_work();
  const int64_t usual = least;
  least = int64_t{1} << 62;
  report(name + "_own", device_time(o, multiply));
  least = usual;
}

}  // namespace

void run_products(const Options& o) {
  const std::vector<int64_t> sizes =
      o.smoke ? std::vector<int64_t>{16, 64}
              : std::vector<int64_t>{64, 256, 512, 1024, 2048, 4096, 8192};
  const auto options = sy::TensorOptions(device());
  const Tensor a = sy::rand({64, 64}, options), b = sy::rand({64, 64}, options);
  report("submit_mm_64", host_time(o, [&] { const Tensor c = sy::mm(a, b); }));
  for (const Kind& kind : kKinds) {
    for (const int64_t n : sizes) run_size(o, kind, n);
  }
}

}  // namespace bench

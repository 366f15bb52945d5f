#include "backends/cuda/cub/library.h"
#include "backends/cuda/driver/api.h"
#include "benchmarks/cuda/measure.h"

// The times of kernels on the device. peers/ measures the same under the same
// names.

namespace bench {
namespace {

using sy::Tensor;

struct Sizes {
  int64_t elements, side, rows, sorted;
  std::vector<int64_t> columns, sorted_rows;
};

Sizes sizes_of(const Options& o) {
  if (o.smoke) return {4096, 64, 8, 512, {32, 64}, {16, 128}};
  return {int64_t{64} << 20,         8192,         4096, int64_t{16} << 20,
          {1024, 4096, 8192, 32768}, {2048, 32768}};
}

void run_copy(const Options& o, const Sizes& s) {
  const sy::TensorOptions on_device(device());
  const Tensor from = sy::ones({s.elements}, on_device);
  const Tensor to = sy::empty({s.elements}, on_device);
  namespace driver = sy::cuda::driver;
  const auto address = [](const Tensor& t) {
    return reinterpret_cast<driver::DevicePointer>(t.raw_data());
  };
  const auto stream = static_cast<driver::Stream>(
      sy::Stream::current(device()).native_handle());
  const double ns = device_time(o, [&] {
    driver::check(driver::api().copy_on_device(address(to), address(from),
                                               from.nbytes(), stream),
                  "cuMemcpyDtoDAsync");
  });
  report("copy", ns, 2.0 * static_cast<double>(from.nbytes()));
}

struct Named {
  sy::ScalarType dtype;
  const char* name;
};
constexpr Named kDtypes[] = {{sy::kFloat, "f32"}, {sy::kBFloat16, "bf16"}};

void run_elements(const Options& o, const Sizes& s) {
  for (const Named& d : kDtypes) {
    const auto options = sy::TensorOptions(device()).dtype(d.dtype);
    const Tensor x = sy::rand({s.elements}, options);
    const Tensor y = sy::rand({s.elements}, options);
    const auto bytes = static_cast<double>(x.nbytes());
    const auto run = [&](const std::string& name, double operands,
                         const std::function<Tensor()>& f) {
      report(name + "_" + d.name,
             device_time(o, [&] { const Tensor kept = f(); }),
             operands * bytes);
    };
    run("add", 3, [&] { return x.add(y); });
    run("mul", 3, [&] { return x.mul(y); });
    run("gelu", 2, [&] { return sy::gelu(x); });
    const Tensor square = x.view({s.side, -1});
    run("sum_all", 1, [&] { return x.sum(); });
    run("sum_dim0", 1, [&] { return square.sum(0); });
    run("sum_dim1", 1, [&] { return square.sum(1); });
    run("argmax", 1, [&] { return square.argmax(1); });
    const Tensor other = y.view({s.side, -1});
    if (square.size(0) == square.size(1)) {
      run("add_transposed", 3, [&] { return square.add(other.t()); });
    }
  }
}

void run_rows(const Options& o, const Sizes& s) {
  const sy::TensorOptions on_device(device());
  for (const int64_t n : s.columns) {
    const Tensor x = sy::rand({s.rows, n}, on_device);
    const Tensor weight = sy::rand({n}, on_device);
    const Tensor bias = sy::rand({n}, on_device);
    const double bytes = 2.0 * static_cast<double>(x.nbytes());
    const std::string size = "_" + std::to_string(n);
    report("softmax" + size,
           device_time(o, [&] { const Tensor y = x.softmax(1); }), bytes);
    report(
        "layer_norm" + size,
        device_time(
            o, [&] { const Tensor y = sy::layer_norm(x, {n}, weight, bias); }),
        bytes);
  }
}

// Runs with CUB, if it is there, and as NAME_own by our own kernels.
void run_both(const Options& o, const std::string& name,
              const std::function<void()>& f) {
  report(name, device_time(o, f));
  sy::cuda::cub::Least& least = sy::cuda::cub::least();
  const sy::cuda::cub::Least usual = least;
  constexpr int64_t kNever = int64_t{1} << 62;
  least = {kNever, kNever, kNever, kNever, kNever};
  report(name + "_own", device_time(o, f));
  least = usual;
}

void run_order(const Options& o, const Sizes& s) {
  const sy::TensorOptions on_device(device());
  const Tensor keys = sy::rand({s.sorted}, on_device);
  run_both(o, "sort_f32", [&] { const auto kept = keys.sort(0); });
  for (const int64_t n : s.sorted_rows) {
    const Tensor rows = keys.view({-1, n});
    run_both(o, "sort_rows_" + std::to_string(n),
             [&] { const auto kept = rows.sort(1); });
  }
  const Tensor numbers = keys.mul(1000).to(sy::kInt);
  run_both(o, "unique_i32",
           [&] { const auto kept = sy::_unique2(numbers, true, true, true); });
  run_both(o, "bincount_i32", [&] { const Tensor kept = numbers.bincount(); });
  const Tensor mask = keys.gt(0.5);
  run_both(o, "nonzero_bool", [&] { const Tensor kept = mask.nonzero(); });
  const Tensor x = sy::rand({s.elements}, on_device);
  report("cumsum_f32", device_time(o, [&] { const Tensor y = x.cumsum(0); }),
         2.0 * static_cast<double>(x.nbytes()));
}

}  // namespace

void run_device(const Options& o) {
  const Sizes s = sizes_of(o);
  run_copy(o, s);
  run_elements(o, s);
  run_rows(o, s);
  run_order(o, s);
}

}  // namespace bench

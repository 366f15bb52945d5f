#include <sy/library.h>
#include <sy/sy.h>

#include <cstdio>

// Loads the backend and compares it with the CPU. Usage: sample_test LIB

namespace {

int failures = 0;

void check(bool holds, const char* what) {
  std::printf("%s %s\n", holds ? "PASS" : "FAIL", what);
  if (!holds) ++failures;
}

void check_close(const sy::Tensor& got, const sy::Tensor& expected,
                 const char* what) {
  const sy::Tensor host = got.to(sy::kCPU);
  check(host.sizes() == expected.sizes() &&
            host.sub(expected).abs().amax().item<double>() <= 1e-5,
        what);
}

int64_t fallbacks() {
  int64_t sum = 0;
  for (const sy::FallbackCount& f : sy::fallback_counts()) sum += f.calls;
  return sum;
}

void compare_with_cpu(sy::Device device) {
  sy::manual_seed(0);
  const sy::Tensor a = sy::randn({3, 4}), b = sy::randn({4}),
                   w = sy::randn({4, 5});
  const sy::Tensor x = a.to(device), y = b.to(device), v = w.to(device);
  check(x.device() == device, "tensors arrive");
  check_close(x, a, "and come back");

  sy::reset_fallback_counts();
  check_close(x.add(y, 0.5), a.add(b, 0.5), "add");
  check_close(x.mul(y), a.mul(b), "mul");
  check_close(sy::relu(x), sy::relu(a), "relu");
  check_close(x.mm(v), a.mm(w), "mm");
  check_close(x.t().add(x.t()), a.t().add(a.t()), "other strides");
  check_close(x.clone().mul_(y), a.mul(b), "in place");
  check_close(sy::ones({2, 3}, x.options()), sy::ones({2, 3}), "factories");
  check(fallbacks() == 0, "all of it without the CPU");

  check_close(x.tanh(), a.tanh(), "other operators run on the CPU");
  check(fallbacks() == 1, "and are counted");

  const sy::Tensor leaf = x.clone().requires_grad_();
  sy::relu(leaf.mul(y)).sum().backward();
  const sy::Tensor here = a.clone().requires_grad_();
  sy::relu(here.mul(b)).sum().backward();
  check_close(leaf.grad(), here.grad(), "gradients");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: sample_test LIB\n");
    return 2;
  }
  try {
    sy::LibraryHandle library = sy::load_library(argv[1]);
    compare_with_cpu(sy::Device("sample:0"));
    library.unload();
    check(!library, "unloads");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sample_test: %s\n", e.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}

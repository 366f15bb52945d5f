#include <sy/sy.h>

#include <chrono>
#include <cstdio>

// Loads operators from a file and calls one of them, with its gradient. No
// compiler is asked. Usage: runtime_op [FILE]

int main(int argc, char** argv) try {
  const char* file = argc > 1 ? argv[1] : "examples/runtime_op/ops.yaml";
  const auto start = std::chrono::steady_clock::now();
  const sy::SchemaHandle schema = sy::load_schema(file);
  for (const std::string& name : schema.operators()) {
    std::printf("  %s\n", name.c_str());
  }

  // Calls by a handle with the C++ signature, found once …
  const auto rms_norm =
      sy::typed_operator<sy::Tensor(const sy::Tensor&, const sy::Tensor&)>(
          "house::rms_norm");
  {
    const sy::Tensor x = sy::linspace(-2, 2, 8).reshape({2, 4});
    const sy::Tensor w = sy::ones({4}).requires_grad_();
    const sy::Tensor y = rms_norm.call(x, w);
    const std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - start;
    std::printf("  first result after %.1f ms\n", passed.count());
    y.sum().backward();
    std::printf("  sum %.4f, slope of the first weight %.4f\n",
                y.detach().sum().item<float>(),
                w.grad().select(0, 0).item<float>());
  }

  // … or boxed, with arguments that are known only now.
  sy::Value args[] = {sy::Value(sy::ones({3})), sy::Value(0), sy::Value(false),
                      sy::Value(1e-6)};
  sy::Value result;
  sy::Dispatcher::singleton()
      .find_or_throw("house::rms")
      .call_boxed(args, 4, &result, 1);
  std::printf("  rms of ones %s\n", to_string(result).c_str());
} catch (const sy::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}

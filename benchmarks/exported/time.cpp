#include <sy/compile.h>
#include <sy/export.h>
#include <sy/io.h>
#include <sy/nn.h>
#include <sy/optim.h>
#include <sy/sy.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// Runs an exported program for some seconds; prints the median milliseconds.
// Usage: time FILE INPUTS first|eager|compile|train SECONDS
// first: one run, for who times the process; prints the number of outputs and
// the most megabytes that the process had.

namespace {

using Tensors = std::vector<sy::Tensor>;

Tensors inputs_of(const std::string& path) {
  const sy::NamedTensors named = sy::load_safetensors(path);
  Tensors out;
  for (size_t i = 0; i < named.size(); ++i) {
    out.push_back(named["input." + std::to_string(i)]);
  }
  return out;
}

sy::Tensor sum_of(const Tensors& outputs) {
  sy::Tensor sum = sy::zeros({});
  for (const sy::Tensor& t : outputs) {
    if (sy::is_floating_type(t.scalar_type())) sum = sum + t.sum();
  }
  return sum;
}

template <class F>
double median_ms(double seconds, const F& run) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < 3; ++i) run();
  std::vector<double> times;
  const auto begin = Clock::now();
  for (auto now = begin;
       now - begin < std::chrono::duration<double>(seconds);) {
    run();
    const auto after = Clock::now();
    times.push_back(
        std::chrono::duration<double, std::milli>(after - now).count());
    now = after;
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int, char** argv) {
  const std::string mode = argv[3];
  const double seconds = std::atof(argv[4]);
  const sy::Program program = sy::load_program(argv[1]);
  const Tensors inputs = inputs_of(argv[2]);
  const std::vector<sy::ArchiveValue> values(inputs.begin(), inputs.end());
  if (mode == "train") {
    sy::optim::SGD sgd(program->parameters(), sy::optim::SGDOptions(1e-6));
    std::printf("%.4f\n", median_ms(seconds, [&] {
                  sgd.zero_grad();
                  sum_of(program->tensors(values)).backward();
                  sgd.step();
                }));
    return 0;
  }
  const sy::NoGradGuard no_grad;
  if (mode == "compile") {
    auto f = sy::compile([&](const Tensors& given) {
      return program->tensors({given.begin(), given.end()});
    });
    std::printf("%.4f\n", median_ms(seconds, [&] { f(inputs); }));
  } else if (mode == "eager") {
    std::printf("%.4f\n",
                median_ms(seconds, [&] { program->tensors(values); }));
  } else {
    const size_t outputs = program->tensors(values).size();
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    std::printf("%zu %.1f\n", outputs, double(used.ru_maxrss) / 1024);
  }
}

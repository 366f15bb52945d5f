#include <sy/export.h>
#include <sy/nn.h>
#include <sy/sy.h>

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>

// What a node of an exported program costs beyond its operator: chains of 500
// calls on a few elements, as a program and as a loop of C++. Prints for each
// operator the nanoseconds a call of both, the least of many runs in turns, and
// their difference.

namespace {

using sy::Tensor;
using Step = std::function<Tensor(const Tensor&)>;
constexpr int kCalls = 500;
constexpr int kRuns = 2000;

struct Chain {
  const char* name;
  int calls_a_step;
  Step step;
};

template <class F>
double seconds_of(const F& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

void compare(const Chain& chain, const std::string& path) {
  const Tensor x = sy::linspace(0.1, 0.9, 16).reshape({4, 4});
  const auto all = [&](const Tensor& in) {
    Tensor y = in;
    for (int i = 0; i < kCalls / chain.calls_a_step; ++i) y = chain.step(y);
    return y;
  };
  sy::exporting::export_module(
      *sy::nn::Identity().get(),
      [&](const std::vector<sy::ArchiveValue>& in) {
        return sy::ArchiveValue(all(in[0].to_tensor()));
      },
      {sy::ArchiveValue(x)}, path, {});
  const sy::Program program = sy::load_program(path);
  const std::vector<sy::ArchiveValue> inputs = {sy::ArchiveValue(x)};
  double loop = 1, nodes = 1;
  for (int run = 0; run < kRuns; ++run) {
    loop = std::min(loop, seconds_of([&] { all(x); }));
    nodes = std::min(nodes, seconds_of([&] { program->tensors(inputs); }));
  }
  const auto a_call = [](double seconds) { return seconds / kCalls * 1e9; };
  std::printf("%-20s %8.1f %8.1f %8.1f\n", chain.name, a_call(nodes),
              a_call(loop), a_call(nodes - loop));
}

}  // namespace

int main() {
  const sy::NoGradGuard no_grad;
  const std::string path = std::filesystem::temp_directory_path() /
                           ("node_" + std::to_string(getpid()) + ".pt2");
  const Tensor one = sy::ones({4, 4});
  const Chain chains[] = {
      {"relu", 1, [](const Tensor& t) { return t.relu(); }},
      {"add", 1, [&](const Tensor& t) { return t + one; }},
      {"div", 1, [&](const Tensor& t) { return t / one; }},
      {"matmul", 1, [&](const Tensor& t) { return t.matmul(one); }},
      {"unsqueeze, squeeze", 2,
       [](const Tensor& t) { return t.unsqueeze(0).squeeze(0); }},
      {"sum, expand", 2,
       [](const Tensor& t) {
         return t.sum({0}, true).expand({4, 4});
       }},
  };
  std::printf("%-20s %8s %8s %8s\n", "ns a call", "program", "loop", "more");
  for (const Chain& chain : chains) compare(chain, path);
  std::filesystem::remove(path);
}

#include "benchmarks/cuda/measure.h"

// The first call of an operator in a process beside the second, with waiting
// for the result. The device is in use already, and nothing is on disk.

namespace bench {
namespace {

using Call = std::function<sy::Tensor()>;

double timed(const Call& call) {
  wait();
  const auto begin = Clock::now();
  const sy::Tensor kept = call();
  wait();
  return since(begin);
}

// "first_NAME" is how much longer, the median over the calls; "worst_NAME" the
// most, and "second_NAME" what the second took.
void compare(const std::string& name, const std::vector<Call>& calls) {
  std::vector<double> more, second;
  double worst = 0;
  for (const Call& call : calls) {
    const double first = timed(call);
    second.push_back(timed(call));
    more.push_back(first - second.back());
    worst = std::max(worst, more.back());
  }
  report("second_" + name, median(second));
  report("first_" + name, median(more));
  report("worst_" + name, worst);
}

}  // namespace

void run_first(const Options& o) {
  const int64_t n = o.smoke ? 8 : 256;
  const sy::TensorOptions on_device(device());
  const sy::Tensor x = sy::rand({n, n}, on_device);
  const sy::Tensor y = sy::rand({n, n}, on_device);
  const sy::Tensor index =
      sy::arange(n, sy::TensorOptions(device()).dtype(sy::kLong));
  // These calls bring the interpreter of programs.
  for (int i = 0; i < 2; ++i) {
    timed([&] { return x.exp(); });
    timed([&] { return x.sum(1); });
  }
  compare("pointwise", {
                           [&] { return x.sinh(); },
                           [&] { return x.erf(); },
                           [&] { return x.log1p(); },
                           [&] { return x.atan2(y); },
                           [&] { return x.hypot(y); },
                           [&] { return x.lgamma(); },
                           [&] { return x.fmod(y); },
                           [&] { return x.lt(y); },
                       });
  compare("reduction", {
                           [&] { return x.prod(0); },
                           [&] { return x.amax(1); },
                           [&] { return x.logsumexp(1); },
                           [&] { return x.argmax(1); },
                           [&] { return x.cumsum(0); },
                       });
  compare("other", {
                       [&] { return x.index_select(0, index); },
                       [&] { return x.tril(); },
                       [&] { return x.flip({0}); },
                       [&] { return x.roll(3, 0); },
                       [&] { return std::get<0>(x.sort(1)); },
                       [&] { return x.matmul(y); },
                   });
}

}  // namespace bench

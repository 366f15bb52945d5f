#include "backends/cuda/driver/api.h"
#include "benchmarks/cuda/measure.h"

// The cost of submitting work, for the host.

namespace bench {
namespace {

namespace driver = sy::cuda::driver;
using Launch = decltype(driver::Api::launch);

Launch real_launch = nullptr;
double bare_ns = 0;
Options options_of_bare;

// Stands in for the driver's function during one call of an operator: times
// the same launch made again and again, with nothing around it.
driver::Result time_launch(driver::Function f, unsigned gx, unsigned gy,
                           unsigned gz, unsigned bx, unsigned by, unsigned bz,
                           unsigned shared, driver::Stream stream,
                           void** params, void** extra) {
  const auto launch = [&] {
    return real_launch(f, gx, gy, gz, bx, by, bz, shared, stream, params,
                       extra);
  };
  const int calls = options_of_bare.smoke ? 5 : 400;
  const int batches = options_of_bare.smoke ? 2 : 30;
  std::vector<double> times;
  for (int batch = 0; batch <= batches; ++batch) {
    driver::check(driver::api().stream_synchronize(stream),
                  "cuStreamSynchronize");
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) driver::check(launch(), "cuLaunchKernel");
    if (batch > 0) times.push_back(since(begin) / calls);
  }
  driver::check(driver::api().stream_synchronize(stream),
                "cuStreamSynchronize");
  bare_ns = median(times);
  return launch();
}

// The driver's function for launches is another one, to the end of the scope.
class LaunchReplaced {
 public:
  explicit LaunchReplaced(Launch by) {
    real_launch = api_.launch;
    api_.launch = by;
  }
  ~LaunchReplaced() { api_.launch = real_launch; }
  LaunchReplaced(const LaunchReplaced&) = delete;
  LaunchReplaced& operator=(const LaunchReplaced&) = delete;

 private:
  // The table is made once, not constant, and this thread alone launches.
  driver::Api& api_ = const_cast<driver::Api&>(driver::api());
};

// The time of a bare launch of the kernel that `f` starts.
double bare_launch(const Options& o, const std::function<void()>& f) {
  options_of_bare = o;
  const LaunchReplaced replaced(time_launch);
  f();
  return bare_ns;
}

// The time of a call without the driver's part of it: nothing is launched.
double own_time(const Options& o, const std::function<void()>& f) {
  const LaunchReplaced replaced([](auto...) { return driver::kSuccess; });
  return host_time(o, f);
}

}  // namespace

void run_host(const Options& o) {
  const sy::TensorOptions on_device(device());
  const sy::Tensor x = sy::ones({1}, on_device);
  const sy::Tensor y = sy::ones({1}, on_device);
  const auto add = [&] { const sy::Tensor z = x.add(y); };
  for (int i = 0; i < 10; ++i) add();
  wait();
  report("bare_launch", bare_launch(o, add));
  report("own_add", own_time(o, add));
  report("submit_add", host_time(o, add));
  report("submit_add_", host_time(o, [&] { x.add_(y); }));
  report("submit_sum", host_time(o, [&] { const sy::Tensor z = x.sum(); }));
  report("empty",
         host_time(o, [&] { const sy::Tensor z = sy::empty({1}, on_device); }));
}

}  // namespace bench

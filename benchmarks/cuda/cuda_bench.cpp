#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>

#include "backends/cuda/driver/api.h"
#include "benchmarks/cuda/measure.h"

// The times of the device cuda, one round:
//
//   cuda_bench [--smoke] host|first|device|products|convolutions|steps
//
// host: what submitting costs; first: first calls of operators; device: what
// kernels take; products: of matrices; steps: of training. tools/bench_cuda.py
// starts it, in turns with peers/, and makes a table. The backend is linked, so
// that its own kernels can be launched bare.

namespace bench {

namespace driver = sy::cuda::driver;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void report(const std::string& name, double nanoseconds, double bytes) {
  std::printf("%s\t%.1f\t%.0f\n", name.c_str(), nanoseconds, bytes);
  std::fflush(stdout);
}

sy::Device device() { return sy::Device("cuda:0"); }

void wait() { sy::synchronize(device()); }

double host_time(const Options& o, const std::function<void()>& f) {
  // Fewer calls than a queue of the driver takes, so that none waits for room.
  const int calls = o.smoke ? 5 : 400;
  const int batches = o.smoke ? 2 : 30;
  std::vector<double> times;
  for (int batch = 0; batch <= batches; ++batch) {
    wait();
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) f();
    const double each = since(begin) / calls;
    if (batch > 0) times.push_back(each);
  }
  wait();
  return median(times);
}

namespace {

struct Event {
  driver::Event handle = nullptr;

  Event() {
    driver::check(driver::api().event_create(&handle, 0), "cuEventCreate");
  }
  ~Event() { driver::api().event_destroy(handle); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(driver::Stream stream) const {
    driver::check(driver::api().event_record(handle, stream), "cuEventRecord");
  }
};

}  // namespace

double device_time(const Options& o, const std::function<void()>& f) {
  const auto stream = static_cast<driver::Stream>(
      sy::Stream::current(device()).native_handle());
  const int turns = o.smoke ? 1 : 9;
  const int calls = o.smoke ? 1 : 5;
  const Event begin, end;
  for (int i = 0; i < (o.smoke ? 1 : 3); ++i) f();
  std::vector<double> times;
  for (int turn = 0; turn < turns; ++turn) {
    wait();
    begin.record(stream);
    for (int i = 0; i < calls; ++i) f();
    end.record(stream);
    wait();
    float milliseconds = 0;
    driver::check(
        driver::api().event_elapsed(&milliseconds, begin.handle, end.handle),
        "cuEventElapsedTime");
    times.push_back(double{milliseconds} * 1e6 / calls);
  }
  return median(times);
}

}  // namespace bench

int main(int argc, char** argv) try {
  bench::Options options;
  void (*part)(const bench::Options&) = nullptr;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--smoke") options.smoke = true;
    if (word == "host") part = bench::run_host;
    if (word == "first") part = bench::run_first;
    if (word == "device") part = bench::run_device;
    if (word == "products") part = bench::run_products;
    if (word == "convolutions") part = bench::run_convolutions;
    if (word == "steps") part = bench::run_steps;
  }
  if (part == nullptr) {
    std::fprintf(stderr,
                 "usage: cuda_bench [--smoke] "
                 "host|first|device|products|convolutions|steps\n");
    return 2;
  }
  sy::init();
  const sy::NoGradGuard no_grad;
  part(options);
} catch (const std::exception& e) {
  std::fprintf(stderr, "cuda_bench: %s\n", e.what());
  return 1;
}

#include "streams.h"

#include <sy/io.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <limits>
#include <sstream>

#include "check.h"
#include "model.h"

namespace host {
namespace {

using sy::Device;
using sy::Event;
using sy::Stream;
using sy::StreamGuard;
using sy::Tensor;

// Milliseconds; long, so that a busy machine is quicker than the device.
constexpr int kLong = 400;

std::string own(Device device, const char* op) {
  return sy::backend_device_name(device.type()) + "::" + op;
}

}  // namespace

Tensor check_finite(const Tensor& t) {
  return sy::Dispatcher::singleton()
      .find_or_throw(own(t.device(), "check_finite"))
      .typed<Tensor(const Tensor&)>()
      .call(t);
}

void sleep_on(const Tensor& t) {
  sy::Dispatcher::singleton()
      .find_or_throw(own(t.device(), "sleep"))
      .typed<void(const Tensor&, int64_t)>()
      .call(t, kLong);
}

void streams_order_work(Device device) {
  const std::string name = device.str();
  const Tensor x = noise({64}, 21), there = x.to(device);
  const Stream stream = Stream::make(device);
  Tensor sum;
  {
    const StreamGuard guard(stream);
    check(Stream::current(device) == stream, name + ": the guard's stream");
    const auto start = std::chrono::steady_clock::now();
    sleep_on(there);
    sum = there.add(there);
    sum.mul_(there);
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - start;
    check(took.count() < kLong, name + ": calls return before kernels run");
    check(!stream.is_done(), name + ": the stream is busy");
  }
  check(Stream::current(device).id() == 0, name + ": the stream before it");
  check(Stream::current(device).is_done(), name + ": which has nothing to do");
  stream.synchronize();
  check(stream.is_done(), name + ": synchronize() waits");
  check_close(sum, x.add(x).mul(x), name + ": one stream works in order");
  sleep_on(there);
  const Tensor copied = there.add(there).cpu();
  check_close(copied, x.add(x), name + ": copies to the host wait");
}

void events_order_streams(Device device) {
  const std::string name = device.str();
  const Tensor x = noise({128}, 22), there = x.to(device);
  const Stream first = Stream::make(device), second = Stream::make(device);
  Tensor made, used;
  {
    const StreamGuard guard(first);
    sleep_on(there);
    made = there.add(there);
  }
  const Event done = first.record();
  check(!done.is_done(), name + ": an event of work that is not done");
  second.wait(done);
  {
    const StreamGuard guard(second);
    used = made.mul(there);
  }
  check(!second.is_done(), name + ": the second stream waits for the first");
  second.synchronize();
  check(done.is_done(), name + ": which is done by then");
  check_close(used, x.add(x).mul(x), name + ": events order two streams");
  sleep_on(there);
  const Event later = Stream::current(device).record();
  later.synchronize();
  check(later.is_done(), name + ": the host waits for one");
}

void errors_arrive_at_synchronize(Device device) {
  const std::string name = device.str();
  const Tensor bad =
      sy::tensor({1.0, std::numeric_limits<double>::infinity()}, sy::kFloat)
          .to(device);
  const Stream stream = Stream::make(device);
  Tensor after;
  {
    const StreamGuard guard(stream);
    check_finite(bad);
    after = bad.add(bad);
  }
  check_throws<sy::ValueError>(
      name + ": a kernel's error arrives at synchronize()",
      [&] { stream.synchronize(); }, {"check_finite] self", "finite", "inf"});
  stream.synchronize();
  check(true, name + ": once");
  check_close(after.narrow(0, 0, 1), sy::full({1}, 2.0),
              name + ": what came after it ran");
  check_finite(bad);
  check_throws<sy::ValueError>(name + ": or where the host reads",
                               [&] { bad.cpu(); }, {"check_finite"});
  check_finite(bad);
  check_throws<sy::ValueError>(name + ": or with the whole device",
                               [&] { sy::synchronize(device); },
                               {"check_finite"});
}

void memory_outlives_its_kernels(Device device) {
  const std::string name = device.str();
  const int64_t before = sy::memory_stats(device).allocated;
  const Tensor x = noise({4096}, 23), y = noise({4096}, 24);
  const Tensor other = y.to(device);
  const Stream slow = Stream::make(device), fast = Stream::make(device);
  Tensor sum;
  {
    const Tensor given = x.to(device);
    const StreamGuard guard(slow);
    sleep_on(given);
    sum = given.add(given);
  }
  // `given` is gone for the host; its kernel has not run yet.
  {
    const StreamGuard guard(fast);
    for (int i = 0; i < 8; ++i) const Tensor reused = other.relu();
  }
  fast.synchronize();
  check(!slow.is_done(), name + ": the kernel has not run");
  check_close(sum, x.add(x), name + ": memory is not reused before it has");
  sum = Tensor();
  sy::synchronize(device);
  check(sy::memory_stats(device).allocated - before ==
            static_cast<int64_t>(other.nbytes()),
        name + ": and comes back after");
}

void two_devices_of_one_backend(const Tensor& on_first, Device second) {
  const Device first = on_first.device();
  check(sy::device_count(sy::backend_device_name(first.type())) == 2,
        "there are two devices");
  sleep_on(on_first);
  const Tensor sum = on_first.add(on_first);
  const Tensor there = sum.to(second);
  check(there.device() == second, "a copy from one to the other");
  check_close(there, on_first.cpu().mul(2), "waits for what made it");
  check_close(there.t().to(first), on_first.cpu().mul(2).t(),
              "a view comes back");
  check_throws<sy::Error>("tensors of two devices are not mixed",
                          [&] { on_first.add(there); },
                          {first.str(), second.str()});
  const Device none(second.type(), 2);
  check_throws<sy::ValueError>(
      "there is no third", [&] { sy::device_properties(none); }, {"[0, 1]"});
}

void the_rest_of_a_device(Device device) {
  const std::string name = device.str();
  const sy::DeviceProperties p = sy::device_properties(device);
  check(std::string(p.name).find("Simulated") == 0 && p.total_memory > 0,
        name + ": its properties");
  sy::manual_seed(7);
  const Tensor here = sy::randn({16});
  sy::manual_seed(7);
  const Tensor there = sy::randn({16}, sy::TensorOptions().device(device));
  check_close(there, here, name + ": a seed gives the same numbers");
  const sy::Generator generator = sy::make_generator(7, device);
  check_close(sy::randn({16}, generator, sy::TensorOptions().device(device)),
              here, name + ": so does a generator of its own");

  std::ostringstream text;
  text << sy::full({2}, 2.5).to(device);
  check(text.str().find("2.5") != std::string::npos, name + ": printing");

  const auto file = std::filesystem::temp_directory_path() /
                    ("switchyard-" + std::to_string(getpid()));
  sy::save_safetensors(file.string(), {{"x", there}});
  check_close(sy::SafetensorsFile(file.string()).get("x"), here,
              name + ": saving");
  std::filesystem::remove(file);
}

}  // namespace host

#include <sy/library.h>
#include <sy/sy.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "check.h"
#include "graphs.h"
#include "model.h"
#include "pinned.h"
#include "streams.h"

// Loads two backends that it was not linked with, uses both, and unloads them.
// Usage: host ACCEL.so BOLT.so

namespace host {
namespace {

using sy::Device;
using sy::Tensor;

int64_t native_calls(const std::string& backend) {
  return sy::Dispatcher::singleton()
      .find_or_throw(backend + "::native_calls")
      .typed<int64_t()>()
      .call();
}

int64_t fallbacks() {
  int64_t sum = 0;
  for (const sy::FallbackCount& f : sy::fallback_counts()) sum += f.calls;
  return sum;
}

// Whether touching the memory kills a process.
bool faults(void (*touch)(volatile char*), void* address) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    touch(static_cast<volatile char*>(address));
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
         WTERMSIG(status) == SIGSEGV;
}

void memory_is_protected(Device device) {
  const std::string name = device.str();
  const Tensor t = noise({4}, 1).to(device);
  check(t.device().str() == name, name + ": tensors arrive");
  check(faults([](volatile char* p) { (void)*p; }, t.data_ptr()),
        name + ": the host cannot read the memory");
  check(faults([](volatile char* p) { *p = 1; }, t.data_ptr()),
        name + ": the host cannot write the memory");
  check_close(t, noise({4}, 1), name + ": copies come back");
}

void model_agrees(Device device) {
  const std::string name = device.str();
  const Model model = Model::make();
  const Tensor images = noise({16, 64}, 5);
  const Model there = model.to(device);
  const Tensor moved = images.to(device);
  sy::reset_fallback_counts();
  const int64_t before = native_calls(name.substr(0, name.find(':')));
  const Tensor scores = there(moved);
  const int64_t native = native_calls(name.substr(0, name.find(':'))) - before;
  check(native == 4,
        sy::str("{}: the model took {} native calls", name, native));
  check(fallbacks() == 0, sy::str("{}: and {} fallbacks", name, fallbacks()));
  check(scores.device() == moved.device(), name + ": the result stays there");
  check_close(scores, model(images), name + ": the model agrees with the CPU");
}

void other_operators_fall_back(Device device) {
  const std::string name = device.str();
  const Tensor x = noise({3, 5}, 7), y = x.to(device);
  sy::reset_fallback_counts();
  check_close(y.tanh(), x.tanh(), name + ": tanh runs on the CPU");
  check_close(y.sum(1, true), x.sum(1, true), name + ": so does sum");
  bool tanh_counted = false;
  for (const sy::FallbackCount& f : sy::fallback_counts()) {
    tanh_counted |= std::string(f.op) == "aten::tanh" && f.calls == 1;
  }
  check(tanh_counted, name + ": the fallback is counted by name");
  const Tensor whole = x.to(sy::kLong), there = y.to(sy::kLong);
  check_close(there.add(there), whole.add(whole),
              name + ": native kernels pass other dtypes on");
}

void writes_and_views(Device device) {
  const std::string name = device.str();
  const Tensor x = noise({4, 6}, 8), a = x.to(device),
               one = sy::ones({6}).to(device);
  a.add_(one);
  check_close(a, x.add(1), name + ": in place");
  const Tensor column = a.select(1, 2);
  check(column.is_alias_of(a), name + ": views share memory");
  column.mul_(column);
  const Tensor expected = x.add(1);
  expected.select(1, 2).mul_(expected.select(1, 2));
  check_close(a, expected, name + ": writes to a view reach its base");
  check_close(a.t().add(a.t()), expected.t().add(expected.t()),
              name + ": strided arguments");
  Tensor out = sy::empty({0}, a.options());
  sy::add_out(out, a, one);
  check_close(out, expected.add(1), name + ": out= grows and is filled");
  a.fill_(2.5);
  check_close(a, sy::full({4, 6}, 2.5), name + ": fill_");
  check_close(sy::zeros({2, 2}, a.options()), sy::zeros({2, 2}),
              name + ": factories");
  check_throws<sy::Error>(name + ": shapes are checked before a kernel runs",
                          [&] { a.add(sy::ones({5}).to(a.device())); },
                          {"add"});
}

void gradients(Device device) {
  const std::string name = device.str();
  const Tensor w = noise({3, 4}, 9), x = noise({5, 4}, 10);
  const Tensor here = w.clone().requires_grad_();
  sy::relu(sy::linear(x, here)).sum().backward();
  const Tensor there = w.to(device).requires_grad_();
  sy::relu(sy::linear(x.to(device), there)).sum().backward();
  check(there.grad().device() == there.device(),
        name + ": gradients stay on the device");
  check_close(there.grad(), here.grad(), name + ": and agree with the CPU");
}

void memory_has_an_end(Device device) {
  const std::string name = device.str();
  const Tensor before = noise({8}, 11).to(device);
  check_throws<sy::OutOfMemoryError>(
      name + ": too large a tensor is an error",
      [&] { sy::empty({int64_t{1} << 32}, before.options()); },
      {name, "17179869184 bytes"});
  sy::set_memory_limit(4096, device);
  check_throws<sy::OutOfMemoryError>(
      name + ": so is passing the limit",
      [&] { sy::empty({2000}, before.options()); }, {name, "of 4096"});
  sy::set_memory_limit(0, device);
  check_close(before, noise({8}, 11), name + ": what is there stays whole");
  const int64_t used = sy::memory_stats(device).allocated;
  { const Tensor more = sy::empty({1000}, before.options()); }
  check(sy::memory_stats(device).allocated == used,
        name + ": memory comes back");
}

void two_devices_meet(Device accel, Device bolt) {
  const Tensor x = noise({3, 4}, 12);
  const Tensor a = x.to(accel), b = x.to(bolt);
  check_throws<sy::Error>("tensors of both devices are not mixed",
                          [&] { a.add(b); }, {"accel", "bolt"});
  check_throws<sy::Error>("nor where one is written",
                          [&] { a.clone().add_(b); }, {"accel", "bolt"});
  check_throws<sy::Error>("nor with host memory", [&] { a.add(x); },
                          {"accel", "cpu"});
  check(a.to(bolt).device() == b.device(), "copies go from one to the other");
  check_close(a.to(bolt), x, "and keep their values");
  const Tensor target = sy::zeros({4, 3}, b.options());
  target.t().copy_(a);
  check_close(target, x.t(), "also into a transposed view");
  check_close(a.to(bolt).add(b), x.add(x), "the copy is of use there");
}

void unload_is_refused_while_held(sy::LibraryHandle& library, Device device) {
  {
    const sy::Stream stream = sy::Stream::make(device);
    check_throws<sy::Error>("unloading is refused while a stream lives",
                            [&] { library.unload(); }, {"1 object"});
  }
  Tensor held = noise({2}, 13).to(device);
  check_throws<sy::Error>("unloading is refused while a tensor lives",
                          [&] { library.unload(); }, {"1 storage"});
  check_close(held.add(held), noise({2}, 13).mul(2), "and all still works");
}

void unloaded_backend_is_gone(sy::LibraryHandle& library, Device device,
                              const std::string& path) {
  const std::string name = device.str();
  library.unload();
  check(!library, "unloads when nothing holds it");
  check_throws<sy::ValueError>("its device is not known any more",
                               [&] { Device again(name); }, {"accel"});
  check_throws<sy::Error>("allocating there is an error",
                          [&] { sy::empty({2}, device); }, {"Accel"});
  check_throws<sy::NotImplementedError>("calling its operator is an error",
                                        [&] { native_calls("accel"); },
                                        {"accel::native_calls"});
  library = sy::load_library(path);
  model_agrees(Device(name));
}

int run(const std::string& accel_path, const std::string& bolt_path) {
  sy::LibraryHandle accel_library = sy::load_library(accel_path);
  sy::LibraryHandle bolt_library = sy::load_library(bolt_path);
  const Device accel("accel:0"), bolt("bolt:0");
  for (const Device device : {accel, bolt}) {
    section("memory", [&] { memory_is_protected(device); });
    section("model", [&] { model_agrees(device); });
    section("fallback", [&] { other_operators_fall_back(device); });
    section("writes", [&] { writes_and_views(device); });
    section("gradients", [&] { gradients(device); });
    section("limits", [&] { memory_has_an_end(device); });
  }
  for (const Device device : {accel, Device("accel:1"), bolt}) {
    section("streams", [&] { streams_order_work(device); });
    section("events", [&] { events_order_streams(device); });
    section("errors", [&] { errors_arrive_at_synchronize(device); });
    section("memory of kernels", [&] { memory_outlives_its_kernels(device); });
    section("graphs", [&] { graphs_run_again(device); });
    section("names", [&] { streams_have_names_and_times(device); });
    section("memory", [&] { memory_is_used_again_in_order(device); });
    section("pinned", [&] { pinned_memory_is_the_hosts(device); });
    section("copies", [&] { copies_need_not_wait(device); });
    section("the rest", [&] { the_rest_of_a_device(device); });
  }
  section("two devices", [&] {
    two_devices_of_one_backend(noise({3, 4}, 14).to(accel), Device("accel:1"));
  });
  section("both", [&] { two_devices_meet(accel, bolt); });
  section("pinned and held",
          [&] { pinned_memory_keeps_its_library(accel_library, accel); });
  section("held", [&] { unload_is_refused_while_held(accel_library, accel); });
  section("unload",
          [&] { unloaded_backend_is_gone(accel_library, accel, accel_path); });
  section("the other", [&] { model_agrees(bolt); });
  std::printf("%d passed, %d failed\n", passed(), failed());
  return failed() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace host

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: host ACCEL.so BOLT.so\n");
    return 2;
  }
  try {
    return host::run(argv[1], argv[2]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "host: %s\n", e.what());
    return 1;
  }
}

#include "c10/device/device_guard.h"

#include <gtest/gtest.h>

#include <thread>
#include <unordered_set>
#include <vector>

#include "c10/device/backend.h"
#include "c10/device/missing_devices.h"
#include "c10/device/stream.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/plugin/library.h"
#include "c10/tensor/storage.h"
#include "test/c10/expect_error.h"
#include "test/conformance/host_device.h"

namespace sy {
namespace {

class ThreeDevices final : public HostDevice {
 public:
  int device_count() const noexcept override { return count; }
  void set_device(int index) noexcept override { set.push_back(index); }
  bool memory_info(int index, MemoryInfo* out) override {
    *out = {100 - index, 1000};
    return true;
  }
  int count = 3;
  std::vector<int> set;
};

class OneDevice final : public HostDevice {
 public:
  bool properties(int, DeviceProperties* out) override {
    out->total_memory = 1 << 20;
    return true;
  }
};

ThreeDevices three;
OneDevice one;

// The device and the operator that a kernel saw.
struct Seen {
  int device = -1;
  std::string op;
};
Seen seen;

int64_t look(const TensorBase&) {
  seen = {current_device(kCUDA), std::string(running_operator_name())};
  return 1;
}
int64_t look_at_list(ArrayRef<TensorBase>, std::optional<Device>) {
  seen = {current_device(kCUDA), std::string(running_operator_name())};
  return 2;
}
void look_boxed(const Kernel&, const OperatorEntry&, DispatchKeySet, Value*,
                size_t, Value* results, size_t) {
  seen = {current_device(kCUDA), std::string(running_operator_name())};
  results[0] = Value(int64_t{3});
}
int64_t fail_late(const TensorBase&) { fail(ErrorKind::Value, "self: no"); }

constexpr OperatorDef unguarded() {
  OperatorDef d;
  d.schema = "unguarded(Tensor a) -> int";
  d.signature =
      &detail::SignatureTraits<int64_t(const TensorBase&)>::kSignature;
  d.tensor_args = 1;
  d.flags = OperatorDef::kNoDeviceGuard;
  return d;
}
constexpr OperatorDef kUnguarded[] = {unguarded()};

}  // namespace
}  // namespace sy

SY_LIBRARY(looks, m) {
  m.def("look(Tensor a) -> int");
  m.def("boxed(Tensor a) -> int");
  m.def("list(Tensor[] a, Device? device=None) -> int");
  m.def("fails(Tensor a) -> int");
  m.def_static(sy::kUnguarded, 1);
}
// Before the backend is there.
SY_LIBRARY_IMPL(looks, CUDA, m) {
  m.impl("look", SY_FN(sy::look));
  m.impl("boxed", sy::Kernel::from_boxed(&sy::look_boxed));
  m.impl("list", SY_FN(sy::look_at_list));
  m.impl("fails", SY_FN(sy::fail_late));
  m.impl("unguarded", SY_FN(sy::look));
}
SY_LIBRARY_IMPL(looks, CPU, m) { m.impl("look", SY_FN(sy::look)); }
SY_LIBRARY_IMPL(looks, One, m) { m.impl("look", SY_FN(sy::look)); }
SY_BACKEND(One, m) { m.device("one", &sy::one); }

namespace sy {
namespace {

using Look = int64_t(const TensorBase&);

TensorBase on(Device device) {
  return TensorBase(make_tensor({2}, kFloat, device));
}

int64_t call(const char* op, const TensorBase& t) {
  return typed_operator<Look>(op).call(t);
}

RegistrationHandle load_cuda() {
  return register_library(LibraryKind::Backend, "_", "CUDA",
                          [](Library& m) { m.device("cuda", &three); });
}

TEST(KnownBackends, HaveNumbersNamesAndKeysBeforeTheyAreLoaded) {
  init();
  EXPECT_EQ(Device("cuda:1"), Device(kCUDA, 1));
  EXPECT_EQ(Device("privateuseone").type(), DeviceType::PrivateUse1);
  EXPECT_TRUE(Device("lazy").is_lazy());
  EXPECT_EQ(to_string(DispatchKeySet::autograd(kCUDA)),
            "DispatchKeySet(AutogradCUDA)");
  EXPECT_EQ(backend_key_name(kXLA), "XLA");
  EXPECT_EQ(device_count("cuda"), 0);
  EXPECT_EQ(loaded_interface(kCUDA), nullptr);
  SY_EXPECT_ERROR(on("cuda"), ValueError,
                  "device 'cuda': no library of this backend is loaded; load "
                  "one with sy::load_library()");
  EXPECT_TRUE(Dispatcher::singleton()
                  .find_or_throw("looks::look")
                  .entry()
                  .has_kernel(DispatchKey::Dense, kCUDA));
  // A tensor that somebody makes all the same finds no kernel of others.
  const TensorBase t(
      TensorImpl::make(StorageImpl::without_data(8, kLazy), kFloat, kLazy,
                       DispatchKeySet::dense(kLazy), IntArrayRef{2}));
  SY_EXPECT_ERROR(call("looks::look", t), NotImplementedError,
                  "[looks::look] has no kernel for Lazy: 'lazy': no library of "
                  "this backend is loaded; load one with sy::load_library()");
}

TEST(Device, IsAKeyOfHashedContainers) {
  std::unordered_set<Device> devices{kCPU, Device(kCUDA), Device(kCUDA, 1)};
  EXPECT_FALSE(devices.insert(Device(kCUDA, 1)).second);
  EXPECT_TRUE(devices.insert(Device(kCUDA, 0)).second);
}

TEST(DeviceGuard, KernelsOfSeveralDevicesRunOnTheirArguments) {
  init();
  const RegistrationHandle cuda = load_cuda();
  three.set.clear();
  const TensorBase t = on(Device(kCUDA, 2));
  EXPECT_EQ(call("looks::look", t), 1);
  EXPECT_EQ(seen.device, 2);
  EXPECT_EQ(seen.op, "looks::look");
  EXPECT_EQ(three.set, (std::vector<int>{2, 0}));
  EXPECT_EQ(current_device(kCUDA), 0);
  EXPECT_EQ(running_operator(), nullptr);

  EXPECT_EQ(call("looks::boxed", t), 3);
  EXPECT_EQ(seen.device, 2);
  EXPECT_EQ(seen.op, "looks::boxed");

  EXPECT_EQ(call("looks::unguarded", t), 1);
  EXPECT_EQ(seen.device, 0);

  const auto boxed = Dispatcher::singleton().find_or_throw("looks::look");
  Value arg(t), result;
  boxed.call_boxed(&arg, 1, &result, 1);
  EXPECT_EQ(seen.device, 2) << "a boxed call of an unboxed kernel";
}

TEST(DeviceGuard, TensorsOfTheBackendComeBeforeOtherArguments) {
  init();
  const RegistrationHandle cuda = load_cuda();
  const auto list =
      typed_operator<int64_t(ArrayRef<TensorBase>, std::optional<Device>)>(
          "looks::list");
  const TensorBase none, host = on(kCPU), first = on(Device(kCUDA, 1));
  const TensorBase all[] = {none, host, first};
  EXPECT_EQ(list.call(all, Device(kCUDA, 2)), 2);
  EXPECT_EQ(seen.device, 1);
  list.redispatch(DispatchKeySet::dense(kCUDA), {}, Device(kCUDA, 2));
  EXPECT_EQ(seen.device, 2) << "a factory's device";
  list.redispatch(DispatchKeySet::dense(kCUDA), {}, std::nullopt);
  EXPECT_EQ(seen.device, 0);
}

TEST(DeviceGuard, AnErrorLeavesTheDeviceAsItWas) {
  init();
  const RegistrationHandle cuda = load_cuda();
  const DeviceGuard guard(Device(kCUDA, 1));
  SY_EXPECT_ERROR(call("looks::fails", on(Device(kCUDA, 2))), ValueError,
                  "[looks::fails] self: no");
  EXPECT_EQ(current_device(kCUDA), 1);
  EXPECT_EQ(running_operator(), nullptr);
}

TEST(DeviceGuard, CostsBackendsWithOneDeviceNothing) {
  init();
  const DispatchTable& table =
      Dispatcher::singleton().find_or_throw("looks::look").entry().table();
  for (const DeviceType t : {kCPU, Device("one").type()}) {
    EXPECT_EQ(table.find(DispatchKeySet::dense(t)).fn, SY_FN(look).unboxed);
  }
  EXPECT_EQ(call("looks::look", on("one")), 1);
  EXPECT_EQ(seen.op, "?");
}

TEST(CurrentDevice, IsOfAThreadAndWhereTensorsAreMade) {
  init();
  const RegistrationHandle cuda = load_cuda();
  EXPECT_EQ(on("cuda").device(), Device(kCUDA, 0));
  {
    const DeviceGuard guard(Device(kCUDA, 2));
    EXPECT_EQ(on("cuda").device(), Device(kCUDA, 2));
    EXPECT_EQ(on("cuda:1").device(), Device(kCUDA, 1));
    EXPECT_EQ(with_index(kCUDA), Device(kCUDA, 2));
    std::thread([] { EXPECT_EQ(current_device(kCUDA), 0); }).join();
    const DeviceGuard unchanged{Device(kCUDA)}, host{Device(kCPU)};
    EXPECT_EQ(current_device(kCUDA), 2);
    OptionalDeviceGuard maybe;
    maybe.set(Device(kCUDA, 1));
    EXPECT_EQ(current_device(kCUDA), 1);
    maybe.reset();
    EXPECT_EQ(current_device(kCUDA), 2);
  }
  EXPECT_EQ(current_device(kCUDA), 0);
  set_current_device(Device(kCUDA, 1));
  EXPECT_EQ(on("cuda").device(), Device(kCUDA, 1));
  set_current_device(Device(kCUDA, 0));
  SY_EXPECT_ERROR(set_current_device(Device(kCUDA, 3)), ValueError,
                  "expected 'cuda' with an index in [0, 2], got cuda:3");
  SY_EXPECT_ERROR(set_current_device(Device(kCPU, 1)), ValueError,
                  "there is one 'cpu', got cpu:1");
  SY_EXPECT_ERROR(DeviceGuard(Device(kXLA, 0)), ValueError, "'xla'");
}

TEST(MemoryInfo, OfTheHostAndOfDevices) {
  init();
  const RegistrationHandle cuda = load_cuda();
  EXPECT_EQ(memory_info(Device(kCUDA, 2)).free, 98);
  EXPECT_EQ(memory_info("one").total, 1 << 20);
  EXPECT_GT(memory_info().total, 0);
  EXPECT_GE(memory_info().total, memory_info().free);
  SY_EXPECT_ERROR(memory_info("cuda:3"), ValueError, "[0, 2]");
  three.count = 0;
  SY_EXPECT_ERROR(memory_info("cuda"), ValueError,
                  "there is no 'cuda' device in this machine");
  SY_EXPECT_ERROR(set_current_device("cuda:0"), ValueError,
                  "there is no 'cuda' device in this machine");
  set_why_no_devices(kCUDA, "[cuda] no driver: libcuda.so.1");
  constexpr const char* kText =
      "device: there is no 'cuda' device in this machine: [cuda] no driver: "
      "libcuda.so.1";
  SY_EXPECT_ERROR(memory_info("cuda"), ValueError, kText);
  SY_EXPECT_ERROR(set_current_device("cuda:0"), ValueError, kText);
  SY_EXPECT_ERROR(StorageImpl::allocate(4, Device("cuda")), ValueError, kText);
  set_why_no_devices(kCUDA, "");
  three.count = 3;
}

}  // namespace
}  // namespace sy

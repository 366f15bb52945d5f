#include "c10/device/backend.h"

#include <gtest/gtest.h>

#include <thread>

#include "c10/dispatch/dispatch_key_set.h"
#include "c10/process/error.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

class FakeDevices : public DeviceInterface {
 public:
  int device_count() const noexcept override { return 2; }
  Allocator& allocator(int) override { return cpu_allocator(); }
  void copy_from_host(void*, const void*, size_t, int) override {}
  void copy_to_host(void*, const void*, size_t, int) override {}
  void copy_on_device(void*, const void*, size_t, int) override {}
};
FakeDevices devices;

TEST(Backend, CpuAndMetaAreThereFromTheStart) {
  EXPECT_EQ(backend_key_name(kCPU), "CPU");
  EXPECT_EQ(backend_device_name(kMeta), "meta");
  EXPECT_TRUE(device_interface(kCPU).host_accessible());
  SY_EXPECT_ERROR(device_interface(kMeta), ValueError,
                  "device 'meta' has no memory");
  SY_EXPECT_ERROR(device_interface(device_type_of(31)), ValueError,
                  "device: no backend has the number 31");
  EXPECT_EQ(backend_key_name(device_type_of(31)), "?");
}

TEST(Backend, HostInterfaceCopies) {
  const int from = 42;
  int a = 0;
  int b = 0;
  DeviceInterface& host = device_interface(kCPU);
  host.copy_from_host(&a, &from, sizeof a, 0);
  host.copy_on_device(&b, &a, sizeof a, 0);
  EXPECT_EQ(b, 42);
  host.copy_to_host(nullptr, nullptr, 0, 0);
}

TEST(Backend, KeepsItsNumberFromOneRegistrationToTheNext) {
  const int before = backend_count();
  const DeviceType t = detail::register_backend("Npu", "npu", &devices);
  EXPECT_EQ(number_of(t), before);
  EXPECT_EQ(&device_interface(t), &devices);
  EXPECT_EQ(Device("npu:1"), Device(t, 1));
  EXPECT_EQ(Device("npu").str(), "npu");
  EXPECT_EQ(Device(t, 1).str(), "npu:1");
  EXPECT_EQ(to_string(DispatchKeySet::dense(t)), "DispatchKeySet(Npu)");

  detail::unregister_backend(t);
  EXPECT_FALSE(backends()[number_of(t)].present);
  SY_EXPECT_ERROR(
      device_interface(t), ValueError,
      "device 'npu': no library of this backend is loaded; load one "
      "with sy::load_library()");
  SY_EXPECT_ERROR(Device("npu"), ValueError,
                  "[Device] expected one of cpu, meta");
  EXPECT_EQ(Device(t).str(), "npu") << "tensors of it may be left";

  const DeviceType other = detail::register_backend("Xpu", "xpu", &devices);
  EXPECT_NE(other, t);
  EXPECT_EQ(detail::register_backend("Npu", "npu", &devices), t);
  detail::unregister_backend(t);
  detail::unregister_backend(other);
}

TEST(Backend, RefusesNamesThatAreTakenOrMisleading) {
  const DeviceType t = detail::register_backend("Tpu", "tpu", &devices);
  const auto add = [](const char* key, const char* device) {
    detail::register_backend(key, device, &devices);
  };
  SY_EXPECT_ERROR(add("Tpu", "tpu"), RegistrationError,
                  "backend Tpu is registered already");
  SY_EXPECT_ERROR(add("Other", "tpu"), RegistrationError,
                  "backend Other: device name 'tpu' belongs to backend Tpu");
  SY_EXPECT_ERROR(add("CPU", "cpu"), RegistrationError,
                  "backend CPU is registered already");
  SY_EXPECT_ERROR(add("Dense", "d"), RegistrationError,
                  "backend key: 'Dense' could be mistaken for the key Dense");
  SY_EXPECT_ERROR(add("AutogradFoo", "d"), RegistrationError,
                  "'AutogradFoo' could be mistaken for the key Autograd");
  SY_EXPECT_ERROR(add("", "d"), RegistrationError, "expected an identifier");
  SY_EXPECT_ERROR(
      add("Bad", "a:b"), RegistrationError,
      "backend Bad: device name: expected an identifier, got 'a:b'");
  detail::unregister_backend(t);
  SY_EXPECT_ERROR(add("Tpu", "tpu2"), RegistrationError,
                  "its device was named 'tpu' before, got 'tpu2'");
}

TEST(Backend, CpuCannotBeTakenAway) {
  detail::unregister_backend(kCPU);
  detail::unregister_backend(device_type_of(200));
  EXPECT_TRUE(backends()[number_of(kCPU)].present);
}

TEST(Device, Parses) {
  EXPECT_EQ(Device("cpu"), Device(kCPU));
  EXPECT_EQ(Device("cpu:0"), Device(kCPU, 0));
  EXPECT_EQ(Device("meta").str(), "meta");
  EXPECT_EQ(Device("cpu:0").str(), "cpu:0");
}

TEST(Device, ErrorsNameWhatThereIs) {
  SY_EXPECT_ERROR(Device("cpuu"), ValueError,
                  "[Device] expected one of cpu, meta, got 'cpuu'; did you "
                  "mean 'cpu'?");
  SY_EXPECT_ERROR(Device(""), ValueError, "got ''");
  SY_EXPECT_ERROR(Device("frobnicator"), ValueError,
                  "got 'frobnicator'; a library may bring others: "
                  "sy::load_library()");
  for (const char* text : {"cpu:", "cpu:1", "cpu:-1", "cpu:00", "cpu:0x",
                           "cpu:99999999999", "cpu:0:0"}) {
    SY_EXPECT_ERROR(Device{text}, ValueError, "[Device] index: expected 0, ");
  }
}

// Last: the numbers are used up for the rest of the process.
TEST(BackendLast, AtMost32FitAndReadersNeedNoLock) {
  std::thread reader([] {
    for (int i = 0; i < 2000; ++i) {
      for (const BackendInfo& b : backends()) {
        ASSERT_EQ(backend_key_name(b.type), b.key);
      }
    }
  });
  int n = backend_count();
  for (; n < kMaxBackends; ++n) {
    const std::string name = "b" + std::to_string(n);
    EXPECT_EQ(detail::register_backend("K" + name, name, &devices),
              device_type_of(n));
  }
  reader.join();
  SY_EXPECT_ERROR(detail::register_backend("OneMore", "more", &devices),
                  RegistrationError,
                  "backend OneMore: expected at most 32 backends");
  const DeviceType last = device_type_of(31);
  EXPECT_EQ(DispatchKeySet::dense(last).highest_backend(), last);
}

}  // namespace
}  // namespace sy

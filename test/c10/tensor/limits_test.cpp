#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "c10/device/backend.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/plugin/library.h"
#include "test/c10/expect_error.h"

// As many backends and operators as a process may have.

namespace sy {
namespace {

int64_t cpu_number(const TensorBase&) { return 0; }

}  // namespace
}  // namespace sy

SY_LIBRARY(limits, m) { m.def("number(Tensor a) -> int"); }
SY_LIBRARY_IMPL(limits, CPU, m) { m.impl("number", SY_FN(sy::cpu_number)); }

namespace sy {
namespace {

class HostMemory final : public DeviceInterface {
 public:
  Allocator& allocator(int) override { return cpu_allocator(); }
  void copy_from_host(void* d, const void* s, size_t n, int) override {
    std::memcpy(d, s, n);
  }
  void copy_to_host(void* d, const void* s, size_t n, int) override {
    std::memcpy(d, s, n);
  }
  void copy_on_device(void* d, const void* s, size_t n, int) override {
    std::memcpy(d, s, n);
  }
};

HostMemory& memory() {
  static auto* const m = new HostMemory;
  return *m;
}

// Answers with its backend's number.
void number(const Kernel&, const OperatorEntry&, DispatchKeySet keys, Value*,
            size_t, Value* results, size_t) {
  results[0] = Value(int64_t{number_of(keys.highest_backend())});
}

int64_t answer_of(Device device) {
  const TensorBase t(make_tensor({1}, kFloat, device));
  return typed_operator<int64_t(const TensorBase&)>("limits::number").call(t);
}

std::string key(int n) { return "Limit" + std::to_string(n); }
std::string name(int n) { return "limit" + std::to_string(n); }

struct Registered {
  RegistrationHandle backend, kernel;
};

Registered add_backend(int n) {
  Registered out;
  out.backend =
      register_library(LibraryKind::Backend, "_", key(n),
                       [n](Library& m) { m.device(name(n), &memory()); });
  out.kernel = register_library(
      LibraryKind::Impl, "limits", key(n),
      [](Library& m) { m.impl("number", Kernel::from_boxed(&number)); });
  return out;
}

TEST(Limits, ThirtyTwoBackendsAtOnceAreEachCalled) {
  init();
  std::vector<Registered> all;
  for (int n = backend_count(); n < kMaxBackends; ++n) {
    all.push_back(add_backend(n));
  }
  for (int n = kNumFixedBackends; n < kMaxBackends; ++n) {
    EXPECT_EQ(answer_of(Device(name(n))), n);
  }
  EXPECT_EQ(answer_of(Device(kCPU)), 0);

  const size_t bytes = Dispatcher::singleton()
                           .find_or_throw("limits::number")
                           .entry()
                           .table()
                           .bytes();
  SY_EXPECT_ERROR(add_backend(kMaxBackends), RegistrationError,
                  "backend Limit32: expected at most 32 backends");
  EXPECT_EQ(backend_count(), kMaxBackends);
  EXPECT_EQ(Dispatcher::singleton()
                .find_or_throw("limits::number")
                .entry()
                .table()
                .bytes(),
            bytes);
  EXPECT_EQ(answer_of(Device(name(kMaxBackends - 1))), kMaxBackends - 1);

  // A place whose backend is gone is its own again, and nobody else's.
  const int last = kMaxBackends - 1;
  all.pop_back();
  EXPECT_THROW(Device{name(last)}, ValueError);
  SY_EXPECT_ERROR(add_backend(kMaxBackends), RegistrationError,
                  "at most 32 backends");
  all.push_back(add_backend(last));
  EXPECT_EQ(answer_of(Device(name(last))), last);
}

TEST(Limits, TenThousandOperatorsOfOneLibrary) {
  constexpr int kOperators = 10000;
  const size_t before = Dispatcher::singleton().operators().size();
  const size_t memory_before = Dispatcher::singleton().memory_in_use();
  {
    const RegistrationHandle many =
        register_library(LibraryKind::Def, "many", "", [](Library& m) {
          for (int i = 0; i < kOperators; ++i) {
            m.def("f" + std::to_string(i) + "(Tensor a) -> int",
                  SY_FN(cpu_number));
          }
        });
    EXPECT_EQ(Dispatcher::singleton().operators().size(), before + kOperators);
    for (int i = 0; i < kOperators; i += 997) {
      const auto op = typed_operator<int64_t(const TensorBase&)>(
          "many::f" + std::to_string(i));
      EXPECT_EQ(op.call(TensorBase(make_tensor({1}, kFloat, Device(kCPU)))), 0);
    }
    // With rows for 32 backends, as the test before leaves them.
    const size_t each =
        (Dispatcher::singleton().memory_in_use() - memory_before) / kOperators;
    EXPECT_LE(each, 4096u);
  }
  EXPECT_EQ(Dispatcher::singleton().operators().size(), before);
  EXPECT_FALSE(Dispatcher::singleton().find("many::f1").has_value());
}

}  // namespace
}  // namespace sy

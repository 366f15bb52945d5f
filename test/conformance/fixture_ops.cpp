#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "c10/device/backend.h"
#include "c10/plugin/library.h"
#include "c10/process/error.h"
#include "c10/tensor/tensor_base.h"

// Operators that behave well or badly on purpose: what the runner must tell
// apart; and a device. A plugin, loaded by runner_test.py.

namespace sy {
namespace {

// The device's addresses are not the host's: reading through one crashes.
constexpr uintptr_t kDistance = uintptr_t{1} << 62;

template <class T>
T* shifted(T* p, intptr_t by) {
  return p == nullptr ? p
                      : reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(p) +
                                             static_cast<uintptr_t>(by));
}
template <class T>
T* on_host(T* p) {
  return shifted(p, -static_cast<intptr_t>(kDistance));
}

class FixtureDevice final : public DeviceInterface, public Allocator {
 public:
  Allocator& allocator(int) override { return *this; }
  void copy_from_host(void* to, const void* from, size_t n, int) override {
    std::memcpy(on_host(to), from, n);
  }
  void copy_to_host(void* to, const void* from, size_t n, int) override {
    std::memcpy(to, on_host(from), n);
  }
  void copy_on_device(void* to, const void* from, size_t n, int) override {
    std::memcpy(on_host(to), on_host(from), n);
  }
  void* allocate(size_t n) override {
    return n == 0 ? nullptr : shifted(std::malloc(n), kDistance);
  }
  void deallocate(void* p, size_t) noexcept override { std::free(on_host(p)); }
} device;

SY_BACKEND(Fixture, m) { m.device("fixture", &device); }

TensorBase fresh_like(const TensorBase& t) {
  return TensorBase(make_tensor(t.sizes(), t.dtype(), t.device()));
}

// Doubles a contiguous float32 tensor. `op` is named in errors.
TensorBase twice_of(const char* op, const TensorBase& self) {
  SY_CHECK(self.dtype() == kFloat, Type, "[{}] self: expected float32, got {}",
           op, self.dtype());
  SY_CHECK(self.is_contiguous(), Value,
           "[{}] self: expected a contiguous tensor", op);
  TensorBase out = fresh_like(self);
  const float* from = self.data_ptr<float>();
  for (int64_t i = 0; i < self.numel(); ++i) {
    out.data_ptr<float>()[i] = 2 * from[i];
  }
  return out;
}

TensorBase twice(const TensorBase& self) {
  return twice_of("fixture_twice", self);
}

TensorBase& twice_(TensorBase& self) {
  for (int64_t i = 0; i < self.numel(); ++i) self.data_ptr<float>()[i] *= 2;
  return self;
}

TensorBase& twice_out(const TensorBase& self, TensorBase& out) {
  out.impl()->resize(self.sizes());
  std::memcpy(out.data_ptr(), twice(self).data_ptr(), self.nbytes());
  return out;
}

TensorBase flat(const TensorBase& self) {
  return TensorBase(self.impl()->alias({self.numel()}, {1}, 0));
}

std::vector<TensorBase> halves(const TensorBase& self) {
  const int64_t n = self.numel() / 2;
  return {TensorBase(self.impl()->alias({n}, {1}, 0)),
          TensorBase(self.impl()->alias({n}, {1}, n))};
}

// A result that is the argument, undeclared.
TensorBase same(const TensorBase& self) { return self; }

// Writes an argument, undeclared; then gives the right result.
TensorBase scribble(const TensorBase& self) {
  TensorBase out = twice(self);
  self.data_ptr<float>()[0] = 77;
  return out;
}

// Writes beside the view that it is given.
TensorBase& overrun_(TensorBase& self) {
  twice_(self);
  self.data_ptr<float>()[self.numel()] = 77;
  return self;
}

// Resizes an argument, undeclared.
TensorBase reshaped(const TensorBase& self) {
  TensorBase out = twice(self);
  self.impl()->set_sizes_contiguous({self.numel(), 1});
  return out;
}

TensorBase crash(const TensorBase& self) {
  if (self.numel() == 3) {
    *static_cast<volatile int*>(nullptr) = 1;
  }
  return twice(self);
}

TensorBase hang(const TensorBase& self) {
  while (self.numel() == 3) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  return twice(self);
}

TensorBase leave(const TensorBase& self) {
  if (self.numel() == 3) std::_Exit(0);
  return twice(self);
}

// Loses memory that is no tensor's.
TensorBase lose(const TensorBase& self) {
  if (self.numel() == 3) {
    [[maybe_unused]] int* volatile lost = new int[1000];
    lost = nullptr;
  }
  return twice(self);
}

TensorBase refuse(const TensorBase& self, std::string_view how) {
  if (how == "value") fail(ErrorKind::Value, "a wrong value");
  if (how == "not_implemented") fail(ErrorKind::NotImplemented, "not yet");
  if (how == "internal") fail(ErrorKind::Internal, "a bug");
  if (how == "std") throw std::runtime_error("not ours");
  if (how == "number") throw 3;
  return twice(self);
}

// Fine but for some n.
TensorBase brittle(const TensorBase& self, int64_t n) {
  if (n == 7) throw std::runtime_error("seven");
  if (n == -2) std::abort();
  if (n == -1) {
    return TensorBase(self.impl()->alias({100}, {1}, 0));
  }
  SY_CHECK(n >= 0, Value, "[fixture_brittle] n: expected no less than 0");
  return twice_of("fixture_brittle", self);
}

// These two forget, without memory for a copy, what they have, or that they
// failed.
TensorBase forgetful(const TensorBase& self) {
  TensorBase first = fresh_like(self);
  try {
    return twice(self);
  } catch (const OutOfMemoryError&) {
    static_cast<void>(first.release_impl());
    throw;
  }
}
TensorBase careless(const TensorBase& self) {
  try {
    return twice(self);
  } catch (const OutOfMemoryError&) {
    return self;
  }
}

// Prints, as a kernel must be free to.
TensorBase chatty(const TensorBase& self) {
  std::printf("{\"end\": 0}\n");
  std::fflush(stdout);
  return twice(self);
}

// Arguments as they arrive.
std::vector<TensorBase> numbers(int64_t i, double f, bool b, const Scalar& s,
                                IntArrayRef list, std::string_view text,
                                std::optional<int64_t> absent) {
  TensorBase ints(make_tensor({static_cast<int64_t>(list.size()) + 4}, kLong,
                              Device(kCPU)));
  int64_t* p = ints.data_ptr<int64_t>();
  *p++ = i;
  *p++ = b;
  *p++ = static_cast<int64_t>(text.size());
  *p++ = absent.value_or(-1);
  for (int64_t v : list) *p++ = v;
  TensorBase floats(make_tensor({2}, kDouble, Device(kCPU)));
  floats.data_ptr<double>()[0] = f;
  floats.data_ptr<double>()[1] = s.to_double();
  return {ints, floats};
}

// Doubles a tensor of the device, with any strides.
TensorBase& device_twice_(TensorBase& self) {
  float* data = on_host(self.data_ptr<float>());
  SY_CHECK(self.dim() <= 1, Value, "one dim at most");
  for (int64_t i = 0; i < self.numel(); ++i) data[i * self.stride(0)] *= 2;
  return self;
}

TensorBase device_twice(const TensorBase& self) {
  TensorBase out = fresh_like(self);
  const float* from = on_host(self.data_ptr<float>());
  for (int64_t i = 0; i < self.numel(); ++i) {
    on_host(out.data_ptr<float>())[i] = 2 * from[i * self.stride(0)];
  }
  return out;
}

// Answers on the CPU.
TensorBase device_stray(const TensorBase& self) {
  return TensorBase(make_tensor(self.sizes(), kFloat, Device(kCPU)));
}

TensorBase make(int64_t n, std::optional<Device> where) {
  return TensorBase(make_tensor({n, 0}, kFloat, where.value_or(Device(kCPU))));
}

int64_t count(const TensorBase& self) { return self.numel(); }

double ratio(int64_t a, int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

SY_LIBRARY_FRAGMENT(aten, m) {
  for (const char* name :
       {"same", "scribble", "reshaped", "crash", "hang", "leave", "lose",
        "chatty", "twice", "forgetful", "careless"}) {
    m.def(str("fixture_{}(Tensor self) -> Tensor", name));
  }
  m.def("fixture_twice_(Tensor(a!) self) -> Tensor(a!)");
  m.def("fixture_overrun_(Tensor(a!) self) -> Tensor(a!)");
  m.def("fixture_twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("fixture_flat(Tensor(a) self) -> Tensor(a)");
  m.def("fixture_halves(Tensor(a -> *) self) -> Tensor(a)[]");
  m.def("fixture_refuse(Tensor self, str how=\"value\") -> Tensor");
  m.def(
      "fixture_numbers(int i, float f=1.5, bool b=True, *, Scalar s=2, "
      "int[2] list=7, str text='mean', int? absent=None) -> Tensor[]",
      SY_FN(numbers));
  m.def("fixture_brittle(Tensor self, int n=1) -> Tensor");
  m.def("fixture_count(Tensor self) -> int");
  m.def("fixture_make(int n, *, Device? device=None) -> Tensor", SY_FN(make));
  m.def("fixture_ratio(int a, int b) -> float", SY_FN(ratio));
}

SY_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("fixture_twice", SY_FN(twice));
  m.impl("fixture_twice_", SY_FN(twice_));
  m.impl("fixture_twice.out", SY_FN(twice_out));
  m.impl("fixture_flat", SY_FN(flat));
  m.impl("fixture_halves", SY_FN(halves));
  m.impl("fixture_same", SY_FN(same));
  m.impl("fixture_scribble", SY_FN(scribble));
  m.impl("fixture_overrun_", SY_FN(overrun_));
  m.impl("fixture_reshaped", SY_FN(reshaped));
  m.impl("fixture_crash", SY_FN(crash));
  m.impl("fixture_hang", SY_FN(hang));
  m.impl("fixture_leave", SY_FN(leave));
  m.impl("fixture_lose", SY_FN(lose));
  m.impl("fixture_refuse", SY_FN(refuse));
  m.impl("fixture_chatty", SY_FN(chatty));
  m.impl("fixture_brittle", SY_FN(brittle));
  m.impl("fixture_forgetful", SY_FN(forgetful));
  m.impl("fixture_careless", SY_FN(careless));
  m.impl("fixture_count", SY_FN(count));
}

SY_LIBRARY_IMPL(aten, Fixture, m) {
  m.impl("fixture_twice", SY_FN(device_twice));
  m.impl("fixture_twice_", SY_FN(device_twice_));
  m.impl("fixture_flat", SY_FN(flat));
  m.impl("fixture_scribble", SY_FN(device_stray));
}

}  // namespace
}  // namespace sy

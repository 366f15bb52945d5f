#pragma once

#include <exception>
#include <string>
#include <tuple>
#include <typeinfo>
#include <vector>

#include "aten/tensor_new.h"
#include "c10/device/generator.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

// For tests of families, which run on any device: SY_TEST_DEVICE names it,
// "cpu" by default, and SY_TEST_LIBRARIES what it needs: "cuda,lazy"; by
// default the library of its name. During a test, a call that makes a tensor
// and names no device makes it there: ones({2}), but not ones({2}, kCPU).
//
// The lines of skips_<device>.txt say where the device differs:
//   <family> <Suite>.<test> fails|slow|words <reason>
// fails: the test runs, and is reported as skipped; it may not pass.
// slow: it does not run.
// words: errors of this test have other texts; not all may be as expected.

namespace sy::families {

// The device, with an index. Loads its library.
Device test_device();
bool on_cpu();

// sy::tensor() on the device. An object, so that calls do not find sy::tensor()
// by their arguments.
struct MakeTensor {
  Tensor operator()(const detail::TensorData& data,
                    const TensorOptions& options = {}) const;
};
inline constexpr MakeTensor tensor{};

// A generator that operators on the device take. SY_TEST_GENERATOR names its
// device, if that is another one.
Generator generator(uint64_t seed);

// Waits for the elements of what a call returns, and throws what its kernels
// throw: a device may run them later, or never if nobody reads a result.
void finish();
void finish(const Tensor& result);
inline void finish(const std::vector<Tensor>& results) {
  for (const Tensor& t : results) finish(t);
}
template <class... T>
void finish(const std::tuple<T...>& results) {
  std::apply([](const auto&... t) { (finish(t), ...); }, results);
}

struct ExpectedError {
  const char* file;
  int line;
  const char* call;
  const std::type_info& kind;
  std::string text;
};
// Fails the test if `error` is another one; nullptr: there was none.
void check_error(const ExpectedError& expected, const std::exception* error);

template <class F>
void expect_error(const ExpectedError& expected, const F& call) {
  try {
    if constexpr (requires { finish(call()); }) {
      finish(call());
    } else {
      call();
      finish();
    }
    check_error(expected, nullptr);
  } catch (const std::exception& error) {
    check_error(expected, &error);
  }
}

}  // namespace sy::families

// The call throws this error on the device, now or when somebody reads what it
// returns.
#undef SY_EXPECT_ERROR
#define SY_EXPECT_ERROR(call, Kind, text)                    \
  ::sy::families::expect_error(                              \
      {__FILE__, __LINE__, #call, typeid(::sy::Kind), text}, \
      [&]() -> decltype(auto) { return call; })

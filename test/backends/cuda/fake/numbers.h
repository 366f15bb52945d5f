#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "test/backends/cuda/fake/fake_cuda_control.h"

// The parts that doubles of NVIDIA's libraries share: numbers in memory,
// settings, and work in streams of the fake driver.

namespace fake {

enum class Number { kFloat32, kFloat64, kFloat16, kBrain16 };

inline int64_t size_of(Number n) {
  return n == Number::kFloat64 ? 8 : n == Number::kFloat32 ? 4 : 2;
}

inline double read(const void* data, int64_t i, Number n) {
  const char* const at = static_cast<const char*>(data) + i * size_of(n);
  const auto as = [&]<class T>(T x) {
    std::memcpy(&x, at, sizeof x);
    return x;
  };
  switch (n) {
    case Number::kFloat64: return as(0.0);
    case Number::kFloat32: return static_cast<double>(as(0.0F));
    case Number::kFloat16: return static_cast<double>(as(_Float16{}));
    default: {
      const uint32_t bits = uint32_t{as(uint16_t{0})} << 16;
      float x;
      std::memcpy(&x, &bits, sizeof x);
      return static_cast<double>(x);
    }
  }
}

inline void write(void* data, int64_t i, Number n, double value) {
  char* const at = static_cast<char*>(data) + i * size_of(n);
  const auto put = [&](auto x) { std::memcpy(at, &x, sizeof x); };
  switch (n) {
    case Number::kFloat64: put(value); return;
    case Number::kFloat32: put(static_cast<float>(value)); return;
    case Number::kFloat16: put(static_cast<_Float16>(value)); return;
    default: {
      const auto x = static_cast<float>(value);
      uint32_t bits;
      std::memcpy(&bits, &x, sizeof bits);
      if (value == value) bits += 0x7fff + (bits >> 16 & 1);
      put(static_cast<uint16_t>(bits >> 16));
    }
  }
}

// The number of an environment variable.
inline int setting(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

// Puts work into a stream, a CUstream. Returns a CUresult.
inline int put_work(void* stream, std::function<void()> work) {
  static const auto call = [] {
    const char* const path = std::getenv("SWITCHYARD_CUDA_DRIVER");
    void* const driver = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
    void* const found =
        driver == nullptr ? nullptr : dlsym(driver, "fake_cuda_call");
    if (found == nullptr) {
      std::fprintf(stderr, "a double of a library: there is no fake driver\n");
      std::abort();
    }
    return reinterpret_cast<decltype(&fake_cuda_call)>(found);
  }();
  auto* const task = new std::function<void()>(std::move(work));
  return call(
      stream,
      [](void* t) {
        auto* const f = static_cast<std::function<void()>*>(t);
        (*f)();
        delete f;
      },
      task);
}

}  // namespace fake

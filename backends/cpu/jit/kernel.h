#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "backends/cpu/jit/request.h"
#include "c10/macros.h"
#include "c10/tensor/intrusive_ptr.h"

namespace sy::cpu::jit {

// Machine code in memory.
class SY_API Kernel final : public RefCounted {
 public:
  ~Kernel();
  // For a multiple of `unit` elements, at least one. Returns how many were
  // computed; all, unless the kernel stops().
  int64_t run(char* const* data, const program::Uniform* uniforms,
              int64_t n) const {
    return fn_(data, uniforms, n);
  }
  int64_t unit() const { return unit_; }
  // Some numbers it leaves to the interpreter.
  bool stops() const { return stops_; }
  const void* memory() const { return memory_; }
  size_t bytes() const { return bytes_; }

  // nullptr if the bytes are no image, or the system gives no memory for code.
  static intrusive_ptr<Kernel> load(const std::string& image);

 private:
  Kernel() = default;
  KernelFn fn_ = nullptr;
  int64_t unit_ = 0;
  bool stops_ = false;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace sy::cpu::jit

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aten/program/program.h"
#include "c10/tensor/scalar_type.h"

// The request of the CPU to its compiler, and the image that it gets. Both are
// bytes, so that they can be a key, go to a file and go to another process.

namespace sy::cpu::jit {

enum class Isa : uint8_t { kAvx2, kAvx512 };

// How an operand lies in memory.
struct Port {
  ScalarType dtype = ScalarType::Undefined;
  bool is_single = false;  // one element, read throughout; never a result

  friend bool operator==(const Port&, const Port&) = default;
};

// A program with its operands, as bytes.
std::string encode(const program::Program& program,
                   program::ComputeType compute, const Port* inputs,
                   const ScalarType* results, Isa isa);

// The same taken apart. Owns what `program` points to.
struct Request {
  program::Program program;
  program::ComputeType compute{};
  Isa isa{};
  std::vector<Port> inputs;
  std::vector<ScalarType> results;
  std::vector<program::Step> steps;
  std::vector<program::Result> registers;

  Request() = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
};
// False if the bytes are no request.
bool decode(std::string_view bytes, Request* request);

// Machine code that needs nothing else, wherever it lies, and its data. The
// header is first.
struct ImageHeader {
  static constexpr uint32_t kMagic = 0x324a5953;  // SYJ2
  uint32_t magic = kMagic;
  uint32_t bytes = 0;  // header included
  uint32_t entry = 0;  // offset of the kernel
  uint16_t unit = 0;   // elements; a call's are a multiple of it
  uint16_t stops = 0;  // 1: a call may end early
};
// The largest unit.
inline constexpr int kMostUnit = 128;
// data: the first element of each input, then of each result. A result may be
// in the very memory of an input. Returns how many elements it has computed: n,
// or less if one in the unit behind needs slow code.
using KernelFn = int64_t (*)(char* const* data,
                             const program::Uniform* uniforms, int64_t n);

}  // namespace sy::cpu::jit

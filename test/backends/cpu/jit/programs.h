#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/jit/kernels.h"
#include "backends/cpu/tiles/runner.h"
#include "c10/process/error.h"

// Programs on both sides: interpreted, and compiled when they first run.

namespace sy::test {

using lang::Prim;
using lang::PrimType;
using program::ComputeType;

// A program with memory for its operands.
struct Case {
  ComputeType compute = ComputeType::f32;
  std::vector<program::Step> steps;
  std::vector<program::Result> results;
  std::vector<program::Uniform> uniforms;
  uint64_t bool_inputs = 0, bool_uniforms = 0;
  int registers = 0;
  struct Input {
    ScalarType dtype;
    bool is_single = false;
    std::vector<char> bytes;
  };
  std::vector<Input> inputs;
  std::vector<ScalarType> outputs;
  // Result k has the memory of input overlay[k], or -1.
  std::vector<int> overlay;
  int64_t n = 0;

  program::Program program() const {
    program::Program p;
    p.steps = steps.data();
    p.n_steps = static_cast<uint16_t>(steps.size());
    p.results = results.data();
    p.n_results = static_cast<uint8_t>(results.size());
    p.n_inputs = static_cast<uint8_t>(inputs.size());
    p.n_uniforms = static_cast<uint8_t>(uniforms.size());
    p.n_registers = static_cast<uint16_t>(registers);
    p.bool_inputs = bool_inputs;
    p.bool_uniforms = bool_uniforms;
    return p;
  }

  // The bytes of all results.
  std::vector<std::vector<char>> run(cpu::jit::Mode mode) const {
    const cpu::jit::Mode before = cpu::jit::mode();
    cpu::jit::set_mode(mode);
    std::vector<std::vector<char>> memory;
    std::vector<cpu::tiles::Operand> in, out;
    std::vector<char*> data;
    for (const Input& i : inputs) {
      memory.push_back(i.bytes);
      const auto size = static_cast<int64_t>(element_size(i.dtype));
      in.push_back({nullptr, i.is_single ? 0 : size, i.dtype});
    }
    for (size_t k = 0; k < outputs.size(); ++k) {
      const size_t size = element_size(outputs[k]);
      out.push_back({nullptr, static_cast<int64_t>(size), outputs[k]});
      if (overlay.empty() || overlay[k] < 0) {
        memory.emplace_back(static_cast<size_t>(n) * size);
      }
    }
    for (size_t k = 0; k < inputs.size(); ++k) data.push_back(memory[k].data());
    size_t next = inputs.size();
    std::vector<size_t> where;
    for (size_t k = 0; k < outputs.size(); ++k) {
      const bool over = !overlay.empty() && overlay[k] >= 0;
      where.push_back(over ? static_cast<size_t>(overlay[k]) : next++);
      data.push_back(memory[where[k]].data());
    }
    const program::Program p = program();
    cpu::tiles::Runner(p, compute, in.data(), uniforms.data(), out.data())
        .run(data.data(), n);
    cpu::jit::set_mode(before);
    std::vector<std::vector<char>> made;
    for (const size_t w : where) made.push_back(memory[w]);
    return made;
  }
};

inline std::vector<char> random_bytes(std::mt19937_64& random, ScalarType dtype,
                                      int64_t n) {
  const size_t size = element_size(dtype);
  std::vector<char> bytes(static_cast<size_t>(n) * size);
  for (int64_t i = 0; i < n; ++i) {
    uint64_t bits = random();
    char* const to = bytes.data() + static_cast<size_t>(i) * size;
    // A third are numbers of everyday size, the others any bits: NaN,
    // infinities and denormals among them.
    const double small = static_cast<double>(bits % 20001) / 1000 - 10;
    const bool plain = (bits >> 40) % 3 == 0;
    if (dtype == ScalarType::Bool) {
      bits &= 1;
    } else if (plain && dtype == ScalarType::Float) {
      const auto x = static_cast<float>(small);
      std::memcpy(&bits, &x, sizeof x);
    } else if (plain && dtype == ScalarType::Double) {
      std::memcpy(&bits, &small, sizeof small);
    } else if (plain && is_integral_type(dtype, false)) {
      bits = static_cast<uint64_t>(static_cast<int64_t>(small));
    }
    std::memcpy(to, &bits, size);
  }
  return bytes;
}

// Element by element; a NaN is a NaN. -1: no difference.
inline int64_t first_difference(ScalarType dtype, const std::vector<char>& a,
                                const std::vector<char>& b) {
  const size_t size = element_size(dtype);
  const auto is_nan = [&](const char* x) {
    if (dtype == ScalarType::Float) {
      float v;
      std::memcpy(&v, x, sizeof v);
      return v != v;
    }
    if (dtype == ScalarType::Double) {
      double v;
      std::memcpy(&v, x, sizeof v);
      return v != v;
    }
    uint16_t v = 0;
    if (size == 2) std::memcpy(&v, x, sizeof v);
    if (dtype == ScalarType::Half) return (v & 0x7fff) > 0x7c00;
    if (dtype == ScalarType::BFloat16) return (v & 0x7fff) > 0x7f80;
    return false;
  };
  for (size_t i = 0; i < a.size(); i += size) {
    if (std::memcmp(a.data() + i, b.data() + i, size) == 0) continue;
    if (is_nan(a.data() + i) && is_nan(b.data() + i)) continue;
    return static_cast<int64_t>(i / size);
  }
  return -1;
}

}  // namespace sy::test

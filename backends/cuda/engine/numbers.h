#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "aten/engine/pointwise.h"
#include "backends/cuda/compile/hash.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/device/number.cuh"

// Programs as keys of kernels, and their numbers.

namespace sy::cuda {

inline Number number_of(const program::Uniform& u) {
  Number n;
  std::memcpy(&n, &u, sizeof n);
  return n;
}

// Appends the numbers of a program; returns where they end.
inline Number* put_numbers(const ElementProgram& p, const Scalar* scalars,
                           int64_t count, program::ComputeType type,
                           Number* to) {
  program::Uniform values[program::kMaxUniforms];
  eval_uniforms(p, scalars, count, type, values);
  for (int i = 0; i < p.body.n_uniforms; ++i) *to++ = number_of(values[i]);
  return to;
}

// A number as the compiler of programs has it, in a register.
inline Number number_of(const lang::Uniform& u, program::ComputeType type,
                        bool is_bool) {
  return number_of(u.is_int ? program::make_uniform(type, is_bool, u.i)
                            : program::make_uniform(type, is_bool, u.d));
}

inline void add_program(Hasher* h, const program::Program* p) {
  if (p == nullptr) {
    h->add(uint64_t{0});
    return;
  }
  h->add(std::string_view(reinterpret_cast<const char*>(p->steps),
                          p->n_steps * sizeof(program::Step)));
  for (int i = 0; i < p->n_results; ++i) {
    h->add(uint64_t{p->results[i].reg} << 1 | p->results[i].is_bool);
  }
  h->add(p->bool_inputs).add(p->bool_uniforms);
  h->add(uint64_t{p->n_inputs} << 16 | uint64_t{p->n_uniforms} << 8 |
         p->n_results);
}

inline ProgramKey key_of(const Hasher& h) {
  const Hash hash = Hasher(h).end();
  return {{hash.a, hash.b}};
}

}  // namespace sy::cuda

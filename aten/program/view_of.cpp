#include <vector>

#include "aten/program/op_desc.h"

namespace sy {

namespace {

template <class T>
const T* data_or_null(const std::vector<T>& list) {
  return list.empty() ? nullptr : list.data();
}

}  // namespace

program::Program program::view_of(const lang::Program& p) noexcept {
  return {.steps = data_or_null(p.steps),
          .results = data_or_null(p.results),
          .bool_inputs = p.bool_inputs(),
          .bool_uniforms = p.bool_uniforms(),
          .n_steps = static_cast<uint16_t>(p.steps.size()),
          .n_registers = static_cast<uint16_t>(p.n_registers),
          .n_inputs = static_cast<uint8_t>(p.inputs.size()),
          .n_uniforms = static_cast<uint8_t>(p.uniforms.size()),
          .n_results = static_cast<uint8_t>(p.results.size())};
}

ElementProgram view_of(const lang::Program& p,
                       const uint8_t* scalar_index) noexcept {
  return {.body = program::view_of(p),
          .constants = data_or_null(p.constants),
          .uniform_steps = data_or_null(p.uniform_steps),
          .uniforms = data_or_null(p.uniforms),
          .scalar_index = scalar_index,
          .n_scalars = static_cast<uint8_t>(p.scalars.size()),
          .n_constants = static_cast<uint8_t>(p.constants.size()),
          .n_uniform_steps = static_cast<uint8_t>(p.uniform_steps.size())};
}

}  // namespace sy

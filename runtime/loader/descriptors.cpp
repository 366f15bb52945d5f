#include "runtime/loader/descriptors.h"

#include <memory>
#include <type_traits>

#include "aten/engine/iter.h"

namespace sy::runtime {
namespace {

template <class T>
const T* data_or_null(const std::vector<T>& list) {
  return list.empty() ? nullptr : list.data();
}

template <class T>
size_t bytes_of(const std::vector<T>& list) {
  return list.size() * sizeof(T);
}

// `*view` becomes that of a copy at `to`, which goes on behind it.
template <class T>
void copy_into(std::byte*& to, const std::vector<T>& list, const T** view) {
  static_assert(alignof(T) == 1 || std::is_same_v<T, lang::Uniform>);
  if (list.empty()) return;
  std::uninitialized_copy(list.begin(), list.end(), reinterpret_cast<T*>(to));
  *view = reinterpret_cast<const T*>(to);
  to += bytes_of(list);
}

PromoteRule promote_rule(std::string_view rule) {
  if (rule == "int_to_float") return PromoteRule::IntToFloat;
  if (rule == "bool_to_int") return PromoteRule::BoolToInt;
  if (rule == "same") return PromoteRule::Same;
  return PromoteRule::Default;
}

}  // namespace

ElementProgram copy_program(const lang::Program& p,
                            const std::vector<int>& indices,
                            ProgramArrays* arrays) {
  std::vector<uint8_t> scalar_index;
  for (const int i : indices) {
    scalar_index.push_back(i < 0 ? ElementProgram::kCount
                                 : static_cast<uint8_t>(i));
  }
  ElementProgram out = view_of(p, data_or_null(scalar_index));
  *arrays = std::make_unique<std::byte[]>(
      bytes_of(p.constants) + bytes_of(p.uniform_steps) + bytes_of(p.uniforms) +
      bytes_of(p.steps) + bytes_of(p.results) + bytes_of(scalar_index));
  std::byte* to = arrays->get();
  // The first is aligned like the block, the others like bytes.
  copy_into(to, p.constants, &out.constants);
  copy_into(to, p.uniform_steps, &out.uniform_steps);
  copy_into(to, p.uniforms, &out.uniforms);
  copy_into(to, p.steps, &out.body.steps);
  copy_into(to, p.results, &out.body.results);
  copy_into(to, scalar_index, &out.scalar_index);
  return out;
}

std::vector<ScalarSource> scalar_sources(
    const std::vector<lang::ScalarInput>& scalars,
    const FunctionSchema& schema) {
  std::vector<ScalarSource> out;
  out.reserve(scalars.size());
  for (const lang::ScalarInput& s : scalars) {
    const int i = schema.argument_index(s.name);
    const Type type = i < 0 ? Type(TypeKind::kScalar)
                            : schema.arguments()[static_cast<size_t>(i)].type;
    const auto kind =
        static_cast<NodeScalar::Kind>(model::scalar_kind(s, type));
    out.push_back({InternedString(s.name), kind, InternedString(s.text)});
  }
  return out;
}

PointwiseData::PointwiseData(const model::PointwiseParts& parts,
                             const FunctionSchema& schema, const char* name)
    : scalars_(scalar_sources(parts.program.scalars, schema)),
      defaults_(parts.defaults) {
  const auto& inputs = parts.program.inputs;
  names_.reserve(inputs.size() + scalars_.size());
  for (const lang::ProgramInput& in : inputs) {
    names_.push_back(InternedString(in.name).c_str());
  }
  for (const ScalarSource& s : scalars_) names_.push_back(s.name.c_str());
  op_.name = name;
  op_.promote = promote_rule(parts.rule);
  op_.n_inputs = static_cast<uint8_t>(inputs.size());
  op_.n_scalars = static_cast<uint8_t>(scalars_.size());
  op_.promote_inputs = parts.promote_inputs;
  op_.promote_scalars = parts.promote_scalars;
  op_.whole_scalars = parts.whole_scalars;
  op_.lower_bounds = parts.lower_bounds;
  op_.upper_bounds = parts.upper_bounds;
  op_.input_names = data_or_null(names_);
  op_.scalar_names = scalars_.empty() ? nullptr : &names_[inputs.size()];
  op_.program = copy_program(parts.program, {}, &arrays_[0]);
  if (parts.at_defaults) {
    at_defaults_ = std::make_unique<ElementProgram>(
        copy_program(*parts.at_defaults, {}, &arrays_[1]));
    op_.at_defaults = at_defaults_.get();
    op_.defaults = data_or_null(defaults_);
  }
}

ReduceData::ReduceData(const model::ReduceParts& parts, const char* name,
                       const FunctionSchema& schema, size_t accumulators,
                       bool in_double)
    : scalars_(scalar_sources(parts.scalars, schema)),
      identity_(parts.identity) {
  ProgramArrays* arrays = arrays_;
  const auto program = [&](const lang::Program& p) {
    return copy_program(p, model::scalar_indices(p, parts.scalars), arrays++);
  };
  op_.name = name;
  op_.promote = promote_rule(parts.rule);
  op_.n_accumulators = static_cast<uint8_t>(accumulators);
  op_.n_results = static_cast<uint8_t>(schema.returns().size());
  op_.n_scalars = static_cast<uint8_t>(scalars_.size());
  if (in_double) op_.accumulate = AccumulateRule::Double;
  op_.map = program(parts.map);
  op_.combine = program(parts.combine);
  if (parts.finish) {
    finish_ = std::make_unique<ElementProgram>(program(*parts.finish));
    op_.finish = finish_.get();
  }
  op_.identity = data_or_null(identity_);
}

ScanData::ScanData(const model::Operator& op, const char* name) {
  const model::ScanParts parts = model::scan_parts(op);
  const lang::ScanBody& body = *op.entry->scan;
  op_.name = name;
  op_.promote = promote_rule(parts.rule);
  if (body.accumulate) op_.accumulate = AccumulateRule::Double;
  op_.chooses = body.chooses;
  op_.combine = copy_program(parts.combine, {}, &arrays_);
}

std::string beyond_limits(const lang::Program& p, bool operands) {
  const auto more = [](const char* what, size_t n, size_t limit) {
    return n <= limit
               ? ""
               : str("the expression has {} {}, more than {}", n, what, limit);
  };
  std::string out = more("tensor operands", p.inputs.size() + p.results.size(),
                         operands ? Iter::kMaxOperands : program::kMaxInputs);
  if (out.empty()) {
    out = more("uniform operands", p.uniforms.size(), program::kMaxUniforms);
  }
  if (out.empty()) {
    out = more("scalars", p.scalars.size(), PointwiseData::kMaxScalars);
  }
  if (out.empty()) out = more("steps", p.steps.size(), UINT16_MAX);
  if (out.empty()) out = more("uniform steps", p.uniform_steps.size(), 255);
  if (out.empty()) out = more("constants", p.constants.size(), 255);
  return out;
}

}  // namespace sy::runtime

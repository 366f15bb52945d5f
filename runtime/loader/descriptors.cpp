#include "runtime/loader/descriptors.h"

#include "aten/engine/iter.h"

namespace sy::runtime {
namespace {

template <class T>
const T* data_or_null(const std::vector<T>& list) {
  return list.empty() ? nullptr : list.data();
}

PromoteRule promote_rule(std::string_view rule) {
  if (rule == "int_to_float") return PromoteRule::IntToFloat;
  if (rule == "bool_to_int") return PromoteRule::BoolToInt;
  if (rule == "same") return PromoteRule::Same;
  return PromoteRule::Default;
}

}  // namespace

ProgramData::ProgramData(const lang::Program& p,
                         const std::vector<int>& indices)
    : compiled_(p) {
  for (const int i : indices) {
    scalar_index_.push_back(i < 0 ? ElementProgram::kCount
                                  : static_cast<uint8_t>(i));
  }
  program_ = view_of(compiled_, data_or_null(scalar_index_));
}

std::vector<ScalarSource> scalar_sources(
    const std::vector<lang::ScalarInput>& scalars,
    const FunctionSchema& schema) {
  std::vector<ScalarSource> out;
  for (const lang::ScalarInput& s : scalars) {
    const int i = schema.argument_index(s.name);
    const Type type = i < 0 ? Type(TypeKind::kScalar)
                            : schema.arguments()[static_cast<size_t>(i)].type;
    const auto kind =
        static_cast<NodeScalar::Kind>(codegen::scalar_kind(s, type));
    out.push_back({s.name, kind, s.text});
  }
  return out;
}

PointwiseData::PointwiseData(const codegen::PointwiseParts& parts,
                             const FunctionSchema& schema)
    : name_(parts.name),
      scalars_(scalar_sources(parts.program.scalars, schema)),
      defaults_(parts.defaults) {
  for (const lang::ProgramInput& in : parts.program.inputs) {
    inputs_.push_back(in.name);
  }
  for (const std::string& n : inputs_) input_names_.push_back(n.c_str());
  for (const ScalarSource& s : scalars_) {
    scalar_names_.push_back(s.name.c_str());
  }
  op_.name = name_.c_str();
  op_.promote = promote_rule(parts.rule);
  op_.n_inputs = static_cast<uint8_t>(inputs_.size());
  op_.n_scalars = static_cast<uint8_t>(scalars_.size());
  op_.promote_inputs = parts.promote_inputs;
  op_.promote_scalars = parts.promote_scalars;
  op_.whole_scalars = parts.whole_scalars;
  op_.lower_bounds = parts.lower_bounds;
  op_.upper_bounds = parts.upper_bounds;
  op_.input_names = data_or_null(input_names_);
  op_.scalar_names = data_or_null(scalar_names_);
  const auto program = [&](const lang::Program& p) -> const ElementProgram& {
    return programs_
        .emplace_back(std::make_unique<ProgramData>(p, std::vector<int>()))
        ->get();
  };
  op_.program = program(parts.program);
  if (parts.at_defaults) {
    op_.at_defaults = &program(*parts.at_defaults);
    op_.defaults = data_or_null(defaults_);
  }
}

ReduceData::ReduceData(const codegen::ReduceParts& parts,
                       const std::string& name, const FunctionSchema& schema,
                       size_t accumulators, bool in_double)
    : name_(name),
      scalars_(scalar_sources(parts.scalars, schema)),
      identity_(parts.identity) {
  const auto program = [&](const lang::Program& p) -> const ElementProgram& {
    return programs_
        .emplace_back(std::make_unique<ProgramData>(
            p, codegen::scalar_indices(p, parts.scalars)))
        ->get();
  };
  op_.name = name_.c_str();
  op_.promote = promote_rule(parts.rule);
  op_.n_accumulators = static_cast<uint8_t>(accumulators);
  op_.n_scalars = static_cast<uint8_t>(scalars_.size());
  if (in_double) op_.accumulate = AccumulateRule::Double;
  op_.map = program(parts.map);
  op_.combine = program(parts.combine);
  if (parts.finish) op_.finish = &program(*parts.finish);
  op_.identity = data_or_null(identity_);
}

ScanData::ScanData(const codegen::Operator& op) : name_(op.base.name) {
  const codegen::ScanParts parts = codegen::scan_parts(op);
  const lang::ScanBody& body = *op.entry->scan;
  program_ = std::make_unique<ProgramData>(parts.combine, std::vector<int>());
  op_.name = name_.c_str();
  op_.promote = promote_rule(parts.rule);
  if (body.accumulate) op_.accumulate = AccumulateRule::Double;
  op_.chooses = body.chooses;
  op_.combine = program_->get();
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

#include "backends/cuda/print/body.h"

#include <array>

#include "c10/process/error.h"

namespace sy::cuda::print {

namespace {

using lang::Prim;
using lang::PrimType;
using lang::Step;
using program::ComputeType;
using program::Program;

// The file with the function of a primitive; "" where the type is outside of
// its domain.
class FunctorFiles {
 public:
  FunctorFiles() {
    file_ = "functors/arithmetic.cuh";
#define SY_FUNCTOR(prim, type, functor) set(Prim::prim, ComputeType::type);
#define SY_LIST_ARITHMETIC
#include "aten/program/functors/list.inc"
    file_ = "functors/compare.cuh";
#define SY_FUNCTOR(prim, type, functor) set(Prim::prim, ComputeType::type);
#define SY_LIST_COMPARE
#include "aten/program/functors/list.inc"
    file_ = "functors/copies.cuh";
#define SY_FUNCTOR(prim, type, functor) set(Prim::prim, ComputeType::type);
#define SY_LIST_COPIES
#include "aten/program/functors/list.inc"
    file_ = "functors/integer.cuh";
#define SY_FUNCTOR(prim, type, functor) set(Prim::prim, ComputeType::type);
#define SY_LIST_INTEGER
#include "aten/program/functors/list.inc"
    file_ = "functors/division.cuh";
#define SY_FUNCTOR(prim, type, functor) set(Prim::prim, ComputeType::type);
#define SY_LIST_DIVISION
#include "aten/program/functors/list.inc"
    file_ = "functors/power.cuh";
#define SY_FUNCTOR(prim, type, functor) set(Prim::prim, ComputeType::type);
#define SY_LIST_POWER
#include "aten/program/functors/list.inc"
    file_ = "functors/math_float.cuh";
#define SY_FUNCTOR(prim, type, functor) set(Prim::prim, ComputeType::type);
#define SY_LIST_MATH_FLOAT
#include "aten/program/functors/list.inc"
    file_ = "functors/math_double.cuh";
#define SY_FUNCTOR(prim, type, functor) set(Prim::prim, ComputeType::type);
#define SY_LIST_MATH_DOUBLE
#include "aten/program/functors/list.inc"
    file_ = "functors/plain.cuh";
#define SY_FUNCTOR(prim, type, functor) set(Prim::prim, ComputeType::type);
#define SY_LIST_PLAIN
#include "aten/program/functors/list.inc"
    file_ = "functors/special.cuh";
#define SY_FUNCTOR(prim, type, functor) set(Prim::prim, ComputeType::type);
#define SY_LIST_SPECIAL
#include "aten/program/functors/list.inc"
  }
  std::string_view of(Prim p, ComputeType t) const {
    return files_[static_cast<size_t>(p)][static_cast<size_t>(t)];
  }

 private:
  void set(Prim p, ComputeType t) {
    files_[static_cast<size_t>(p)][static_cast<size_t>(t)] = file_;
  }

  std::string_view file_;
  std::array<std::array<std::string_view, program::kNumComputeTypes>,
             static_cast<size_t>(Prim::kCount)>
      files_;
};

const FunctorFiles& functor_files() {
  static const FunctorFiles files;
  return files;
}

// Namespaces of functors.
constexpr std::string_view kNamespaces[] = {"f32", "f64", "u8",  "i8",
                                            "i16", "i32", "i64", "b8"};
constexpr std::string_view kTypes[] = {"float",   "double",  "uint8_t",
                                       "int8_t",  "int16_t", "int32_t",
                                       "int64_t", "bool8"};

bool divides(Prim p, ComputeType type) {
  return !program::is_floating(type) &&
         (p == Prim::trunc_div || p == Prim::floor_div || p == Prim::fmod ||
          p == Prim::remainder);
}

bool gives_bool(Prim p) {
  switch (lang::kPrims[static_cast<int>(p)].type) {
    case PrimType::T_B:
    case PrimType::TT_B:
    case PrimType::B_B:
    case PrimType::BB_B: return true;
    default: return false;
  }
}

}  // namespace

std::string_view type_name(ComputeType type) {
  return kTypes[static_cast<int>(type)];
}

std::string_view element_name(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Half: return "half16";
    case ScalarType::BFloat16: return "bfloat16";
    case ScalarType::Bool: return "bool_byte";
    default: return type_name(program::compute_type_of(dtype));
  }
}

bool is_bool_operand(const Program& p, int i) {
  return i < p.n_inputs ? (p.bool_inputs >> i & 1) != 0
                        : (p.bool_uniforms >> (i - p.n_inputs) & 1) != 0;
}

bool may_divide_by_zero(const Program& p, ComputeType type) {
  for (int i = 0; i < p.n_steps; ++i) {
    if (divides(p.steps[i].op, type)) return true;
  }
  return false;
}

Body print_body(const Program& p, ComputeType type,
                const std::vector<std::string>& operands,
                std::string_view prefix, int indent) {
  SY_INTERNAL_ASSERT(operands.size() ==
                     static_cast<size_t>(p.n_inputs + p.n_uniforms));
  // The names of what the registers hold now. Every step makes a new name, as
  // registers are used again.
  std::vector<std::string> registers(operands);
  registers.resize(p.n_registers);
  Body body;
  for (int i = 0; i < p.n_steps; ++i) {
    const Step& s = p.steps[i];
    const lang::PrimInfo& prim = lang::kPrims[static_cast<int>(s.op)];
    SY_INTERNAL_ASSERT(!functor_files().of(s.op, type).empty(), "{} of {}",
                       prim.name, type_name(type));
    const std::string name = std::string(prefix) + std::to_string(i);
    std::string& text = body.statements;
    text.append(static_cast<size_t>(indent), ' ');
    text += "const ";
    text += gives_bool(s.op) ? "bool8" : type_name(type);
    text += ' ';
    text += name;
    text += " = ";
    text += kNamespaces[static_cast<int>(type)];
    text += "::";
    text += prim.name;
    text += '(';
    const uint8_t from[] = {s.a, s.b, s.c};
    for (int k = 0; k < lang::arity(s); ++k) {
      if (k > 0) text += ", ";
      text += registers[from[k]];
    }
    if (divides(s.op, type)) text += ", divided";
    text += ");\n";
    registers[s.dst] = name;
  }
  for (int i = 0; i < p.n_results; ++i) {
    body.results.push_back(registers[p.results[i].reg]);
  }
  return body;
}

std::vector<std::string_view> needed_files(const Program& p, ComputeType type) {
  std::vector<std::string_view> files;
  for (int i = 0; i < p.n_steps; ++i) {
    const std::string_view file = functor_files().of(p.steps[i].op, type);
    bool known = file.empty();
    for (const std::string_view f : files) known = known || f == file;
    if (!known) files.push_back(file);
  }
  return files;
}

}  // namespace sy::cuda::print

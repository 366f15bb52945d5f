#include "backends/cuda/print/pointwise.h"

#include <algorithm>
#include <bit>

#include "backends/cuda/print/op_printer.h"
#include "backends/cuda/print/values.h"

namespace sy::cuda::print {

namespace {

class PointwisePrinter : OpPrinter {
 public:
  PointwisePrinter(const std::string& name, const PointwiseKernel& k)
      : OpPrinter(name), k_(k), p_(*k.program), tile_(tile_of(k)) {
    for (int i = 0; i < p_.n_inputs; ++i) {
      if (is_immediate(i)) continue;
      if (k_.index == IndexClass::kLinear && is_single(i)) continue;
      const Operand input = {str("v{}", i), element(i), static_cast<size_t>(i),
                             k_.packs && is_single(i)};
      ((k_.transposed >> i & 1) != 0 ? kept_ : inputs_).push_back(input);
    }
    for (int i = 0; i < p_.n_results; ++i) {
      const int k = p_.n_inputs + i;
      outputs_.push_back({str("o{}", i), element(k), static_cast<size_t>(k)});
    }
  }

  std::string print() {
    const Shell s = shell();
    need(&p_, k_.type);
    const int numbers = p_.n_uniforms + std::popcount(k_.immediate);
    begin({.file = "pointwise.cuh",
           .params = str("PointwiseParams<{}, {}, {}>", s.where, k_.operands(),
                         std::max(1, numbers)),
           .at = s.at,
           .shared = shared()});
    load(inputs_, "data", kept_);
    if (!kept_.empty()) keep();
    outputs(outputs_);
    compute();
    if (k_.packs || k_.index == IndexClass::kLinear) {
      packs(inputs_, outputs_, tile_.width);
    }
    end("kPointwiseThreads",
        str("pointwise_{}<{}_parts::Op, {}>", s.name, name_, s.arguments));
    return std::move(out_);
  }

 private:
  bool is_immediate(int i) const { return (k_.immediate >> i & 1) != 0; }
  bool is_single(int i) const { return (k_.single >> i & 1) != 0; }
  std::string_view element(int operand) const {
    return element_name(k_.dtypes[operand]);
  }
  ComputeType register_of(int operand) const {
    return is_bool_operand(p_, operand) ? ComputeType::b8 : k_.type;
  }

  // The struct that says where operands lie, the parameter for a place; the
  // shell, and its template's arguments after Op.
  struct Shell {
    std::string where, at, name, arguments;
  };
  Shell shell() const {
    const int n = k_.operands(), width = tile_.width, unroll = tile_.unroll;
    switch (k_.index) {
      case IndexClass::kLinear:
        return {"Runs", "const Index& at", "linear",
                str("{}, {}", width, unroll)};
      case IndexClass::kStrided: {
        const std::string where = str("Strides<{}, {}>", int{k_.rank}, n);
        if (!k_.packs) {
          return {where, bytes_of(n), "strided", str("{}, {}", n, unroll)};
        }
        return {where, bytes_of(n), "strided_packs",
                str("{}, {}, {}", n, width, unroll)};
      }
      case IndexClass::kTransposed:
        return {str("Squares<{}>", n), str("const InSquare<{}>& at", n),
                "transposed", str("{}", n)};
      case IndexClass::kWide: break;
    }
    return {str("WideStrides<{}>", n), bytes_of(n), "wide", str("{}", n)};
  }

  // Numbers of the call, and inputs of one element.
  std::vector<Shared> shared() const {
    std::vector<Shared> out;
    const auto number = [&](const std::string& name, int operand) {
      const ComputeType type = register_of(operand);
      out.push_back({type_name(type), name,
                     str("q.numbers[{}].{}", out.size(), member_of(type))});
    };
    for (int i = 0; i < p_.n_uniforms; ++i) {
      number(str("u{}", i), p_.n_inputs + i);
    }
    for (int i = 0; i < p_.n_inputs; ++i) {
      if (is_immediate(i)) number(str("i{}", i), i);
    }
    if (k_.index != IndexClass::kLinear) return out;
    for (int i = 0; i < p_.n_inputs; ++i) {
      if (is_immediate(i) || !is_single(i)) continue;
      const std::string from =
          str("read_at<{}>(q.data[{}], Index{{0}})", element(i), i);
      out.push_back({type_name(register_of(i)), str("i{}", i),
                     loaded(from, k_.type, is_bool_operand(p_, i))});
    }
    return out;
  }

  void compute() {
    add("  __device__ __forceinline__ Out compute([[maybe_unused]] const In& "
        "in) const {{\n");
    std::vector<std::string> operands;
    for (int i = 0; i < p_.n_inputs; ++i) operands.push_back(str("i{}", i));
    for (int i = 0; i < p_.n_uniforms; ++i) operands.push_back(str("u{}", i));
    for (const Operands* list : {&inputs_, &kept_}) {
      for (const Operand& o : *list) {
        const int i = static_cast<int>(o.number);
        add("    [[maybe_unused]] const {} i{} = {};\n",
            type_name(register_of(i)), i,
            loaded("in." + o.name, k_.type, is_bool_operand(p_, i)));
      }
    }
    const Body body = print_body(p_, k_.type, operands, "t", 4);
    out_ += body.statements;
    std::vector<std::string> results;
    for (int i = 0; i < p_.n_results; ++i) {
      results.push_back(stored(body.results[static_cast<size_t>(i)], k_.type,
                               p_.results[i].is_bool,
                               k_.dtypes[p_.n_inputs + i]));
    }
    give(results);
  }

  // Prints how transposed inputs go through shared memory.
  void keep() {
    add("  struct Kept {{\n");
    for (const Operand& o : kept_) {
      add("    {} {}[kSquare][kSquare + 1];\n", o.element, o.name);
    }
    add("  }};\n  __device__ void keep(Kept& kept, int x, int z, {}) const "
        "{{\n",
        head_.at);
    for (const Operand& o : kept_) {
      add("    kept.{}[x][z] = read_at<{}>(p.data[{}], at[{}]);\n", o.name,
          o.element, o.number, o.number);
    }
    add("  }}\n  __device__ void take(In& in, const Kept& kept, int z, int x) "
        "const {{\n");
    for (const Operand& o : kept_) {
      add("    in.{} = kept.{}[z][x];\n", o.name, o.name);
    }
    add("  }}\n");
  }

  const PointwiseKernel& k_;
  const Program& p_;
  const PointwiseTile tile_;
  // `kept_`: the transposed inputs.
  Operands inputs_, kept_, outputs_;
};

}  // namespace

std::string print_pointwise(const PointwiseKernel& k, const std::string& name) {
  return PointwisePrinter(name, k).print();
}

}  // namespace sy::cuda::print

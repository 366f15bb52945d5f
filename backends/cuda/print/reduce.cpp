#include "backends/cuda/print/reduce.h"

#include <algorithm>
#include <vector>

#include "backends/cuda/print/body.h"
#include "backends/cuda/print/values.h"
#include "c10/process/error.h"

namespace sy::cuda::print {

namespace {

using program::ComputeType;
using program::Program;

std::vector<std::string> names(std::string_view prefix, int n) {
  std::vector<std::string> out;
  for (int i = 0; i < n; ++i) out.push_back(str("{}{}", prefix, i));
  return out;
}

class ReducePrinter {
 public:
  ReducePrinter(const std::string& name, const ReduceText& r)
      : name_(name), r_(r) {}

  std::string text(ReduceShell shell) {
    includes();
    add("namespace ", name_, "_parts {\n\n");
    add("using Params = ReduceParams<", std::max(r_.numbers(), 1), ">;\n\n");
    add("struct Op : TypedElements<", element_name(r_.self), "> {\n");
    accumulators();
    add("\n  const Params& p;\n  __device__ explicit Op(const Params& q) : "
        "p(q) {}\n\n");
    map();
    combine();
    nothing();
    finish();
    planes();
    add("};\n\n}  // namespace ", name_, "_parts\n\n");
    constexpr std::string_view kShells[] = {"rows", "columns", "pieces"};
    add("SY_KERNEL(", name_, ", ", name_, "_parts::Params, kReduceThreads) {\n",
        "  reduce_", kShells[static_cast<int>(shell)], "(", name_,
        "_parts::Op(p));\n}\n");
    return std::move(out_);
  }

 private:
  template <class... Ts>
  void add(const Ts&... parts) {
    ((out_ += str("{}", parts)), ...);
  }

  void includes() {
    std::vector<std::string_view> files = {"element.cuh"};
    const auto need = [&](const Program* p, ComputeType type) {
      if (p == nullptr) return;
      for (const std::string_view f : needed_files(*p, type)) {
        if (std::find(files.begin(), files.end(), f) == files.end()) {
          files.push_back(f);
        }
      }
    };
    need(r_.map, r_.type);
    need(r_.combine, r_.accumulated);
    need(r_.finish, r_.type);
    files.push_back("reduce.cuh");
    for (const std::string_view f : files) add("#include \"", f, "\"\n");
    add("\n");
  }

  ComputeType accumulator_type(int i) const {
    return r_.is_bool(i) ? ComputeType::b8 : r_.accumulated;
  }
  std::string_view accumulator_name(int i) const {
    return type_name(accumulator_type(i));
  }

  // The next n numbers of the call, of the program's uniforms.
  void take_numbers(const Program& p, ComputeType type,
                    std::vector<std::string>* operands) {
    for (int i = 0; i < p.n_uniforms; ++i) {
      const bool is_bool = (p.bool_uniforms >> i & 1) != 0;
      operands->push_back(str("p.numbers[{}].{}", number_++,
                              member_of(is_bool ? ComputeType::b8 : type)));
    }
  }
  // Statements, and the results.
  std::vector<std::string> body(const Program& p, ComputeType type,
                                std::vector<std::string> operands,
                                std::string_view prefix) {
    take_numbers(p, type, &operands);
    const bool divides = may_divide_by_zero(p, type);
    if (divides) add("    int divided = 0;\n");
    Body b = print_body(p, type, operands, prefix, 4);
    out_ += b.statements;
    if (divides) {
      add("    if (divided != 0) report(p.head, Fault::kDivision, -1, 0, "
          "0);\n");
    }
    return std::move(b.results);
  }
  void give(const std::vector<std::string>& values, ComputeType from) {
    add("    return {");
    for (int i = 0; i < r_.accumulators; ++i) {
      const ComputeType to = accumulator_type(i);
      const bool same = r_.is_bool(i) || to == from;
      add(i == 0 ? "" : ", ");
      if (same) {
        add(values[static_cast<size_t>(i)]);
      } else {
        add("static_cast<", type_name(to), ">(", values[static_cast<size_t>(i)],
            ")");
      }
    }
    add("};\n  }\n");
  }

  void accumulators() {
    add("  struct Acc {\n");
    for (int i = 0; i < r_.accumulators; ++i) {
      add("    ", accumulator_name(i), " a", i, ";\n");
    }
    add("  };\n");
  }

  void map() {
    const bool truth = (r_.map->bool_inputs & 1) != 0;
    add("  __device__ Acc map(Item x, int64_t) const {\n    const ",
        truth ? "bool8" : type_name(r_.type),
        " i0 = ", loaded("x", r_.type, truth), ";\n");
    give(body(*r_.map, r_.type, {"i0"}, "m"), r_.type);
  }

  void combine() {
    add("  __device__ Acc combine(const Acc& a, const Acc& b) const {\n");
    std::vector<std::string> operands = names("a.a", r_.accumulators);
    for (std::string& b : names("b.a", r_.accumulators)) {
      operands.push_back(std::move(b));
    }
    give(body(*r_.combine, r_.accumulated, std::move(operands), "c"),
         r_.accumulated);
  }

  // The numbers of finish come before those of nothing().
  void nothing() {
    int first = number_ + (r_.finish == nullptr ? 0 : r_.finish->n_uniforms);
    add("  __device__ Acc nothing() const {\n    return {");
    for (int i = 0; i < r_.accumulators; ++i) {
      add(i == 0 ? "" : ", ", "p.numbers[", first++, "].",
          member_of(accumulator_type(i)));
    }
    add("};\n  }\n");
  }

  void finish() {
    add("  __device__ void finish(const Acc& a, int64_t at) const {\n");
    std::vector<std::string> values;
    for (int i = 0; i < r_.accumulators; ++i) {
      const ComputeType type = r_.is_bool(i) ? ComputeType::b8 : r_.type;
      add("    [[maybe_unused]] const ", type_name(type), " s", i,
          " = static_cast<", type_name(type), ">(a.a", i, ");\n");
      values.push_back(str("s{}", i));
    }
    const Program* last = r_.map;
    if (r_.finish != nullptr) {
      last = r_.finish;
      values = body(*r_.finish, r_.type, std::move(values), "f");
    }
    for (int i = 0; i < r_.results; ++i) {
      add("    static_cast<", element_name(r_.stored[i]), "*>(p.results[", i,
          "])[at] =\n        ",
          stored(values[static_cast<size_t>(i)], r_.type,
                 last->results[i].is_bool, r_.stored[i]),
          ";\n");
    }
    add("  }\n");
  }

  void planes() {
    add("  __device__ void keep(const Acc& a, int64_t at) const {\n");
    for (int i = 0; i < r_.accumulators; ++i) {
      add("    static_cast<", accumulator_name(i), "*>(p.planes[", i,
          "])[at] = a.a", i, ";\n");
    }
    add("  }\n  __device__ Acc kept(int64_t at) const {\n    return {");
    for (int i = 0; i < r_.accumulators; ++i) {
      add(i == 0 ? "" : ",\n            ", "static_cast<const ",
          accumulator_name(i), "*>(p.planes[", i, "])[at]");
    }
    add("};\n  }\n");
  }

  const std::string& name_;
  const ReduceText& r_;
  std::string out_;
  int number_ = 0;
};

}  // namespace

int ReduceText::numbers() const {
  return map->n_uniforms + combine->n_uniforms +
         (finish == nullptr ? 0 : finish->n_uniforms) + accumulators;
}

ComputeType accumulated_in(const Program& combine, ComputeType type) {
  if (type != ComputeType::f32) return type;
  for (int i = 0; i < combine.n_steps; ++i) {
    const lang::Prim op = combine.steps[i].op;
    if (op == lang::Prim::add || op == lang::Prim::mul) return ComputeType::f64;
  }
  return type;
}

std::string print_reduce(const std::string& name, const ReduceText& r,
                         ReduceShell shell) {
  return ReducePrinter(name, r).text(shell);
}

}  // namespace sy::cuda::print

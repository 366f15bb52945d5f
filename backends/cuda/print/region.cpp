#include "backends/cuda/print/region.h"

#include <algorithm>

#include "backends/cuda/print/body.h"
#include "backends/cuda/print/values.h"
#include "c10/error.h"

namespace sy::cuda::print {

namespace {

using program::ComputeType;
using program::Program;

// Where the numbers of a node begin among those of a call.
int first_number(const Region& r, int node) {
  int n = 0;
  for (int i = 0; i < node; ++i) {
    const RegionNode& k = r.nodes[static_cast<size_t>(i)];
    n += k.body.n_uniforms;
    if (k.combine != nullptr) n += k.combine->n_uniforms;
    if (k.finish != nullptr) n += k.finish->n_uniforms;
  }
  return n;
}

class RegionPrinter {
 public:
  RegionPrinter(const std::string& name, const RegionText& t)
      : name_(name), t_(t) {}

  std::string walk() {
    begin("RegionWalkParams", operands());
    load();
    add("  __device__ void compute(const In& in, const int64_t (&at)[",
        operands(), "]) const {\n");
    open();
    nodes();
    for (size_t i = 0; i < t_.outputs.size(); ++i) {
      const RegionOutput& o =
          t_.region->outputs[static_cast<size_t>(t_.outputs[i])];
      const size_t operand = t_.inputs.size() + i;
      const std::string_view to = element_name(o.memory.dtype);
      add("    *reinterpret_cast<", to, "*>(p.data[", operand, "] + at[",
          operand, "]) =\n        element_cast<", to, ">(", value(o.value),
          ");\n");
    }
    close();
    add("  }\n");
    end("kRegionThreads",
        str("region_walk<{}_parts::Op, {}>", name_, operands()));
    return std::move(out_);
  }

  std::string reduce(ReduceShell shell) {
    node_ = &t_.region->nodes[static_cast<size_t>(t_.reduction)];
    type_ = program::compute_type_of(node_->compute);
    accumulated_ = region_accumulated(*node_);
    begin("RegionReduceParams", static_cast<int>(t_.inputs.size()));
    add("  struct Acc {\n");
    for (int i = 0; i < accumulators(); ++i) {
      add("    ", type_name(accumulator_type(i)), " a", i, ";\n");
    }
    add("  };\n");
    load();
    add("  __device__ Acc map(const In& in) const {\n");
    open();
    nodes();
    give(run(node_->body, type_, arguments(*node_), "m"), type_);
    add("  __device__ Acc combine(const Acc& a, const Acc& b) const {\n");
    open();
    std::vector<std::string> both;
    for (const char* side : {"a.a", "b.a"}) {
      for (int i = 0; i < accumulators(); ++i) {
        both.push_back(str("{}{}", side, i));
      }
    }
    give(run(*node_->combine, accumulated_, std::move(both), "c", type_),
         accumulated_);
    finish();
    nothing();
    planes();
    const int n = static_cast<int>(t_.inputs.size());
    constexpr std::string_view kShells[] = {"region_rows", "region_columns"};
    end("kReduceThreads",
        shell == ReduceShell::kPieces
            ? std::string("reduce_pieces")
            : str("{}<{}_parts::Op, {}>", kShells[static_cast<int>(shell)],
                  name_, n));
    return std::move(out_);
  }

 private:
  template <class... Ts>
  void add(const Ts&... parts) {
    ((out_ += str("{}", parts)), ...);
  }
  int operands() const {
    return static_cast<int>(t_.inputs.size() + t_.outputs.size());
  }
  int accumulators() const { return node_->body.n_results; }
  ComputeType accumulator_type(int i) const {
    return node_->body.results[i].is_bool ? ComputeType::b8 : accumulated_;
  }
  const RegionNode& node(int i) const {
    return t_.region->nodes[static_cast<size_t>(i)];
  }

  void begin(std::string_view params, int n_operands) {
    std::vector<std::string_view> files = {"element.cuh"};
    const auto need = [&](const Program* p, ComputeType type) {
      if (p == nullptr) return;
      for (const std::string_view f : needed_files(*p, type)) {
        if (std::find(files.begin(), files.end(), f) == files.end()) {
          files.push_back(f);
        }
      }
    };
    for (const int i : t_.nodes) {
      need(&node(i).body, program::compute_type_of(node(i).compute));
    }
    if (node_ != nullptr) {
      need(&node_->body, type_);
      need(node_->combine, accumulated_);
      need(node_->finish, type_);
    }
    files.push_back("region.cuh");
    for (const std::string_view f : files) add("#include \"", f, "\"\n");
    size_t numbers = region_numbers(t_).size();
    if (node_ != nullptr) numbers += static_cast<size_t>(accumulators());
    add("\nnamespace ", name_, "_parts {\n\nusing Params = ", params, "<",
        n_operands, ", ", std::max<size_t>(numbers, 1),
        ">;\n\nstruct Op {\n  const Params& p;\n",
        "  __device__ explicit Op(const Params& q) : p(q) {}\n\n");
  }
  void end(std::string_view threads, std::string_view shell) {
    add("};\n\n}  // namespace ", name_, "_parts\n\nSY_KERNEL(", name_, ", ",
        name_, "_parts::Params, ", threads, ") {\n  ", shell, "(", name_,
        "_parts::Op(p));\n}\n");
  }

  void load() {
    add("  struct In {\n");
    for (const int v : t_.inputs) {
      add("    ", element_name(t_.values->dtype(v)), " v", v, ";\n");
    }
    if (t_.inputs.empty()) add("    char none;\n");
    const size_t n =
        node_ != nullptr ? t_.inputs.size() : static_cast<size_t>(operands());
    const std::string_view data = node_ != nullptr ? "inputs" : "data";
    add("  };\n  __device__ In load(const int64_t (&at)[", n,
        "]) const {\n    return {");
    for (size_t i = 0; i < t_.inputs.size(); ++i) {
      add(i == 0 ? "" : ",\n            ", "*reinterpret_cast<const ",
          element_name(t_.values->dtype(t_.inputs[i])), "*>(p.", data, "[", i,
          "] + at[", i, "])");
    }
    if (t_.inputs.empty()) add("static_cast<char>(at[0])");
    add("};\n  }\n");
  }

  // The element of a value, in its dtype.
  std::string value(int v) const {
    const bool in_memory =
        std::find(t_.inputs.begin(), t_.inputs.end(), v) != t_.inputs.end();
    return str("{}v{}", in_memory ? "in." : "", v);
  }
  std::vector<std::string> arguments(const RegionNode& n) const {
    const ComputeType type = program::compute_type_of(n.compute);
    std::vector<std::string> out;
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      out.push_back(
          loaded(value(n.inputs[i]), type, (n.body.bool_inputs >> i & 1) != 0));
    }
    return out;
  }

  // Statements; returns the results. Numbers are of type `given`, the node's.
  std::vector<std::string> run(const Program& p, ComputeType type,
                               std::vector<std::string> operands,
                               std::string_view prefix, ComputeType given) {
    for (int i = 0; i < p.n_uniforms; ++i) {
      const bool is_bool = (p.bool_uniforms >> i & 1) != 0;
      std::string n = str("p.numbers[{}].{}", number_++,
                          member_of(is_bool ? ComputeType::b8 : given));
      if (!is_bool && given != type) {
        n = str("static_cast<{}>({})", type_name(type), n);
      }
      operands.push_back(std::move(n));
    }
    divides_ |= may_divide_by_zero(p, type);
    Body b = print_body(p, type, operands, prefix, 4);
    out_ += b.statements;
    return std::move(b.results);
  }
  std::vector<std::string> run(const Program& p, ComputeType type,
                               std::vector<std::string> operands,
                               std::string_view prefix) {
    return run(p, type, std::move(operands), prefix, type);
  }

  // The body of a function is printed between these: `divided` is there if a
  // step needs it.
  void open() {
    opened_ = out_.size();
    divides_ = false;
  }
  void close() {
    if (!divides_) return;
    out_.insert(opened_, "    int divided = 0;\n");
    add("    if (divided != 0) report(p.head, Fault::kDivision, -1, 0, 0);\n");
  }

  void nodes() {
    for (const int i : t_.nodes) {
      const RegionNode& n = node(i);
      const ComputeType type = program::compute_type_of(n.compute);
      const std::vector<std::string> results =
          run(n.body, type, arguments(n), str("n{}_", i));
      for (size_t k = 0; k < results.size(); ++k) {
        add("    const ", element_name(n.results[k]), " v",
            t_.first_value(i) + static_cast<int>(k), " = ",
            stored(results[k], type, n.body.results[k].is_bool, n.results[k]),
            ";\n");
      }
    }
  }

  void give(const std::vector<std::string>& values, ComputeType from) {
    close();
    add("    return {");
    for (int i = 0; i < accumulators(); ++i) {
      const ComputeType to = accumulator_type(i);
      const std::string& v = values[static_cast<size_t>(i)];
      add(i == 0 ? "" : ", ");
      if (to == from || to == ComputeType::b8) {
        add(v);
      } else {
        add("static_cast<", type_name(to), ">(", v, ")");
      }
    }
    add("};\n  }\n");
  }

  void finish() {
    add("  __device__ void finish(const Acc& a, int64_t at) const {\n");
    open();
    std::vector<std::string> values;
    for (int i = 0; i < accumulators(); ++i) {
      const ComputeType type =
          node_->body.results[i].is_bool ? ComputeType::b8 : type_;
      add("    [[maybe_unused]] const ", type_name(type), " s", i,
          " = static_cast<", type_name(type), ">(a.a", i, ");\n");
      values.push_back(str("s{}", i));
    }
    const Program* last = &node_->body;
    if (node_->finish != nullptr) {
      last = node_->finish;
      values = run(*last, type_, std::move(values), "f");
    }
    for (size_t i = 0; i < node_->results.size(); ++i) {
      const ScalarType to = node_->results[i];
      add("    static_cast<", element_name(to), "*>(p.results[", i,
          "])[at] =\n        ",
          stored(values[i], type_, last->results[i].is_bool, to), ";\n");
    }
    close();
    add("  }\n");
  }

  // After all numbers of programs.
  void nothing() {
    add("  __device__ Acc nothing() const {\n    return {");
    for (int i = 0; i < accumulators(); ++i) {
      add(i == 0 ? "" : ", ", "p.numbers[", number_ + i, "].",
          member_of(accumulator_type(i)));
    }
    add("};\n  }\n");
  }

  void planes() {
    add("  __device__ void keep(const Acc& a, int64_t at) const {\n");
    for (int i = 0; i < accumulators(); ++i) {
      add("    static_cast<", type_name(accumulator_type(i)), "*>(p.planes[", i,
          "])[at] = a.a", i, ";\n");
    }
    add("  }\n  __device__ Acc kept(int64_t at) const {\n    return {");
    for (int i = 0; i < accumulators(); ++i) {
      add(i == 0 ? "" : ",\n            ", "static_cast<const ",
          type_name(accumulator_type(i)), "*>(p.planes[", i, "])[at]");
    }
    add("};\n  }\n");
  }

  const std::string& name_;
  const RegionText& t_;
  const RegionNode* node_ = nullptr;
  ComputeType type_{}, accumulated_{};
  std::string out_;
  int number_ = 0;
  size_t opened_ = 0;
  bool divides_ = false;
};

}  // namespace

int RegionText::first_value(int node) const {
  size_t v = region->inputs.size();
  for (int i = 0; i < node; ++i) {
    v += region->nodes[static_cast<size_t>(i)].results.size();
  }
  return static_cast<int>(v);
}

program::ComputeType region_accumulated(const RegionNode& node) {
  return accumulated_in(*node.combine, program::compute_type_of(node.compute));
}

std::vector<int> region_numbers(const RegionText& t) {
  std::vector<int> out;
  const auto take = [&](int node, int n) {
    const int first = first_number(*t.region, node);
    for (int i = 0; i < n; ++i) out.push_back(first + i);
  };
  for (const int i : t.nodes) {
    take(i, t.region->nodes[static_cast<size_t>(i)].body.n_uniforms);
  }
  if (t.reduction >= 0) {
    const RegionNode& n = t.region->nodes[static_cast<size_t>(t.reduction)];
    take(t.reduction, n.body.n_uniforms + n.combine->n_uniforms +
                          (n.finish == nullptr ? 0 : n.finish->n_uniforms));
  }
  return out;
}

std::string print_region_walk(const std::string& name, const RegionText& t) {
  return RegionPrinter(name, t).walk();
}

std::string print_region_reduce(const std::string& name, const RegionText& t,
                                ReduceShell shell) {
  return RegionPrinter(name, t).reduce(shell);
}

}  // namespace sy::cuda::print

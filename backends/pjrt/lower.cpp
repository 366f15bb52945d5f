#include "backends/pjrt/lower.h"

#include <algorithm>
#include <utility>

#include "backends/pjrt/primitives.h"
#include "backends/pjrt/views.h"
#include "c10/process/error.h"

namespace sy::pjrt {

namespace {

using graph::Call;
using program::ComputeType;

bool is_lowered_reduction(const Call& c) {
  const ReduceOp& r = *c.reduce;
  const ComputeType type = program::compute_type_of(c.compute);
  return r.combine.body.n_uniforms == 0 && is_lowered(r.map.body, type) &&
         is_lowered(r.combine.body, type) &&
         (r.finish == nullptr || is_lowered(r.finish->body, type));
}

class Lowering {
 public:
  Lowering(const graph::Graph& graph, const std::map<int, int64_t>& kernels)
      : graph_(graph), kernels_(kernels), values_(graph.values().size()) {}

  Lowered run() {
    donate();
    find_inputs();
    for (size_t i = 0; i < graph_.calls().size(); ++i) {
      lower_call(static_cast<int>(i));
    }
    finish();
    return std::move(out_);
  }

 private:
  const graph::Layout& layout(int value) const {
    return graph_.values()[size_t(value)];
  }

  void donate() {
    constexpr size_t kLeast = 256 << 10;
    for (size_t k = 0; k < graph_.outputs().size(); ++k) {
      const graph::Layout& l = layout(graph_.outputs()[k]);
      if (graph::bytes_of(l) < kLeast) continue;
      out_.donations.push_back({out_.input_shapes.size(), k});
      argument(l.dtype, memory_sizes(l),
               str(" {{tf.aliasing_output = {} : i32}}", k));
    }
  }

  // The operands of calls become arguments of the program, and the numbers of
  // all programs one array of each type.
  void find_inputs() {
    std::vector<bool> read(values_.size(), false);
    for (const Call& c : graph_.calls()) {
      for (const graph::Operand& o : c.operands) read[size_t(o.value)] = true;
    }
    for (int v = 0; v < graph_.num_inputs(); ++v) {
      if (!read[size_t(v)]) continue;
      const Ssa x = argument(layout(v).dtype, memory_sizes(layout(v)));
      out_.inputs.push_back(v);
      values_[size_t(v)] = from_memory(b_, x, layout(v));
    }
    for (size_t i = 0; i < graph_.calls().size(); ++i) {
      const int call = static_cast<int>(i);
      if (!kernels_.contains(call)) add_numbers(graph_.calls()[i], call);
    }
    for (const Lowered::Numbers& n : out_.numbers) {
      numbers_.push_back(argument(program::storage_of(n.type),
                                  {static_cast<int64_t>(n.of.size())}));
    }
  }

  Ssa argument(ScalarType dtype, Sizes sizes,
               const std::string& attributes = "") {
    Ssa x{str("%arg{}", out_.input_shapes.size()), dtype, std::move(sizes)};
    append(&arguments_, str("{}: {}{}", x.name, type_of(x), attributes));
    out_.input_shapes.push_back({dtype, x.sizes});
    return x;
  }

  static ComputeType type_of_number(const program::Program& p, int k,
                                    ComputeType type) {
    return (p.bool_uniforms >> k & 1) != 0 ? ComputeType::b8 : type;
  }

  void add_numbers(const Call& c, int call) {
    const ComputeType type = program::compute_type_of(c.compute);
    int next = 0;
    const auto add = [&](const program::Program& p) {
      for (int k = 0; k < p.n_uniforms; ++k) {
        const size_t a = array_of(type_of_number(p, k, type));
        out_.numbers[a].of.push_back({call, next++});
      }
    };
    if (c.kind == Call::kPointwise) {
      add(*c.program);
    } else if (c.kind == Call::kReduce) {
      add(c.reduce->map.body);  // `combine` has none
      if (c.reduce->finish != nullptr) add(c.reduce->finish->body);
    }
  }

  // The place of the array for a type.
  size_t array_of(ComputeType type) {
    size_t a = 0;
    while (a < out_.numbers.size() && out_.numbers[a].type != type) ++a;
    if (a == out_.numbers.size()) {
      out_.numbers.push_back({type, {}});
      taken_.push_back(0);
    }
    return a;
  }

  // The numbers of the next program, as tensors: programs are lowered in the
  // order in which add_numbers() saw them.
  std::vector<Ssa> uniforms(const program::Program& p, ComputeType type,
                            const Sizes& sizes) {
    std::vector<Ssa> all;
    for (int k = 0; k < p.n_uniforms; ++k) {
      const size_t a = array_of(type_of_number(p, k, type));
      const int64_t i = taken_[a]++;
      const Ssa one = b_.slice(numbers_[a], {i}, {i + 1}, {1});
      all.push_back(b_.broadcast(b_.reshape(one, {}), sizes));
    }
    return all;
  }

  Ssa operand(const graph::Operand& o) {
    const Ssa& value = values_[size_t(o.value)];
    return o.whole ? value : part_of(b_, value, layout(o.value), o.layout);
  }

  void lower_call(int i) {
    const Call& c = graph_.calls()[size_t(i)];
    const auto kernel = kernels_.find(i);
    if (kernel != kernels_.end()) return lower_kernel(c, kernel->second);
    switch (c.kind) {
      case Call::kEmpty: {
        const graph::Layout& l = layout(c.first_result);
        return set(c, 0, b_.number(l.dtype, sizes_of(l), int64_t{0}));
      }
      case Call::kPointwise: return lower_pointwise(c);
      case Call::kReduce: return lower_reduce(c);
      case Call::kWrite:
        return set(
            c, 0,
            with_part(b_, operand(c.operands[0]), layout(c.operands[0].value),
                      c.window, operand(c.operands[1])));
      default: {
        std::vector<Ssa> operands;
        for (const graph::Operand& o : c.operands) {
          operands.push_back(operand(o));
        }
        set(c, 0, lower_operator(b_, graph_, c, operands));
      }
    }
  }

  void set(const Call& c, int result, const Ssa& x) {
    const auto v = static_cast<size_t>(c.first_result + result);
    values_[v] = b_.convert(x, graph_.values()[v].dtype);
    SY_INTERNAL_ASSERT(values_[v].sizes == sizes_of(graph_.values()[v]));
  }

  // An operand of a program, as it computes with it.
  Ssa loaded(const Ssa& x, const program::Program& p, size_t k, ScalarType t) {
    const bool is_bool = (p.bool_inputs >> k & 1) != 0;
    return b_.convert(x, is_bool ? kBool : t);
  }

  void lower_pointwise(const Call& c) {
    const program::Program& p = *c.program;
    const ComputeType type = program::compute_type_of(c.compute);
    const Sizes sizes = sizes_of(layout(c.first_result));
    std::vector<Ssa> inputs;
    for (size_t k = 0; k < c.operands.size(); ++k) {
      inputs.push_back(b_.broadcast(
          loaded(operand(c.operands[k]), p, k, program::storage_of(type)),
          sizes));
    }
    const std::vector<Ssa> results =
        lower(b_, p, type, std::move(inputs), uniforms(p, type, sizes));
    for (int r = 0; r < c.n_results; ++r) set(c, r, results[size_t(r)]);
  }

  void lower_reduce(const Call& c) {
    const ReduceOp& op = *c.reduce;
    const ComputeType type = program::compute_type_of(c.compute);
    const ScalarType dtype = program::storage_of(type);
    const program::Program& map = op.map.body;
    const Ssa x = loaded(operand(c.operands[0]), map, 0, dtype);
    std::vector<Ssa> mapped =
        lower(b_, map, type, {x}, uniforms(map, type, x.sizes));
    const size_t k = mapped.size();
    std::vector<Ssa> starts;
    for (size_t a = 0; a < k; ++a) {
      const bool is_bool = (op.combine.body.bool_inputs >> a & 1) != 0;
      mapped[a] = b_.convert(mapped[a], is_bool ? kBool : dtype);
      starts.push_back(op.identity == nullptr
                           ? b_.number(mapped[a].dtype, {}, int64_t{0})
                           : identity(op.identity[a], mapped[a].dtype));
    }
    const bool counted = !has_identity(op);
    if (counted) {
      mapped.push_back(b_.number(kBool, x.sizes, int64_t{1}));
      starts.push_back(b_.number(kBool, {}, int64_t{0}));
    }
    std::vector<Ssa> sums = reduced(c, op, type, counted, mapped, starts);
    sums.resize(k);
    if (op.finish != nullptr) {
      const program::Program& p = op.finish->body;
      sums = lower(b_, p, type, sums, uniforms(p, type, sums[0].sizes));
    }
    for (int r = 0; r < c.n_results; ++r) {
      const Sizes sizes = sizes_of(layout(c.first_result + r));
      set(c, r, b_.reshape(sums[size_t(r)], sizes));
    }
  }

  // XLA combines identities with each other too: one that divides by a count
  // gives NaN for two counts of 0. Without an identity one more accumulator
  // says whether there is a value.
  static bool has_identity(const ReduceOp& op) {
    const program::Program& p = op.combine.body;
    return op.identity != nullptr &&
           std::none_of(p.steps, p.steps + p.n_steps, [](const auto& s) {
             return s.op == lang::Prim::div || s.op == lang::Prim::reciprocal;
           });
  }

  Ssa identity(const lang::Uniform& u, ScalarType dtype) {
    return u.is_int ? b_.number(dtype, {}, u.i) : b_.number(dtype, {}, u.d);
  }

  std::vector<Ssa> reduced(const Call& c, const ReduceOp& op, ComputeType type,
                           bool counted, const std::vector<Ssa>& mapped,
                           const std::vector<Ssa>& starts) {
    Sizes kept;
    std::string dims;
    for (size_t d = 0; d < mapped[0].sizes.size(); ++d) {
      if ((c.reduced >> d & 1) == 0) {
        kept.push_back(mapped[0].sizes[d]);
      } else {
        append(&dims, str("{}", d));
      }
    }
    std::string names, pairs, types, start_types, out_types, arguments;
    std::vector<Ssa> sums, a, b;
    for (size_t k = 0; k < mapped.size(); ++k) {
      const ScalarType t = mapped[k].dtype;
      sums.push_back({b_.fresh(), t, kept});
      a.push_back({b_.fresh(), t, {}});
      b.push_back({b_.fresh(), t, {}});
      append(&names, sums[k].name);
      append(&pairs, str("({} init: {})", mapped[k].name, starts[k].name));
      append(&types, type_of(mapped[k]));
      append(&start_types, type_of(starts[k]));
      append(&out_types, type_of(sums[k]));
      arguments += str(" ({}: {}, {}: {})", a[k].name, type_of(a[k]), b[k].name,
                       type_of(b[k]));
    }
    b_.line(
        str("{} = stablehlo.reduce{} across dimensions = [{}] : ({}, {}) -> "
            "({})",
            names, pairs, dims, types, start_types, out_types));
    b_.line(str(" reducer{} {{", arguments));
    std::vector<Ssa> both;
    const size_t n = op.combine.body.n_inputs / size_t{2};
    both.insert(both.end(), a.begin(), a.begin() + static_cast<int64_t>(n));
    both.insert(both.end(), b.begin(), b.begin() + static_cast<int64_t>(n));
    std::vector<Ssa> combined =
        lower(b_, op.combine.body, type, std::move(both), {});
    if (counted) {
      const Ssa &has_a = a.back(), &has_b = b.back();
      for (size_t k = 0; k < n; ++k) {
        combined[k] =
            b_.select(has_a, b_.select(has_b, combined[k], a[k]), b[k]);
      }
      combined.push_back(b_.binary("stablehlo.or", has_a, has_b));
    }
    std::string results, result_types;
    for (const Ssa& s : combined) {
      append(&results, s.name);
      append(&result_types, type_of(s));
    }
    b_.line(str("stablehlo.return {} : {}", results, result_types));
    b_.line("}");
    return sums;
  }

  // A custom call. It gets whole values, and sees the parts that it reads.
  void lower_kernel(const Call& c, int64_t id) {
    std::string names, types, out_names, out_types;
    for (const graph::Operand& o : c.operands) {
      const Ssa x = to_memory(b_, values_[size_t(o.value)], layout(o.value));
      append(&names, x.name);
      append(&types, type_of(x));
    }
    std::vector<Ssa> results;
    for (int r = 0; r < c.n_results; ++r) {
      const graph::Layout& l = layout(c.first_result + r);
      results.push_back({b_.fresh(), l.dtype, memory_sizes(l)});
    }
    if (c.draws) {
      if (order_.name.empty()) order_ = b_.number(kInt, {1}, int64_t{0});
      append(&names, order_.name);
      append(&types, type_of(order_));
      order_.name = b_.fresh();
      results.push_back(order_);
    }
    for (const Ssa& s : results) {
      append(&out_names, s.name);
      append(&out_types, type_of(s));
    }
    b_.line(
        str("{} = stablehlo.custom_call @switchyard.call({}) {{api_version "
            "= 4 : i32, backend_config = {{id = {} : i64}}, "
            "has_side_effect = true}} : ({}) -> {}{}{}",
            out_names, names, id, types, results.size() == 1 ? "" : "(",
            out_types, results.size() == 1 ? "" : ")"));
    for (int r = 0; r < c.n_results; ++r) {
      const int v = c.first_result + r;
      values_[size_t(v)] = from_memory(b_, results[size_t(r)], layout(v));
    }
  }

  void finish() {
    std::string names, types;
    for (const int v : graph_.outputs()) {
      const Ssa x = to_memory(b_, values_[size_t(v)], layout(v));
      append(&names, x.name);
      append(&types, type_of(x));
      out_.output_shapes.push_back({x.dtype, x.sizes});
    }
    b_.line(names.empty() ? "return" : str("return {} : {}", names, types));
    out_.text = str("func.func @main({}) -> ({}) {{\n{}}}\n", arguments_, types,
                    b_.take());
  }

  const graph::Graph& graph_;
  const std::map<int, int64_t>& kernels_;
  Builder b_;
  Lowered out_;
  std::string arguments_;
  std::vector<Ssa> values_, numbers_;
  std::vector<int64_t> taken_;  // of each array of numbers
  Ssa order_;                   // of calls that draw random numbers
};

}  // namespace

bool is_lowered(const graph::Graph& graph, const Call& c) {
  for (const graph::Operand& o : c.operands) {
    const ScalarType of = graph.values()[size_t(o.value)].dtype;
    if (of != o.layout.dtype) return false;
  }
  switch (c.kind) {
    case Call::kEmpty: return true;
    case Call::kWrite:
      return c.window.dtype == graph.values()[size_t(c.first_result)].dtype;
    case Call::kPointwise:
      return is_lowered(*c.program, program::compute_type_of(c.compute));
    case Call::kReduce: return is_lowered_reduction(c);
    default: return is_lowered_operator(graph, c);
  }
}

Lowered lower(const graph::Graph& graph,
              const std::map<int, int64_t>& kernels) {
  return Lowering(graph, kernels).run();
}

}  // namespace sy::pjrt

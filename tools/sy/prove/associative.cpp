#include "tools/sy/prove/associative.h"

#include <algorithm>
#include <cmath>

#include "aten/backend/node.h"
#include "aten/engine/pointwise.h"
#include "aten/program/evaluate.h"

namespace sy::tools {

namespace {

using program::ComputeType;
using program::Uniform;

// The accumulators of a group of elements.
using Group = std::vector<double>;

// A program on one element, with its registers.
class Run {
 public:
  Run(const ElementProgram& program, const Scalar* scalars)
      : program_(program), registers_(program.body.n_registers) {
    eval_uniforms(program, scalars, 1, ComputeType::f64,
                  registers_.data() + program.body.n_inputs);
  }

  Group of(const Group& inputs) {
    const program::Program& p = program_.body;
    for (size_t i = 0; i < inputs.size() && i < p.n_inputs; ++i) {
      const bool is_bool = (p.bool_inputs >> i & 1) != 0;
      registers_[i] =
          program::make_uniform(ComputeType::f64, is_bool, inputs[i]);
    }
    for (int k = 0; k < p.n_steps; ++k) {
      const lang::Step& s = p.steps[k];
      registers_[s.dst] =
          program::evaluate(s.op, ComputeType::f64, registers_[s.a],
                            registers_[s.b], registers_[s.c]);
    }
    Group out;
    for (int k = 0; k < p.n_results; ++k) {
      const lang::Result& r = p.results[k];
      const Uniform& u = registers_[r.reg];
      out.push_back(r.is_bool ? u.u8 : u.f64);
    }
    return out;
  }

 private:
  const ElementProgram& program_;
  std::vector<Uniform> registers_;
};

// How groups of elements become one.
class Combine {
 public:
  Combine(const ElementProgram& program, const Scalar* scalars, bool chooses)
      : run_(program, scalars), chooses_(chooses) {}

  Group operator()(const Group& a, const Group& b) {
    Group both = a;
    both.insert(both.end(), b.begin(), b.end());
    Group out = run_.of(both);
    if (!chooses_) return out;
    return out[0] != 0 ? b : a;
  }

 private:
  Run run_;
  bool chooses_;
};

bool close(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return std::abs(a - b) <= 1e-9 * (1 + std::abs(a) + std::abs(b));
}

bool close(const Group& a, const Group& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return close(x, y); });
}

bool finite(const Group& g) {
  return std::all_of(g.begin(), g.end(),
                     [](double x) { return std::isfinite(x); });
}

std::string text(const Group& g) {
  std::string out;
  for (const double x : g) out += str("{}{}", out.empty() ? "" : " and ", x);
  return out;
}

constexpr double kNumbers[][3] = {
    {0.5, 0.75, 0.25}, {1.5, -2.25, 0.5}, {-0.5, 3, -1.25}, {2, 2, -4},
    {0, 1, 2},         {-3, -1, 0},       {7, 0.125, 40},   {1, 1, 1}};

// The fault of `combine` on three groups; "" if there is none.
std::string problem(Combine& combine, const Group* g, bool any_order) {
  const Group left = combine(combine(g[0], g[1]), g[2]);
  const Group right = combine(g[0], combine(g[1], g[2]));
  if (!close(left, right)) {
    return str(
        "combine is not associative: {}, {} and {} are {} if the first "
        "two are combined first, and {} if the last two are",
        text(g[0]), text(g[1]), text(g[2]), text(left), text(right));
  }
  const Group one = combine(g[0], g[1]), other = combine(g[1], g[0]);
  if (any_order && !close(one, other)) {
    return str(
        "combine depends on the order: {} and {} are {}, and the other "
        "way round {}",
        text(g[0]), text(g[1]), text(one), text(other));
  }
  return "";
}

std::string reduce_problem(const ReduceNode& node) {
  const ReduceOp& op = node.op();
  Run map(op.map, node.args().scalars);
  Combine combine(op.combine, node.args().scalars, false);
  Group identity;
  for (int k = 0; op.identity != nullptr && k < op.n_accumulators; ++k) {
    identity.push_back(op.identity[k].as_double());
  }
  for (const auto& numbers : kNumbers) {
    Group groups[3];
    for (int i = 0; i < 3; ++i) groups[i] = map.of({numbers[i]});
    if (!std::all_of(std::begin(groups), std::end(groups), finite)) continue;
    std::string why = problem(combine, groups, true);
    if (!why.empty()) return why;
    const Group same =
        identity.empty() ? groups[0] : combine(identity, groups[0]);
    // The identity of a mean is NaN: it divides by a count of 0.
    if (close(same, groups[0]) || !finite(same)) continue;
    return str("identity is none: with it {} becomes {}", text(groups[0]),
               text(same));
  }
  return "";
}

std::string scan_problem(const ScanOp& op) {
  Combine combine(op.combine, nullptr, op.chooses);
  for (const auto& [a, b, c] : kNumbers) {
    const Group groups[] = {{a}, {b}, {c}};
    std::string why = problem(combine, groups, false);
    if (!why.empty()) return why;
  }
  return "";
}

}  // namespace

std::string combine_problem(OperatorHandle op, const std::vector<Value>& args,
                            bool* tried) {
  const NodeDesc* const node = node_desc(op.entry());
  *tried =
      node != nullptr && (node->reduce != nullptr || node->scan != nullptr);
  if (!*tried) return "";
  return node->reduce != nullptr ? reduce_problem({*node, args.data()})
                                 : scan_problem(*node->scan);
}

}  // namespace sy::tools

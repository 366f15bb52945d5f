#include "lang/compile.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lang/dag.h"

namespace sy::lang {
namespace {

constexpr int kMaxRegisters = 256;

// Turns checked, folded expressions into values of a Dag.
class Lowering {
 public:
  Lowering(const ElementEnv& env, Dag& dag) : env_(env), dag_(dag) {}

  int run(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kNumber:
        return dag_.constant(e->number.is_int ? Uniform::of(e->number.i)
                                              : Uniform::of(e->number.d),
                             false);
      case ExprKind::kBool:
        return dag_.constant(Uniform::of(e->number.i), true);
      case ExprKind::kName:
      case ExprKind::kAttribute: return name(dotted_name(e));
      case ExprKind::kUnary:
        return dag_.op(e->op == Op::kNot ? Prim::logical_not : Prim::neg,
                       run(e->children[0]));
      case ExprKind::kBinary: return binary(*e);
      case ExprKind::kIf: {
        const int c = run(e->children[0]);
        const int a = run(e->children[1]);
        return dag_.op(Prim::select, c, a, run(e->children[2]));
      }
      case ExprKind::kLet: {
        const int value = run(e->children[0]);
        locals_.emplace_back(e->name, value);
        const int body = run(e->children[1]);
        locals_.pop_back();
        return body;
      }
      default: {
        int args[3] = {-1, -1, -1};
        for (std::size_t i = 0; i < e->children.size(); ++i) {
          args[i] = run(e->children[i]);
        }
        return dag_.op(*find_element_function(e->name)->prim, args[0], args[1],
                       args[2]);
      }
    }
  }

 private:
  int name(const std::string& n) {
    for (auto it = locals_.rbegin(); it != locals_.rend(); ++it) {
      if (it->first == n) return it->second;
    }
    const ElementName& known = *env_.find(n);
    if (known.kind != ElementKind::kTensor) {
      return dag_.scalar({.name = n}, known.kind == ElementKind::kBool);
    }
    int index = 0;
    for (const ElementName& other : env_.names) {
      if (other.name == n) break;
      index += other.kind == ElementKind::kTensor;
    }
    return dag_.input(index, RegClass::kValue);
  }

  int question(const ExprNode& e) {
    for (int i = 0; i < 2; ++i) {
      const ExprNode& literal = *e.children[i];
      ScalarInput input;
      if (literal.kind == ExprKind::kNone) {
        input.kind = ScalarInput::Kind::kHasValue;
      } else if (literal.kind == ExprKind::kString) {
        input.kind = ScalarInput::Kind::kEquals;
        input.text = literal.name;
      } else {
        continue;
      }
      input.name = dotted_name(e.children[1 - i]);
      const bool negate =
          (literal.kind == ExprKind::kNone) == (e.op == Op::kEq);
      const int v = dag_.scalar(std::move(input), true);
      return negate ? dag_.op(Prim::logical_not, v) : v;
    }
    return -1;
  }

  int binary(const ExprNode& e) {
    if (const int v = question(e); v >= 0) return v;
    static constexpr Prim kOps[] = {
        Prim::add,       Prim::sub,         Prim::mul,       Prim::div,
        Prim::floor_div, Prim::remainder,   Prim::pow,       Prim::eq,
        Prim::ne,        Prim::lt,          Prim::le,        Prim::gt,
        Prim::ge,        Prim::logical_and, Prim::logical_or};
    const int a = run(e.children[0]);
    const int b = run(e.children[1]);
    return dag_.op(kOps[static_cast<int>(e.op) - static_cast<int>(Op::kAdd)], a,
                   b);
  }

  const ElementEnv& env_;
  Dag& dag_;
  std::vector<std::pair<std::string, int>> locals_;
};

// Gives the values of a Dag registers.
class Assembler {
 public:
  Assembler(Dag& dag, const ElementEnv& env, bool all_inputs)
      : dag_(dag), all_inputs_(all_inputs) {
    for (const ElementName& n : env.names) {
      if (n.kind == ElementKind::kTensor) {
        program_.inputs.push_back({n.name, RegClass::kValue});
      }
    }
    program_.scalars = dag.scalars();
  }

  // False if there are too many registers.
  bool run(const std::vector<int>& roots) {
    std::vector<int> distinct;
    for (int root : roots) {
      const bool direct =
          dag_[root].kind != Dag::Kind::kOp || dag_[root].uniform ||
          std::find(distinct.begin(), distinct.end(), root) != distinct.end();
      order(root);
      copied_.push_back(direct);
      distinct.push_back(root);
    }
    place_inputs();
    place_uniforms();
    if (registers_ > kMaxRegisters) return false;
    place_steps(roots);
    program_.n_registers = registers_;
    return registers_ <= kMaxRegisters &&
           program_.scalars.size() + program_.constants.size() +
                   program_.uniform_steps.size() <=
               kMaxRegisters;
  }

  Program take() { return std::move(program_); }

 private:
  void grow() {
    const auto n = static_cast<std::size_t>(dag_count_);
    reg_.resize(n, -1);
    uniform_reg_.resize(n, -1);
    seen_.resize(n, false);
  }

  // Puts arguments before their readers, and uniforms into a list of their own.
  void order(int v) {
    if (v >= dag_count_) {
      dag_count_ = v + 1;
      grow();
    }
    if (seen_[v]) return;
    seen_[v] = true;
    for (int a : dag_[v].args) {
      if (a >= 0) order(a);
    }
    if (dag_[v].uniform) {
      uniforms_.push_back(v);
    } else if (dag_[v].kind == Dag::Kind::kOp) {
      steps_.push_back(v);
    } else {
      inputs_.push_back(v);
    }
  }

  void place_inputs() {
    const std::size_t n = program_.inputs.size();
    std::vector<bool> as_value(n), as_bool(n);
    for (int v : inputs_) {
      (dag_[v].kind == Dag::Kind::kBoolInput
           ? as_bool
           : as_value)[static_cast<std::size_t>(dag_[v].index)] = true;
    }
    std::vector<int> place(n, -1);
    std::vector<ProgramInput> kept;
    for (std::size_t i = 0; i < n; ++i) {
      if (!all_inputs_ && !as_value[i] && !as_bool[i]) continue;
      place[i] = static_cast<int>(kept.size());
      kept.push_back(program_.inputs[i]);
      if (as_bool[i] && !as_value[i]) kept.back().reg_class = RegClass::kBool;
    }
    program_.inputs = std::move(kept);
    for (int v : inputs_) {
      const auto i = static_cast<std::size_t>(dag_[v].index);
      reg_[v] = place[i];
      // It is wanted both ways: loaded as a number, tested by a step.
      if (dag_[v].kind == Dag::Kind::kBoolInput && as_value[i]) {
        reg_[v] = -1;
        tested_.push_back(v);
      }
    }
    registers_ = static_cast<int>(program_.inputs.size());
    input_place_ = std::move(place);
  }

  void place_uniforms() {
    int next = static_cast<int>(program_.scalars.size());
    for (int v : uniforms_) {
      if (dag_[v].kind == Dag::Kind::kScalar) uniform_reg_[v] = dag_[v].index;
      if (dag_[v].kind != Dag::Kind::kConstant) continue;
      // True and 1 are one constant.
      const auto& known = program_.constants;
      const auto it = std::find(known.begin(), known.end(), dag_[v].constant);
      uniform_reg_[v] = static_cast<int>(program_.scalars.size()) +
                        static_cast<int>(it - known.begin());
      if (it == known.end()) {
        program_.constants.push_back(dag_[v].constant);
        ++next;
      }
    }
    for (int v : uniforms_) {
      if (dag_[v].kind != Dag::Kind::kOp) continue;
      UniformStep s{dag_[v].op};
      std::uint8_t* args[] = {&s.a, &s.b, &s.c};
      for (int i = 0; i < 3 && dag_[v].args[i] >= 0; ++i) {
        *args[i] = static_cast<std::uint8_t>(uniform_reg_[dag_[v].args[i]]);
      }
      program_.uniform_steps.push_back(s);
      uniform_reg_[v] = next++;
    }
  }

  // The register of a uniform that a step reads.
  void use_uniform(int v) {
    if (reg_[v] >= 0) return;
    program_.uniforms.push_back(
        {static_cast<std::uint8_t>(uniform_reg_[v]), dag_[v].reg_class});
    reg_[v] = registers_++;
  }

  int temporary(RegClass reg_class, const std::vector<int>& dying) {
    // A dying argument's own register, if elements have the same width: the
    // loop may then write over what it has read.
    for (int v : dying) {
      if (dag_[v].reg_class == reg_class) {
        const int r = reg_[v];
        std::erase(free_, r);
        return r;
      }
    }
    return -1;
  }

  int new_temporary() {
    if (!free_.empty()) {
      const auto it = std::min_element(free_.begin(), free_.end());
      const int r = *it;
      free_.erase(it);
      return r;
    }
    return registers_++;
  }

  void place_steps(const std::vector<int>& roots) {
    for (int v : steps_) {
      for (int a : dag_[v].args) {
        if (a >= 0 && dag_[a].uniform) use_uniform(a);
      }
    }
    for (int root : roots) {
      if (dag_[root].uniform) use_uniform(root);
    }
    std::vector<int> last(static_cast<std::size_t>(dag_count_), -1);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      for (int a : dag_[steps_[i]].args) {
        if (a >= 0) last[a] = static_cast<int>(i);
      }
    }
    for (int root : roots) last[root] = static_cast<int>(steps_.size());
    for (int v : tested_) {
      reg_[v] = new_temporary();
      const int source = input_place_[static_cast<std::size_t>(dag_[v].index)];
      emit(Prim::truth, reg_[v], {source, 0, 0});
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      step(steps_[i], static_cast<int>(i), last);
    }
    for (std::size_t i = 0; i < roots.size(); ++i) {
      int r = reg_[roots[i]];
      const RegClass reg_class = dag_[roots[i]].reg_class;
      if (copied_[i]) {
        const int source = r;
        r = new_temporary();
        if (reg_class == RegClass::kBool) {
          emit(Prim::logical_and, r, {source, source, 0});
        } else {
          emit(Prim::copy, r, {source, 0, 0});
        }
      }
      program_.results.push_back(
          {static_cast<std::uint8_t>(r), reg_class == RegClass::kBool});
    }
  }

  void step(int v, int i, const std::vector<int>& last) {
    std::array<int, 3> args = {0, 0, 0};
    std::vector<int> dying;
    for (int k = 0; k < 3 && dag_[v].args[k] >= 0; ++k) {
      const int a = dag_[v].args[k];
      args[k] = reg_[a];
      const bool owned =
          reg_[a] >= program_.first_temporary() && !dag_[a].uniform;
      if (owned && last[a] == i &&
          std::find(dying.begin(), dying.end(), a) == dying.end()) {
        dying.push_back(a);
      }
    }
    int dst = temporary(dag_[v].reg_class, dying);
    if (dst < 0) dst = new_temporary();
    for (int a : dying) {
      if (reg_[a] != dst) free_.push_back(reg_[a]);
    }
    reg_[v] = dst;
    emit(dag_[v].op, dst, args);
  }

  void emit(Prim op, int dst, const std::array<int, 3>& args) {
    const auto byte = [](int r) { return static_cast<std::uint8_t>(r); };
    program_.steps.push_back(
        {op, byte(dst), byte(args[0]), byte(args[1]), byte(args[2])});
  }

  Dag& dag_;
  bool all_inputs_;
  Program program_;
  int dag_count_ = 0;
  std::vector<bool> seen_;
  std::vector<int> inputs_, uniforms_, steps_, tested_;
  std::vector<int> input_place_;
  std::vector<int> reg_, uniform_reg_;
  std::vector<int> free_;
  std::vector<bool> copied_;
  int registers_ = 0;
};

}  // namespace

std::optional<Program> compile_element(std::span<const Expr> results,
                                       const ElementEnv& env,
                                       Diagnostics& diagnostics,
                                       const CompileOptions& options) {
  const std::size_t before = diagnostics.size();
  for (const Expr& e : results) check_element(e, env, diagnostics);
  if (diagnostics.size() != before) return std::nullopt;
  Dag dag;
  std::vector<int> roots;
  for (const Expr& e : results) {
    roots.push_back(Lowering(env, dag).run(fold(e)));
  }
  dag.fuse(roots);
  Assembler assembler(dag, env, options.all_inputs);
  if (!assembler.run(roots)) {
    diagnostics.error(results[0]->at,
                      "the expression needs more than 256 registers");
    return std::nullopt;
  }
  return assembler.take();
}

Program compile_element(const Expr& e, const ElementEnv& env,
                        const CompileOptions& options) {
  Diagnostics diagnostics;
  auto program = compile_element({&e, 1}, env, diagnostics, options);
  if (!program) throw LangError(diagnostics);
  return std::move(*program);
}

}  // namespace sy::lang

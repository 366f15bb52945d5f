// One kernel each for all pointwise operators, all reductions and all scans:
// what they compute is in their programs (aten/backend/node.h).

#include <sy/library.h>

#include "aten/backend/node.h"
#include "elements.h"
#include "primitive.h"

namespace reference {
namespace {

using sy::ElementProgram;
using sy::Value;

// An element as the input of a program.
template <class T>
Register<T> load(const Tensor& t, const Index& at, bool is_bool) {
  if (is_bool) return {{}, read<bool>(t, at)};
  return {read<T>(t, at), false};
}

template <class T>
T uniform(const sy::program::Uniform& u) {
  if constexpr (std::is_same_v<T, float>) return u.f32;
  if constexpr (std::is_same_v<T, double>) return u.f64;
  return static_cast<T>(u.i64);
}

// The registers of a program whose numbers are known.
template <class T>
class Machine {
 public:
  Machine(const ElementProgram& program, const sy::program::Uniform* uniforms)
      : program_(program.body), registers_(program.body.n_registers) {
    for (int i = 0; i < program_.n_uniforms; ++i) {
      Register<T>& r = registers_[program_.n_inputs + i];
      r.v = uniform<T>(uniforms[i]);
      r.b = uniforms[i].u8 != 0;
    }
  }
  bool loads_bool(int input) const {
    return (program_.bool_inputs >> input & 1) != 0;
  }
  bool gives_bool(int result) const { return program_.results[result].is_bool; }

  void set(int input, const Register<T>& v) { registers_[input] = v; }
  void run() {
    for (int i = 0; i < program_.n_steps; ++i) {
      const sy::program::Step& s = program_.steps[i];
      divided_by_zero_ |= divides(s.op) && registers_[s.b].v == T(0);
      registers_[s.dst] =
          apply<T>(s.op, registers_[s.a], registers_[s.b], registers_[s.c]);
    }
  }
  const Register<T>& result(int i) const {
    return registers_[program_.results[i].reg];
  }
  // Whether a step divided integers by 0.
  bool divided_by_zero() const { return divided_by_zero_; }

 private:
  static bool divides(sy::lang::Prim p) {
    using sy::lang::Prim;
    return std::is_integral_v<T> &&
           (p == Prim::trunc_div || p == Prim::floor_div || p == Prim::fmod ||
            p == Prim::remainder);
  }

  const sy::program::Program& program_;
  std::vector<Register<T>> registers_;
  bool divided_by_zero_ = false;
};

template <class T>
void store(const Tensor& out, const Index& at, const Register<T>& r,
           bool is_bool) {
  is_bool ? write<bool>(out, at, r.b) : write<T>(out, at, r.v);
}

Tensor pointwise(const sy::PointwiseNode& node) {
  const sy::PointwiseOp& op = node.op();
  const sy::PointwiseArgs args = node.args();
  sy::PointwisePlan plan;
  sy::plan_pointwise(op, args, &plan);
  const ElementProgram& program = sy::select_program(op, args);
  sy::program::Uniform uniforms[sy::program::kMaxUniforms] = {};
  sy::eval_call_uniforms(op, program, args, plan.compute, uniforms);
  const Tensor out = sy::make_result(op, args, plan);
  visit_computed(plan.compute, [&]<class T>() {
    Machine<T> machine(program, uniforms);
    for_each_place(plan.sizes, [&](const Index& at) {
      for (int i = 0; i < op.n_inputs; ++i) {
        machine.set(
            i, load<T>(Tensor(*args.inputs[i]), at, machine.loads_bool(i)));
      }
      machine.run();
      store(out, at, machine.result(0), machine.gives_bool(0));
    });
    SY_CHECK(!machine.divided_by_zero(), Value,
             "[{}] other: expected a divisor other than 0, got an integer 0",
             op.name);
  });
  return out;
}

// Sums of floats are made in double.
ScalarType accumulated_in(ScalarType compute) {
  return sy::is_floating_type(compute) ? sy::kDouble : compute;
}

sy::program::ComputeType tile_type(ScalarType t) {
  return sy::program::compute_type_of(t);
}

template <class T>
class Reduction {
 public:
  Reduction(const sy::ReduceOp& op, const sy::ReduceArgs& args,
            const sy::ReducePlan& plan, ScalarType dtype)
      : op_(op),
        plan_(plan),
        self_(*args.self),
        map_(machine(op.map, args, dtype)),
        combine_(machine(op.combine, args, dtype)),
        finish_(
            machine(op.finish == nullptr ? op.map : *op.finish, args, dtype)) {
    // The dtype argument is what self is converted to first.
    if (args.dtype) self_ = self_.to(*args.dtype);
  }

  void run(Tensor* results) {
    Index kept = self_.sizes().vec(), reduced(kept.size(), 1);
    for (size_t d = 0; d < kept.size(); ++d) {
      if ((plan_.reduced >> d & 1) == 0) continue;
      reduced[d] = kept[d];
      kept[d] = 1;
    }
    for (int i = 0; i < op_.n_results; ++i) {
      results[i] = empty(kept, plan_.results[i], self_.device());
    }
    for_each_place(kept, [&](const Index& at) {
      const std::vector<Register<T>> values = finished(accumulate(at, reduced));
      for (int i = 0; i < op_.n_results; ++i) {
        const bool is_bool =
            op_.finish == nullptr ? map_.gives_bool(i) : finish_.gives_bool(i);
        store(results[i], at, values[static_cast<size_t>(i)], is_bool);
      }
    });
    for (int i = 0; i < op_.n_results; ++i) {
      results[i] = results[i].reshape(plan_.sizes);
    }
  }

 private:
  using Values = std::vector<Register<T>>;

  Machine<T> machine(const ElementProgram& program, const sy::ReduceArgs& args,
                     ScalarType dtype) const {
    sy::program::Uniform uniforms[sy::program::kMaxUniforms] = {};
    sy::eval_uniforms(program, args.scalars, plan_.count, tile_type(dtype),
                      uniforms);
    return Machine<T>(program, uniforms);
  }

  Values accumulate(const Index& at, const Index& reduced) {
    Values all;
    for_each_place(reduced, [&](const Index& inner) {
      Index from = at;
      for (size_t d = 0; d < from.size(); ++d) from[d] += inner[d];
      map_.set(0, load<T>(self_, from, map_.loads_bool(0)));
      map_.run();
      const Values one = results_of(map_);
      all = all.empty() ? one : combined(all, one);
    });
    for (int i = 0; all.empty() && i < op_.n_accumulators; ++i) {
      nothing_.push_back(identity(i));
    }
    return all.empty() ? nothing_ : all;
  }
  Register<T> identity(int i) const {
    const sy::lang::Uniform& u = op_.identity[i];
    return {
        static_cast<T>(u.is_int ? static_cast<T>(u.i) : static_cast<T>(u.d)),
        u.as_double() != 0};
  }
  Values combined(const Values& a, const Values& b) {
    for (int i = 0; i < op_.n_accumulators; ++i) {
      combine_.set(i, a[static_cast<size_t>(i)]);
      combine_.set(op_.n_accumulators + i, b[static_cast<size_t>(i)]);
    }
    combine_.run();
    return results_of(combine_);
  }
  Values finished(const Values& v) {
    if (op_.finish == nullptr) return v;
    for (int i = 0; i < op_.n_accumulators; ++i) {
      finish_.set(i, v[static_cast<size_t>(i)]);
    }
    finish_.run();
    Values out;
    for (int i = 0; i < op_.n_results; ++i) out.push_back(finish_.result(i));
    return out;
  }
  Values results_of(const Machine<T>& m) const {
    Values out;
    for (int i = 0; i < op_.n_accumulators; ++i) out.push_back(m.result(i));
    return out;
  }

  const sy::ReduceOp& op_;
  const sy::ReducePlan& plan_;
  Tensor self_;
  Machine<T> map_, combine_, finish_;
  Values nothing_;
};

void reduce(const sy::ReduceNode& node, Value* results) {
  sy::ReducePlan plan;
  sy::plan_reduce(node.op(), node.args(), &plan);
  const ScalarType dtype = accumulated_in(plan.compute);
  visit_computed(dtype, [&]<class T>() {
    Tensor out[sy::ReduceOp::kMaxResults];
    Reduction<T>(node.op(), node.args(), plan, dtype).run(out);
    for (int i = 0; i < node.op().n_results; ++i) results[i] = Value(out[i]);
  });
}

void scan(const sy::ScanOp& op, const sy::ScanArgs& args, Value* results) {
  sy::ScanPlan plan;
  sy::plan_scan(op, args, &plan);
  Tensor self = with_dims(Tensor(*args.self));
  if (args.dtype) self = self.to(*args.dtype);
  const Tensor out = empty(self.sizes(), plan.result, self.device());
  const Tensor places = empty(self.sizes(), sy::kLong, self.device());
  const auto dim = static_cast<size_t>(plan.dim);
  const ScalarType dtype = accumulated_in(plan.compute);
  sy::program::Uniform uniforms[sy::program::kMaxUniforms] = {};
  sy::eval_uniforms(op.combine, nullptr, 0, tile_type(dtype), uniforms);
  visit_computed(dtype, [&]<class T>() {
    Machine<T> machine(op.combine, uniforms);
    Index rows = self.sizes().vec();
    const int64_t n = rows[dim];
    rows[dim] = n == 0 ? 0 : 1;
    for_each_place(rows, [&](const Index& row) {
      Register<T> so_far = load<T>(self, row, false);
      int64_t chosen = 0;
      Index at = row;
      for (int64_t i = 0; i < n; ++i) {
        at[dim] = i;
        if (i > 0) {
          const Register<T> next = load<T>(self, at, false);
          machine.set(0, so_far);
          machine.set(1, next);
          machine.run();
          if (!op.chooses) {
            so_far = machine.result(0);
          } else if (machine.result(0).b) {
            so_far = next;
            chosen = i;
          }
        }
        store(out, at, so_far, false);
        write<int64_t>(places, at, chosen);
      }
    });
  });
  results[0] = Value(out.reshape(args.self->sizes()));
  if (op.chooses) results[1] = Value(places.reshape(args.self->sizes()));
}

void run_program(const sy::Kernel&, const sy::OperatorEntry& op,
                 sy::DispatchKeySet, Value* args, size_t, Value* results,
                 size_t) {
  const sy::NodeDesc& node = *sy::node_desc(op);
  const sy::AutoDispatchBelowAutograd no_tape;
  if (node.pointwise != nullptr) {
    results[0] = Value(pointwise(sy::PointwiseNode(node, args)));
  } else if (node.reduce != nullptr) {
    reduce(sy::ReduceNode(node, args), results);
  } else {
    scan(*node.scan, sy::scan_node(node, args), results);
  }
}

}  // namespace
}  // namespace reference

// In-place and out= forms are made from the functional ones.
SY_LIBRARY_IMPL(aten, Reference, m) {
  for (const sy::OperatorHandle op : sy::Dispatcher::singleton().operators()) {
    const bool form = op.entry().has_flag(sy::OperatorDef::kInplace) ||
                      op.entry().has_flag(sy::OperatorDef::kOut);
    if (form || sy::node_desc(op.entry()) == nullptr ||
        !op.name().starts_with("aten::")) {
      continue;
    }
    m.impl(op.name().substr(6),
           sy::Kernel::from_boxed(&reference::run_program));
  }
}

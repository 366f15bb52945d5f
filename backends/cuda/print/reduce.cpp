#include "backends/cuda/print/reduce.h"

#include <algorithm>
#include <vector>

#include "backends/cuda/print/reduce_printer.h"
#include "backends/cuda/print/values.h"

namespace sy::cuda::print {

namespace {

using program::ComputeType;
using program::Program;

// Of the elements of one tensor.
class TensorReducePrinter : ReducePrinter {
 public:
  TensorReducePrinter(const std::string& name, const ReduceText& r)
      : ReducePrinter(name), r_(r) {}

  std::string print(ReduceShell shell) {
    need_reduction(r_);
    begin({.file = "reduce.cuh",
           .params = str("ReduceParams<{}>", std::max(r_.numbers(), 1)),
           .base = str("TypedElements<{}>", element_name(r_.self)),
           .reports_at_once = true});
    return kernel(
        r_, r_.accumulated, "Item x, int64_t", [&] { return mapped(); }, shell,
        str("TensorSource<{}_parts::Op>", name_));
  }

 private:
  std::vector<std::string> mapped() {
    const bool truth = (r_.map->bool_inputs & 1) != 0;
    return {loaded("x", r_.type, truth)};
  }

  const ReduceText& r_;
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
  return TensorReducePrinter(name, r).print(shell);
}

}  // namespace sy::cuda::print

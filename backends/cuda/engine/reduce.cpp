#include <algorithm>
#include <cstddef>

#include "aten/backend/engine_calls.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/engine/numbers.h"
#include "backends/cuda/engine/reduce_interpret.h"
#include "backends/cuda/engine/reduce_launch.h"

namespace sy::cuda {

namespace {

using print::ReduceShell;
using print::ReduceText;

static_assert(kMaxReduceResults == ReduceOp::kMaxResults);
constexpr int kMostNumbers = 3 * program::kMaxUniforms + kMaxAccumulators;

ReduceText text_of(const ReduceOp& op, const ReducePlan& plan, ScalarType self,
                   Tensor* const* outs) {
  ReduceText t;
  t.map = &op.map.body;
  t.combine = &op.combine.body;
  t.finish = op.finish == nullptr ? nullptr : &op.finish->body;
  t.accumulators = op.n_accumulators;
  t.results = op.n_results;
  t.type = program::compute_type_of(plan.compute);
  t.accumulated = print::accumulated_in(op.combine.body, t.type);
  t.self = self;
  for (int i = 0; i < op.n_results; ++i) t.stored[i] = outs[i]->dtype();
  return t;
}

// The numbers of a call, as the kernel takes them.
int collect_numbers(const ReduceOp& op, const ReduceArgs& args,
                    const ReduceText& t, int64_t count, Number* numbers) {
  Number* to = put_numbers(op.map, args.scalars, 0, t.type, numbers);
  to = put_numbers(op.combine, args.scalars, 0, t.accumulated, to);
  if (op.finish != nullptr) {
    to = put_numbers(*op.finish, args.scalars, count, t.type, to);
  }
  for (int i = 0; i < op.n_accumulators; ++i) {
    *to++ = op.identity == nullptr
                ? Number{}
                : number_of(op.identity[i], t.accumulated, t.is_bool(i));
  }
  return static_cast<int>(to - numbers);
}

class Source final : public ProgramSource {
 public:
  Source(const ReduceText& t, ReduceShell shell) : text_(t), shell_(shell) {}
  std::string text(const std::string& name) const override {
    return print::print_reduce(name, text_, shell_);
  }

 private:
  const ReduceText& text_;
  ReduceShell shell_;
};

// The compiled kernels of a reduction, if they are there.
class Compiled final : public ReduceKernels {
 public:
  Compiled(int device, const ReduceText& t, const ReduceCut& cut) {
    Hasher h;
    h.add("reduce");
    add_program(&h, t.map);
    add_program(&h, t.combine);
    add_program(&h, t.finish);
    h.add(static_cast<uint64_t>(t.type) << 8 |
          static_cast<uint64_t>(t.accumulated));
    h.add(static_cast<uint64_t>(t.self));
    h.add(static_cast<uint64_t>(t.accumulators) << 8 |
          static_cast<uint64_t>(t.results));
    for (int i = 0; i < t.results; ++i) {
      h.add(static_cast<uint64_t>(t.stored[i]));
    }
    const auto find = [&](ReduceShell shell) {
      Hasher own = h;
      own.add(static_cast<uint64_t>(shell));
      return program(device, key_of(own), Source(t, shell));
    };
    // Both are asked for, so that they are compiled side by side.
    first_ = find(cut.shell);
    if (cut.pieces > 1) {
      second_ = find(ReduceShell::kPieces);
      if (second_ == nullptr) first_ = nullptr;
    }
  }
  bool ready() const { return first_ != nullptr; }
  const Function& of(ReduceShell shell) override {
    return shell == ReduceShell::kPieces ? *second_ : *first_;
  }

 private:
  const Function* first_ = nullptr;
  const Function* second_ = nullptr;
};

void reduce_to(const ReduceOp& op, const ReduceArgs& args,
               const ReducePlan& plan, const ReduceLayout& layout,
               const Tensor& self, Tensor* const* outs) {
  SY_CHECK(op.n_accumulators <= kMaxAccumulators, Value,
           "[{}] expected at most {} accumulators, got {}", op.name,
           kMaxAccumulators, op.n_accumulators);
  const ReduceText text = text_of(op, plan, self.dtype(), outs);
  ReduceParams<kMostNumbers> params = {};
  const int numbers =
      collect_numbers(op, args, text, plan.count, params.numbers);
  const ReduceCut cut(layout, self.raw_data(),
                      static_cast<int64_t>(self.itemsize()), plan.numel,
                      plan.count);
  const TensorBase* written[ReduceOp::kMaxResults];
  for (int i = 0; i < op.n_results; ++i) {
    params.results[i] = outs[i]->raw_data();
    written[i] = outs[i];
  }
  int64_t sizes[kMaxAccumulators];
  for (int i = 0; i < op.n_accumulators; ++i) {
    sizes[i] = text.accumulator_bytes(i);
  }
  const ArrayRef<int64_t> each(sizes, static_cast<size_t>(op.n_accumulators));
  const ReduceRun run = {self.device().index(),
                         &cut,
                         &layout,
                         &self,
                         plan.numel,
                         plan.count,
                         each,
                         written,
                         op.n_results};
  const auto by_kernels = [&] {
    Compiled compiled(run.device, text, cut);
    if (!compiled.ready()) return false;
    const size_t bytes =
        sizeof(ReduceHead) +
        static_cast<size_t>(std::max(numbers, 1)) * sizeof(Number);
    launch_reduce(run, compiled, &params, bytes);
    return true;
  };
  if (by_kernels()) return;
  if (can_interpret(text)) {
    interpret_reduce(text, run, params.results, params.numbers, numbers);
    return;
  }
  finish_compiling();
  SY_CHECK(by_kernels(), Error,
           "[{}] self: expected a reduction whose kernels can be compiled, got "
           "one of {} steps",
           op.name, op.map.body.n_steps + op.combine.body.n_steps);
}

}  // namespace

// Sums and products of floats are made in double. Results do not depend on the
// machine, on streams or on whether the kernel is compiled yet. No call waits
// for the device.
struct ReduceWays {
  static void run(const ReduceOp& op, const ReduceArgs& args,
                  const ReducePlan& plan, Tensor* const* outs) {
    if (plan.numel == 0) return;
    // A reduction of no elements reads nothing: self has the results' sizes.
    const bool empty = plan.count == 0;
    Tensor self = empty ? Tensor(make_tensor(plan.sizes, args.self->dtype(),
                                             args.self->device()))
                        : Tensor(*args.self);
    const ReduceLayout layout =
        layout_of(&self, empty ? 0 : plan.reduced,
                  plan.sizes.size() == static_cast<int>(self.dim()));
    const OrderedResults results(layout, outs, op.n_results);
    reduce_to(op, args, plan, layout, self, results.tensors());
    results.store();
  }
};

}  // namespace sy::cuda

template struct sy::ReduceCalls<sy::cuda::ReduceWays>;

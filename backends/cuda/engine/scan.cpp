#include <algorithm>

#include "aten/backend/engine_calls.h"
#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/engine/numbers.h"
#include "backends/cuda/engine/scan_interpret.h"
#include "backends/cuda/engine/scan_launch.h"

namespace sy::cuda {

namespace {

using print::ScanShell;
using print::ScanText;

class Source final : public ProgramSource {
 public:
  Source(const ScanText& t, ScanShell shell) : text_(t), shell_(shell) {}
  std::string text(const std::string& name) const override {
    return print::print_scan(name, text_, shell_);
  }

 private:
  const ScanText& text_;
  ScanShell shell_;
};

const Function* compiled(int device, const ScanText& t, ScanShell shell) {
  Hasher h;
  h.add("scan");
  add_program(&h, t.combine);
  h.add(static_cast<uint64_t>(t.chooses) << 32 |
        static_cast<uint64_t>(t.type) << 24 |
        static_cast<uint64_t>(t.self) << 16 |
        static_cast<uint64_t>(t.stored) << 8 | static_cast<uint64_t>(shell));
  return program(device, key_of(h), Source(t, shell));
}

Tensor dense_copy(const Tensor& t, ScalarType dtype) {
  const Tensor dense(make_tensor(t.sizes(), dtype, t.device()));
  copy_tensor(dense, t);
  return dense;
}

// The results may be self, element by element, and share no memory else.
void scan_to(const ScanOp& op, const ScanPlan& plan, const Tensor& self,
             const Tensor& values, const Tensor& places) {
  const ScanLayout layout(self, values, places, plan.dim);
  SY_CHECK(layout.fits, Value,
           "[{}] self: expected at most {} groups of dims, got sizes {}",
           op.name, kWalkDims, self.sizes());
  const ScanCut cut(layout, static_cast<int64_t>(self.itemsize()));
  const ScanText text = {&op.combine.body, op.chooses,
                         program::compute_type_of(plan.compute), self.dtype(),
                         values.dtype()};
  ScanParams<program::kMaxUniforms> params = {};
  params.data = static_cast<const char*>(self.raw_data());
  params.values = static_cast<char*>(values.raw_data());
  if (places.defined()) params.places = static_cast<char*>(places.raw_data());
  const Number* const end =
      put_numbers(op.combine, nullptr, 0, text.type, params.numbers);
  const int64_t item = static_cast<int64_t>(compute_type_size(text.type));
  const int64_t state = op.chooses ? 16 : item;
  const TensorBase* used[3] = {&self, &values};
  size_t n = 2;
  if (places.defined()) used[n++] = &places;
  const int device = self.device().index();
  const auto by_kernel = [&] {
    const Function* const f = compiled(device, text, cut.shell);
    if (f == nullptr) return false;
    const auto numbers =
        std::max<size_t>(static_cast<size_t>(end - params.numbers), 1);
    launch_scan(device, *f, cut, layout, state, &params,
                sizeof(ScanHead) + numbers * sizeof(Number), used, n);
    return true;
  };
  if (by_kernel()) return;
  if (can_interpret(text)) {
    interpret_scan(device, text, params, params.numbers, cut, layout, used, n);
    return;
  }
  finish_compiling();
  SY_CHECK(by_kernel(), Error,
           "[{}] self: expected a scan whose kernel can be compiled, got one "
           "of {} steps",
           op.name, op.combine.body.n_steps);
}

}  // namespace

// Elements are grouped by their number alone: results of floats are the same in
// every run, and those of a row whatever rows are beside it. Long rows are read
// and written once: blocks look back at what others made, in groups that do not
// depend on timing. No call waits for the device.
struct ScanWays {
  static void run(const ScanOp& op, const ScanArgs& args, const ScanPlan& plan,
                  Tensor* const* outs) {
    Tensor self(*args.self);
    if (self.numel() == 0) return;
    if (calls::narrows(self.dtype(), plan.result))
      self = dense_copy(self, plan.result);
    const int n = result_count(op);
    // A result that lies over self in another way is made beside it.
    Tensor to[2];
    for (int i = 0; i < n; ++i) {
      const Sharing s = sharing(*outs[i], self);
      const bool direct = s == Sharing::None || (s == Sharing::Full && i == 0);
      to[i] = direct ? *outs[i]
                     : Tensor(make_tensor(self.sizes(), outs[i]->dtype(),
                                          self.device()));
    }
    if (!ScanLayout(self, to[0], to[1], plan.dim).fits ||
        !is_element_aligned(self)) {
      self = dense_copy(self, self.dtype());
      for (int i = 0; i < n; ++i) {
        to[i] =
            Tensor(make_tensor(self.sizes(), outs[i]->dtype(), self.device()));
      }
    }
    scan_to(op, plan, self, to[0], to[1]);
    for (int i = 0; i < n; ++i) {
      if (!to[i].is_same(*outs[i])) copy_tensor(*outs[i], to[i]);
    }
  }
};

}  // namespace sy::cuda

template struct sy::ScanCalls<sy::cuda::ScanWays>;

#include <algorithm>
#include <string_view>

#include "aten/engine/dims.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/engine/dense.h"
#include "backends/cuda/engine/rows.h"
#include "backends/cuda/print/body.h"

namespace sy::cuda {

namespace {

constexpr unsigned kColumnThreads = 256;

// Outer x size x inner elements around the dim.
struct Extent {
  int64_t outer = 1, size = 1, inner = 1;

  Extent(const char* op, const Tensor& t, int64_t dim) {
    const int64_t at = wrap_dim(op, dim, t.dim());
    for (int64_t d = 0; d < t.dim(); ++d) {
      const int64_t n = t.sizes()[static_cast<size_t>(d)];
      (d < at ? outer : d == at ? size : inner) *= n;
    }
  }
};

const Function& function(int device, ScalarType dtype, const char* name) {
  const program::ComputeType type = program::compute_type_of(dtype);
  const Define defines[] = {
      {"SY_E", print::element_name(dtype)},
      {"SY_T", print::type_name(type)},
      {"SY_F", type == program::ComputeType::f64 ? "f64" : "f32"}};
  return kernel(device, "activation_softmax.cu", name, defines);
}

// `grad` is undefined for the forward.
Tensor run(const char* op, bool log, const Tensor& input, const Tensor& grad,
           int64_t dim) {
  const Extent e(op, input, dim);
  const Tensor x = dense(input);
  const bool backward = grad.defined();
  const Tensor dy = backward ? dense(grad) : Tensor();
  const Tensor out(make_tensor(x.sizes(), x.dtype(), x.device()));
  if (out.numel() == 0) return out;
  const int device = x.device().index();
  const auto item = static_cast<int64_t>(x.itemsize());
  SoftmaxParams p = {};
  p.x = x.raw_data();
  p.dy = backward ? dy.raw_data() : nullptr;
  p.y = out.raw_data();
  const TensorBase* const used[] = {&x, &dy, &out};
  const int64_t rows = e.outer * e.inner;
  if (e.inner == 1) {
    const bool aligned =
        is_aligned(x) && is_aligned(out) && (!backward || is_aligned(dy));
    const RowPlan plan = plan_rows(rows, e.size, backward ? 2 : 1,
                                   std::max<int64_t>(item, 4), item, aligned);
    set_rows(&p, plan, rows, e.size);
    p.log = log;
    launch(device,
           function(device, x.dtype(),
                    backward ? "softmax_grad_rows" : "softmax_rows"),
           plan.shape, &p, sizeof p, used, 3);
    return out;
  }
  p.rows = rows;
  p.length = e.size;
  p.inner = e.inner;
  p.log = log;
  p.lanes = 1;
  while (p.lanes < e.inner && p.lanes < 32) p.lanes *= 2;
  const int64_t blocks = (rows + p.lanes - 1) / p.lanes;
  launch(device,
         function(device, x.dtype(),
                  backward ? "softmax_grad_columns" : "softmax_columns"),
         {{static_cast<unsigned>(std::min<int64_t>(blocks, 1 << 30))},
          {kColumnThreads}},
         &p, sizeof p, used, 3);
  return out;
}

}  // namespace

Tensor _softmax(const Tensor& self, int64_t dim, bool) {
  return run("_softmax", false, self, Tensor(), dim);
}

Tensor _log_softmax(const Tensor& self, int64_t dim, bool) {
  return run("_log_softmax", true, self, Tensor(), dim);
}

Tensor _softmax_backward_data(const Tensor& grad_output, const Tensor& output,
                              int64_t dim, ScalarType) {
  return run("_softmax_backward_data", false, output, grad_output, dim);
}

Tensor _log_softmax_backward_data(const Tensor& grad_output,
                                  const Tensor& output, int64_t dim,
                                  ScalarType) {
  return run("_log_softmax_backward_data", true, output, grad_output, dim);
}

}  // namespace sy::cuda

#include <algorithm>

#include "aten/engine/structured.h"
#include "aten/engine/view.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/blas/product.h"
#include "backends/cuda/print/body.h"
#include "backends/cuda/runtime/launch.h"
#include "backends/cuda/support/product.h"
#include "backends/cuda/support/product_cut.h"

// Products of matrices by cuBLASLt, where it is and does them better (blas/),
// or else by our own kernels: float32 and narrower floats add in float32,
// float64 in float64, integers wrap around, and bool is "any of both". Matrices
// are read at the strides that they have.

namespace sy::cuda {

namespace {

constexpr int64_t kMostBlocks = 1 << 16;
// A sum of more terms than this is cut where there is little else to do at a
// time.
constexpr int64_t kLongSum = 512;
constexpr int64_t kLongLine = int64_t{1} << 15;
// As many blocks as keep a device busy.
constexpr int64_t kManyBlocks = 256;
constexpr int64_t kDepth = 16;
// The most lines that are thin.
constexpr int64_t kThin = 4;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

void cut_sums(const Tensor& like, int64_t pieces, int64_t least,
              int64_t multiple, ProductPlan* plan) {
  Cut& c = plan->cut;
  c.parts = 1;
  c.step = std::max<int64_t>(c.k, 1);
  if (pieces < kManyBlocks / 2 && c.k >= 2 * least) {
    const int64_t parts = std::min<int64_t>(kManyBlocks / pieces, c.k / least);
    c.step = ceil_div(ceil_div(c.k, parts), multiple) * multiple;
    c.parts = ceil_div(c.k, c.step);
  }
  if (c.parts > 1) {
    plan->sums = new_result(like, c.parts * c.groups * c.m * c.n,
                            sum_type(like.scalar_type()));
    c.sums = plan->sums.raw_data();
  }
}

ProductPlan whole_plan(int64_t groups, int64_t m, int64_t n, int64_t k) {
  ProductPlan plan = {};
  plan.cut.groups = groups;
  plan.cut.m = m;
  plan.cut.n = n;
  plan.cut.k = k;
  return plan;
}

bool is_thin(const Product& p) {
  const bool rows = p.a.column == 1 || p.k == 1;
  const bool columns = p.b.row == 1 || p.k == 1;
  return (p.m <= kThin && columns) || (p.n <= kThin && rows) ||
         (p.m <= kThin && p.n <= kThin);
}

void multiply(const Product& given, const Tensor& out) {
  if (out.numel() == 0) return;
  const Tensor& like = given.left;
  const int device = like.device().index();
  const bool thin = is_thin(given);
  if (!thin && blas::multiply(given, out)) return;
  const ProductPlan plan =
      thin ? plan_lines(like, given.groups, given.m, given.n, given.k)
           : plan_tiles(like, given.groups, given.m, given.n, given.k);
  ProductParams p = {};
  p.cut = plan.cut;
  p.a = given.a;
  p.b = given.b;
  if (given.added.defined()) p.added = operand(given.added);
  p.c = out.raw_data();
  if (is_floating_type(like.scalar_type())) {
    p.alpha = given.alpha.to_double();
    p.beta = given.beta.to_double();
  } else {
    p.whole_alpha = given.alpha.to_long();
    p.whole_beta = given.beta.to_long();
  }
  const Define defines[] = {
      {"SY_ELEMENT", print::element_name(like.scalar_type())},
      {"SY_SIDE", plan.side == 128 ? "128" : "64"},
      // It does not matter by lines: that of rows by rows is there most often.
      {"SY_ALONG_A", thin || p.a.column == 1 ? "1" : "0"},
      {"SY_ALONG_B", !thin && p.b.row == 1 ? "1" : "0"}};
  const auto function = [&](const char* name) -> const Function& {
    return kernel(device, "linalg.cu", name, defines);
  };
  const auto start = [&](const char* name, const LaunchShape& shape) {
    launch(device, function(name), shape, p,
           {&given.left, &given.right, &given.added, &out, &plan.sums});
  };
  if (thin) {
    const unsigned wide = given.k > 1024 ? 256 : 32, high = 256 / wide;
    const int64_t sums = plan.cut.groups * plan.cut.m * plan.cut.n;
    const int64_t blocks = ceil_div(sums * plan.cut.parts, high);
    start(
        "multiply_lines",
        {{static_cast<unsigned>(std::min(blocks, kMostBlocks))}, {wide, high}});
  } else {
    start("multiply_tiles", {{plan.blocks}, {256}});
  }
  if (plan.cut.parts > 1) {
    start("add_parts", shape_for(out.numel(), 256, 1, kMostBlocks));
  }
}

}  // namespace

ScalarType sum_type(ScalarType dtype) {
  if (dtype == kDouble || dtype == kLong) return dtype;
  return is_floating_type(dtype) ? kFloat : kInt;
}

ProductPlan plan_tiles(const Tensor& like, int64_t groups, int64_t m, int64_t n,
                       int64_t k) {
  ProductPlan plan = whole_plan(groups, m, n, k);
  const auto tiles = [&](int64_t side) {
    return groups * ceil_div(m, side) * ceil_div(n, side);
  };
  const bool narrow = sum_type(like.scalar_type()) == kFloat;
  plan.side = narrow && m >= 128 && n >= 128 && tiles(128) >= 64 ? 128 : 64;
  cut_sums(like, tiles(plan.side), kLongSum / 2, kDepth, &plan);
  plan.blocks = static_cast<unsigned>(
      std::min<int64_t>(tiles(plan.side) * plan.cut.parts, kMostBlocks));
  return plan;
}

ProductPlan plan_lines(const Tensor& like, int64_t groups, int64_t m, int64_t n,
                       int64_t k) {
  ProductPlan plan = whole_plan(groups, m, n, k);
  plan.side = 64;
  cut_sums(like, groups * m * n, kLongLine, kDepth, &plan);
  return plan;
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  const Dims sizes(IntArrayRef{self.size(0), self.size(1), mat2.size(2)});
  const Tensor out = new_result(self, sizes, self.scalar_type());
  multiply({self, mat2, operand(self), operand(mat2), self.size(0),
            self.size(1), mat2.size(2), self.size(2), Tensor()},
           out);
  return out;
}

Tensor mm(const Tensor& self, const Tensor& mat2) {
  const Dims sizes(IntArrayRef{self.size(0), mat2.size(1)});
  const Tensor out = new_result(self, sizes, self.scalar_type());
  multiply({self, mat2, operand(self), operand(mat2), 1, self.size(0),
            mat2.size(1), self.size(1), Tensor()},
           out);
  return out;
}

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
             const Scalar& beta, const Scalar& alpha) {
  const Dims sizes(IntArrayRef{mat1.size(0), mat2.size(1)});
  const Tensor out = new_result(mat1, sizes, mat1.scalar_type());
  // A beta of 0 leaves out what is there, NaN included.
  const Tensor added = beta.to_double() == 0
                           ? Tensor()
                           : expand_for_kernel("addmm", self, sizes);
  multiply({mat1, mat2, operand(mat1), operand(mat2), 1, mat1.size(0),
            mat2.size(1), mat1.size(1), added, alpha, beta},
           out);
  return out;
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  const Tensor out = new_result(self, self.size(0), self.scalar_type());
  multiply({self, vec, operand(self), operand(vec, 0, vec.strides()[0], 1), 1,
            self.size(0), 1, self.size(1), Tensor()},
           out);
  return out;
}

Tensor dot(const Tensor& self, const Tensor& tensor) {
  const Tensor out = new_result(self, {}, self.scalar_type());
  multiply({self, tensor, operand(self, 0, 1, self.strides()[0]),
            operand(tensor, 0, tensor.strides()[0], 1), 1, 1, 1, self.numel(),
            Tensor()},
           out);
  return out;
}

}  // namespace sy::cuda

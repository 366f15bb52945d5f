#include <algorithm>
#include <map>
#include <string_view>

#include "backends/pjrt/lower.h"
#include "c10/process/error.h"

// Operators that XLA has: products, convolutions, concatenation.

namespace sy::pjrt {

namespace {

using graph::Call;
using Operands = std::vector<Ssa>;

// Half is multiplied in float, as eager kernels do.
ScalarType product_dtype(ScalarType t) {
  return t == kHalf || t == kBFloat16 ? kFloat : t;
}

// a, b: [batch...,] n x k, k x m.
Ssa product(Builder& b, const Ssa& x, const Ssa& y) {
  const size_t batch = x.sizes.size() - 2;
  const ScalarType to = product_dtype(x.dtype);
  const Ssa a = b.convert(x, to), c = b.convert(y, to);
  Ssa out{b.fresh(), to, a.sizes};
  out.sizes[batch + 1] = c.sizes[batch + 1];
  const std::string batches = batch == 0 ? "" : "batching_dims = [0] x [0], ";
  b.line(
      str("{} = stablehlo.dot_general {}, {}, {}contracting_dims = [{}] x "
          "[{}] : ({}, {}) -> {}",
          out.name, a.name, c.name, batches, batch + 1, batch, type_of(a),
          type_of(c), type_of(out)));
  return out;
}

Ssa mm(Builder& b, const Call&, const Operands& in) {
  return b.convert(product(b, in[0], in[1]), in[0].dtype);
}

// beta * self + alpha * product
Ssa add_product(Builder& b, const Call& c, const Operands& in) {
  Ssa out = product(b, in[1], in[2]);
  const auto beta = c.args[3].to_scalar().to<double>();
  const auto alpha = c.args[4].to_scalar().to<double>();
  if (alpha != 1) {
    out = b.binary("stablehlo.multiply", out, b.like(out, alpha));
  }
  if (beta != 0) {
    Ssa self = b.broadcast(b.convert(in[0], out.dtype), out.sizes);
    if (beta != 1) {
      self = b.binary("stablehlo.multiply", self, b.like(self, beta));
    }
    out = b.binary("stablehlo.add", out, self);
  }
  return b.convert(out, in[1].dtype);
}

// The number of each dim; one number is that of all.
std::vector<int64_t> ints(const Value& v, size_t dims) {
  const IntArrayRef list = v.to_int_list();
  if (list.size() == 1) return std::vector<int64_t>(dims, list[0]);
  return {list.begin(), list.end()};
}

// input, weight, bias?, stride, padding, dilation, transposed, output_padding,
// groups
Ssa convolution(Builder& b, const Call& c, const Operands& in) {
  const size_t dims = in[0].sizes.size() - 2;
  const std::vector<int64_t> stride = ints(c.args[3], dims);
  const std::vector<int64_t> pad = ints(c.args[4], dims);
  const std::vector<int64_t> dilation = ints(c.args[5], dims);
  const ScalarType to = product_dtype(in[0].dtype);
  const Ssa x = b.convert(in[0], to), w = b.convert(in[1], to);
  Ssa out{"", to, {x.sizes[0], w.sizes[0]}};
  std::string numbers, strides, pads, dilations;
  for (size_t d = 0; d < dims; ++d) {
    const int64_t reach = dilation[d] * (w.sizes[d + 2] - 1) + 1;
    out.sizes.push_back((x.sizes[d + 2] + 2 * pad[d] - reach) / stride[d] + 1);
    numbers += str(", {}", d);
    append(&strides, str("{}", stride[d]));
    append(&pads, str("[{}, {}]", pad[d], pad[d]));
    append(&dilations, str("{}", dilation[d]));
  }
  out.name = b.fresh();
  b.line(
      str("{} = stablehlo.convolution({}, {}) dim_numbers = [b, f{}]x[o, "
          "i{}]->[b, f{}], window = {{stride = [{}], pad = [{}], rhs_dilate = "
          "[{}]}} {{batch_group_count = 1 : i64, feature_group_count = {} : "
          "i64}} : ({}, {}) -> {}",
          out.name, x.name, w.name, numbers, numbers, numbers, strides, pads,
          dilations, c.args[8].to_int(), type_of(x), type_of(w), type_of(out)));
  if (in.size() == 3) {
    out = b.binary("stablehlo.add", out,
                   b.broadcast(b.convert(in[2], to), out.sizes, {1}));
  }
  return b.convert(out, in[0].dtype);
}

bool is_plain_convolution(const Call& c) {
  return !c.args[6].to_bool() && c.operands[0].layout.sizes.size() > 2;
}

Ssa concatenate(Builder& b, const Call& c, const Operands& in,
                ScalarType dtype) {
  Operands parts;
  size_t dims = 1;
  for (const Ssa& s : in) dims = std::max(dims, s.sizes.size());
  for (const Ssa& s : in) {
    const bool legacy = s.sizes.size() == 1 && s.sizes[0] == 0 && dims > 1;
    if (!legacy) parts.push_back(b.convert(s, dtype));
  }
  const int64_t dim = c.args[1].to_int();
  return b.concatenate(parts, dim < 0 ? dim + static_cast<int64_t>(dims) : dim);
}

// All elements are one number.
Ssa filled(Builder& b, const Call& c, const graph::Layout& result) {
  const Scalar s = c.args[0].to_scalar();
  const Sizes sizes(result.sizes.begin(), result.sizes.end());
  if (s.is_floating_point() && result.dtype == kBool) {
    return b.number(kBool, sizes, int64_t{s.to<double>() != 0});
  }
  return s.is_floating_point() ? b.number(result.dtype, sizes, s.to<double>())
                               : b.number(result.dtype, sizes, s.to<int64_t>());
}

bool has_elements(const Call& c) {
  return std::all_of(
      c.operands.begin(), c.operands.end(), [](const graph::Operand& o) {
        return std::find(o.layout.sizes.begin(), o.layout.sizes.end(), 0) ==
               o.layout.sizes.end();
      });
}

enum class Known : uint8_t {
  kNone,
  kProduct,
  kAddProduct,
  kConvolution,
  kCat,
  kFill
};

Known known(const Call& c) {
  static const std::map<std::string_view, Known> kOperators = {
      {"aten::mm", Known::kProduct},
      {"aten::bmm", Known::kProduct},
      {"aten::addmm", Known::kAddProduct},
      {"aten::baddbmm", Known::kAddProduct},
      {"aten::convolution", Known::kConvolution},
      {"aten::cat", Known::kCat},
      {"aten::fill_.Scalar", Known::kFill},
  };
  const auto at = kOperators.find(c.op->name());
  return at == kOperators.end() ? Known::kNone : at->second;
}

bool is_number(ScalarType t) {
  return is_floating_type(t) || is_integral_type(t, false);
}

}  // namespace

bool is_lowered_operator(const graph::Graph& graph, const Call& c) {
  const ScalarType dtype = graph.values()[size_t(c.first_result)].dtype;
  switch (known(c)) {
    case Known::kProduct: return is_number(dtype) && has_elements(c);
    case Known::kAddProduct: return is_floating_type(dtype) && has_elements(c);
    case Known::kConvolution:
      return is_floating_type(dtype) && has_elements(c) &&
             is_plain_convolution(c);
    case Known::kCat: return true;
    case Known::kFill: return c.operands.empty() && c.args.size() == 1;
    default: return false;
  }
}

Ssa lower_operator(Builder& b, const graph::Graph& graph, const Call& c,
                   const Operands& operands) {
  const graph::Layout& result = graph.values()[size_t(c.first_result)];
  switch (known(c)) {
    case Known::kProduct: return mm(b, c, operands);
    case Known::kAddProduct: return add_product(b, c, operands);
    case Known::kConvolution: return convolution(b, c, operands);
    case Known::kFill: return filled(b, c, result);
    default: return concatenate(b, c, operands, result.dtype);
  }
}

}  // namespace sy::pjrt

#include "aten/backend/view_inverse.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "aten/engine/dims.h"
#include "aten/ops/factory.h"
#include "aten/ops/scatter.h"
#include "c10/dispatcher.h"
#include "c10/schema/function_schema.h"

namespace sy {

namespace {

constexpr int64_t kNone = INT64_MIN;  // in a ViewMeta

// A view that was made: its operator, its base, and the value that it shall
// show.
struct Change {
  const OperatorEntry& op;
  const Tensor& base;
  const Tensor& value;
  const std::vector<Value>& args;  // without self
  int output;

  int64_t number(size_t i) const { return args[i].to_int(); }
  std::optional<int64_t> optional(size_t i) const {
    if (args[i].is_none()) return std::nullopt;
    return number(i);
  }
};

using Inverse = Tensor (*)(const Change&);

Tensor same_elements(const Change& c) {
  return c.value.reshape(c.base.sizes());
}

Tensor same(const Change& c) { return c.value; }

Tensor of_select(const Change& c) {
  return select_scatter(c.base, c.value, c.number(0), c.number(1));
}

Tensor of_slice(const Change& c) {
  return slice_scatter(c.base, c.value, c.number(0), c.optional(1),
                       c.optional(2), c.number(3));
}

Tensor of_diagonal(const Change& c) {
  return diagonal_scatter(c.base, c.value, c.number(0), c.number(1),
                          c.number(2));
}

Tensor of_transpose(const Change& c) {
  return c.value.transpose(c.number(0), c.number(1));
}

Tensor of_t(const Change& c) { return c.value.t(); }

Tensor of_permute(const Change& c) {
  const IntArrayRef dims = c.args[0].to_int_list();
  const auto n = static_cast<int64_t>(dims.size());
  Dims inverse;
  inverse.resize(n);
  for (int64_t d = 0; d < n; ++d) {
    inverse[wrap_dim("permute", dims[size_t(d)], n)] = d;
  }
  return c.value.permute(inverse);
}

Tensor of_unbind(const Change& c) {
  return select_scatter(c.base, c.value, c.number(0), c.output);
}

// The pieces of split that lie before one, in elements of the dim.
Tensor of_piece(const Change& c, int64_t dim, int64_t start) {
  const int64_t d = wrap_dim("split", dim, c.base.dim());
  return slice_scatter(c.base, c.value, dim, start, start + c.value.size(d), 1);
}

Tensor of_split(const Change& c) {
  return of_piece(c, c.number(1), c.output * c.number(0));
}

Tensor of_split_with_sizes(const Change& c) {
  int64_t start = 0;
  const IntArrayRef sizes = c.args[0].to_int_list();
  for (int i = 0; i < c.output; ++i) start += sizes[size_t(i)];
  return of_piece(c, c.number(1), start);
}

// Elements of the base that are seen many times have one value each.
Tensor of_expand(const Change& c) {
  Tensor v = c.value;
  const int64_t more = v.dim() - c.base.dim();
  for (int64_t d = 0; d < more; ++d) v = v.select(0, 0);
  for (int64_t d = 0; d < c.base.dim(); ++d) {
    if (v.size(d) != c.base.size(d)) v = v.slice(d, 0, 1);
  }
  return v;
}

Tensor of_as_strided(const Change& c) {
  const int64_t offset = c.optional(2).value_or(c.base.storage_offset());
  return as_strided_scatter(c.base, c.value, c.args[0].to_int_list(),
                            c.args[1].to_int_list(), offset);
}

struct Rule {
  std::string_view op;
  Inverse inverse;
};

constexpr Rule kRules[] = {
    {"aten::alias", same},
    {"aten::as_strided", of_as_strided},
    {"aten::detach", same},
    {"aten::diagonal", of_diagonal},
    {"aten::expand", of_expand},
    {"aten::permute", of_permute},
    {"aten::select.int", of_select},
    {"aten::slice.Tensor", of_slice},
    {"aten::split.Tensor", of_split},
    {"aten::split_with_sizes", of_split_with_sizes},
    {"aten::squeeze", same_elements},
    {"aten::squeeze.dim", same_elements},
    {"aten::squeeze.dims", same_elements},
    {"aten::t", of_t},
    {"aten::transpose.int", of_transpose},
    {"aten::unbind.int", of_unbind},
    {"aten::unsqueeze", same_elements},
    {"aten::view", same_elements},
};

const Rule* rule_of(const OperatorEntry& op) {
  const auto* const it =
      std::find_if(std::begin(kRules), std::end(kRules),
                   [&](const Rule& r) { return r.op == op.name(); });
  return it == std::end(kRules) ? nullptr : it;
}

// The position of the argument that the view shows.
size_t self_of(const OperatorEntry& op) {
  const auto arguments = op.schema().arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].type == TypeKind::kTensor) return i;
  }
  fail(ErrorKind::Value, "[{}] is no view of a tensor", op.name());
}

// A copy of the same strides, so that the view of it is made as that of base.
Tensor copy_of(const Tensor& base) {
  if (base.is_non_overlapping_and_dense()) return base.clone();
  Tensor out = empty_strided(base.sizes(), base.strides(), base.options());
  out.copy_(base);
  return out;
}

}  // namespace

std::vector<Value> view_arguments(const ViewMeta& meta) {
  const auto arguments = meta.op()->schema().arguments();
  std::vector<Value> out(arguments.size());
  const int64_t* p = meta.args();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type type = arguments[i].type;
    if (type.is_tensor_like()) continue;
    if (type.without_optional().is_list()) {
      const auto n = static_cast<size_t>(*p++);
      out[i] = Value(IntArrayRef(p, n));
      p += n;
    } else if (const int64_t v = *p++; v != kNone) {
      out[i] =
          type.without_optional() == TypeKind::kBool ? Value(v != 0) : Value(v);
    }
  }
  return out;
}

Tensor apply_view(const OperatorEntry& op, const Tensor& base,
                  std::vector<Value> args, int output) {
  args[self_of(op)] = Value(base);
  Value result;
  OperatorHandle(&op).call_boxed(args.data(), args.size(), &result, 1);
  if (result.is_tensor()) return Tensor(result.to_tensor());
  const ArrayRef<TensorBase> list = result.to_tensor_list();
  SY_CHECK(static_cast<size_t>(output) < list.size(), Value,
           "[{}] expected at least {} results, got {}", op.name(), output + 1,
           list.size());
  return Tensor(list[static_cast<size_t>(output)]);
}

Tensor view_inverse(const OperatorEntry& op, const Tensor& base,
                    const Tensor& value, std::vector<Value> args, int output) {
  if (const Rule* rule = rule_of(op)) {
    args.erase(args.begin() + static_cast<std::ptrdiff_t>(self_of(op)));
    return rule->inverse({op, base, value, args, output});
  }
  Tensor out = copy_of(base);
  apply_view(op, out, std::move(args), output).copy_(value);
  return out;
}

}  // namespace sy

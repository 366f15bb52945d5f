#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "aten/ops/factory.h"
#include "aten/ops/special.h"
#include "aten/tensor.h"
#include "autograd/gradcheck.h"
#include "c10/schema/function_schema.h"
#include "tools/sy/calls/words.h"

// Every operator of the library that has a derivative, against finite
// differences in float64: the first order by every element, the second in a
// random direction. A new operator is checked
// with the arguments that its signature suggests; where those do not do (other
// sizes, a domain, indices), it needs a line in kArguments.

namespace sy {
namespace {

struct Line {
  std::string_view op;  // several lines: all are checked
  std::string_view arguments;
};

// See tools/sy/calls/words.h for the notation.
constexpr Line kArguments[] = {
#include "test/autograd/operators_core.inc"
#include "test/autograd/operators_linalg.inc"
#include "test/autograd/operators_nn.inc"
};

// Operators checked to first order only, and why. The second order is an error.
constexpr Line kFirstOrder[] = {
    {"embedding_bag", "its derivative has none"},
    {"_embedding_bag", "its derivative has none"},
    {"scaled_dot_product_attention", "its derivative has none"},
    {"_scaled_dot_product_flash_attention_for_cpu", "its derivative has none"},
    {"multi_margin_loss", "its derivative has none"},
    {"multilabel_margin_loss", "its derivative has none"},
    {"multilabel_margin_loss_forward", "its derivative has none"},
    {"segment_reduce", "its derivative has none"},
};

// Operators that are not checked, and why.
constexpr Line kExceptions[] = {
    {"_not_implemented", "is an error"},
    {"special_zeta.other_scalar", "not implemented"},
    {"linalg_ldl_factor", "not differentiable, as in PyTorch"},
    {"_batch_norm_double_backward", "checked by native_batch_norm, twice"},
    {"linalg_cholesky_ex", "reads one triangle: linalg_test.cpp"},
    {"linalg_cholesky", "reads one triangle: linalg_test.cpp"},
    {"_linalg_eigh", "reads one triangle: linalg_test.cpp"},
    {"linalg_eigh", "reads one triangle: linalg_test.cpp"},
    {"linalg_eigvalsh", "reads one triangle: linalg_test.cpp"},
    {"linalg_matrix_sqrth", "reads one triangle: linalg_test.cpp"},
    {"_solve_sylvester", "reads one triangle: linalg_test.cpp"},
    {"_polar_backward", "reads one triangle: linalg_test.cpp"},
    {"_linalg_slogdet", "factors beside it: linalg_slogdet"},
    {"lu_unpack", "int32 pivots: linalg_lu"},
    {"linalg_lu_solve", "int32 pivots: linalg_test.cpp"},
    {"lu_solve", "int32 pivots: linalg_test.cpp"},
    {"_lu_factor_backward", "int32 pivots: linalg_lu_factor_ex"},
    {"_lu_solve_backward", "int32 pivots: linalg_test.cpp"},
    {"_solve_backward", "int32 pivots: linalg_solve"},
    {"_det_backward", "int32 pivots: linalg_det"},
    {"_slogdet_backward", "int32 pivots: linalg_slogdet"},
    {"linalg_matrix_rank", "counts"},
    {"linalg_matrix_rank.atol_rtol_float", "counts"},
    {"linalg_matrix_rank.atol_rtol_tensor", "counts"},
    {"linalg_matrix_rank.tol_tensor", "counts"},
    {"__and__", "integers only"},
    {"__iand__", "integers only"},
    {"__or__", "integers only"},
    {"__ior__", "integers only"},
    {"__xor__", "integers only"},
    {"__ixor__", "integers only"},
    {"__lshift__", "integers only"},
    {"__ilshift__", "integers only"},
    {"__rshift__", "integers only"},
    {"__irshift__", "integers only"},
    {"greater", "bool results"},
    {"greater_", "truth values"},
    {"greater_equal", "bool results"},
    {"greater_equal_", "truth values"},
    {"less", "bool results"},
    {"less_", "truth values"},
    {"less_equal", "bool results"},
    {"less_equal_", "truth values"},
    {"not_equal", "bool results"},
    {"not_equal_", "truth values"},
    {"_foreach_zero", "does not depend on its argument"},
    {"pin_memory", "needs a device that pins"},
    {"_pin_memory", "needs a device that pins"},
    {"ctc_loss", "of normalized numbers only: loss_sequence_test"},
    {"_ctc_loss", "of normalized numbers only: loss_sequence_test"},
    {"_ctc_loss_backward", "none"},
    {"histogramdd", "counts"},
    {"one_hot", "int64 results"},
    {"_cast_Byte", "another dtype"},
    {"_cast_Char", "another dtype"},
    {"_cast_Short", "another dtype"},
    {"_cast_Int", "another dtype"},
    {"_cast_Long", "another dtype"},
    {"_cast_Half", "another dtype"},
    {"_cast_Float", "another dtype"},
    {"_shape_as_tensor", "int64 results"},
    {"cholesky_inverse", "of a factor with both triangles, as in PyTorch"},
    {"all", "bool results"},
    {"_is_all_true", "bool results"},
    {"_is_any_true", "bool results"},
    {"isin", "bool results"},
    {"argsort", "int64 results"},
    {"argwhere", "int64 results"},
    {"bucketize", "int64 results"},
    {"count_nonzero", "int64 results"},
    {"nonzero_numpy", "int64 results"},
    {"where.", "int64 results"},
    {"gradient.scalarrayint", "the notation has no lists of numbers"},
    {"gradient.scalarrayarray", "the notation has no lists of numbers"},
    {"any", "bool results"},
    {"isclose", "bool results"},
    {"isreal", "bool results"},
    {"zero", "does not depend on its argument"},
    {"detach_", "without a history by intent"},
    {"detach_copy", "without a history by intent"},
    {"view_copy.dtype", "sees memory as other numbers"},
};

// Lines name overloads ("where." is the one without a name), or all overloads
// of a name.
template <size_t N>
bool lists(const Line (&lines)[N], const std::string& name) {
  return std::any_of(std::begin(lines), std::end(lines), [&](const Line& l) {
    return l.op == name || l.op == name + "." ||
           l.op == name.substr(0, name.find('.'));
  });
}

// "add.Tensor" of "aten::add.Tensor"; of add_.Tensor too if `functional`.
std::string short_name(OperatorHandle op, bool functional) {
  const OperatorName& n = op.schema().name();
  std::string name =
      functional ? n.functional_name() : std::string(n.name.view());
  if (!n.overload.empty()) name += "." + std::string(n.overload.view());
  return name;
}

// The lines of an operator, or of the one whose in-place form it is.
std::vector<std::string_view> lines_of(OperatorHandle op) {
  std::vector<std::string_view> found;
  for (const bool functional : {false, true}) {
    const std::string name = short_name(op, functional);
    for (const Line& l : kArguments) {
      if (l.op == name) found.push_back(l.arguments);
    }
    if (!found.empty()) return found;
  }
  if (tools::signature_suffices(op)) found.push_back("");
  return found;
}

bool gives_tensors(OperatorHandle op) {
  const auto returns = op.schema().returns();
  return std::any_of(returns.begin(), returns.end(),
                     [](const Return& r) { return r.type.is_tensor_like(); });
}

// Some operators do not draw with the arguments that a line gives.
bool draws(OperatorHandle op) {
  return op.entry().has_flag(OperatorDef::kRandom) &&
         !lists(kArguments, short_name(op, true));
}

std::vector<OperatorHandle> differentiable_operators() {
  std::vector<OperatorHandle> ops;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    if (gives_tensors(op) && op.name().starts_with("aten::") &&
        op.entry().has_flag(OperatorDef::kDifferentiable) &&
        !op.schema().is_out() && !draws(op) &&
        !lists(kExceptions, short_name(op, false))) {
      ops.push_back(op);
    }
  }
  return ops;
}

// In-place forms do not broadcast self, nor change its dtype; those of views
// change its sizes.
bool is_valid(OperatorHandle op, std::vector<Value> args) {
  if (!op.schema().is_inplace()) return true;
  const NoGradGuard guard;
  const OperatorName& n = op.schema().name();
  std::string name = "aten::" + n.functional_name();
  if (!n.overload.empty()) name += "." + std::string(n.overload.view());
  const auto functional = Dispatcher::singleton().find(name);
  if (!functional.has_value() ||
      !std::equal(functional->schema().arguments().begin(),
                  functional->schema().arguments().end(),
                  op.schema().arguments().begin(),
                  op.schema().arguments().end(),
                  [](const Argument& a, const Argument& b) {
                    return a.type == b.type;
                  }) ||
      functional->schema().returns()[0].alias) {
    return true;
  }
  Value result[1];
  functional->call_boxed(args.data(), args.size(), result, 1);
  return result[0].to_tensor().sizes() == args[0].to_tensor().sizes();
}

// Without a gradient there would be nothing to compare.
bool is_recorded(OperatorHandle op, std::vector<Value> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (op.schema().arguments()[i].is_write()) {
      args[i] = Value(TensorBase(Tensor(args[i].to_tensor()).clone()));
    }
  }
  std::vector<Value> results(op.schema().returns().size());
  op.call_boxed(args.data(), args.size(), results.data(), results.size());
  bool recorded = false;
  for (const Value& v : results) {
    for_each_tensor(
        v, [&](const TensorBase& t) { recorded |= Tensor(t).requires_grad(); });
  }
  return recorded;
}

void check(OperatorHandle op, std::string_view arguments) {
  const std::vector<Value> args = tools::parse_arguments(op, arguments);
  if (!is_valid(op, args)) return;
  EXPECT_TRUE(is_recorded(op, args));
  autograd::GradcheckOptions options;
  auto r = autograd::gradcheck_op(op, args.data(), args.size(), options);
  EXPECT_TRUE(r.ok()) << r.problem;
  if (!r.ok()) return;
  options.second_order = options.fast = true;
  if (lists(kFirstOrder, short_name(op, true))) {
    EXPECT_THROW(autograd::gradcheck_op(op, args.data(), args.size(), options),
                 NotImplementedError);
    return;
  }
  r = autograd::gradcheck_op(op, args.data(), args.size(), options);
  EXPECT_TRUE(r.ok()) << r.problem;
}

TEST(Operators, GradientsAreThoseOfFiniteDifferences) {
  const auto ops = differentiable_operators();
  EXPECT_GE(ops.size(), 50u);
  for (const OperatorHandle op : ops) {
    const auto lines = lines_of(op);
    EXPECT_FALSE(lines.empty())
        << op.name() << " needs a line of arguments in kArguments";
    for (const std::string_view arguments : lines) {
      SCOPED_TRACE(std::string(op.name()) + "(" + std::string(arguments) + ")");
      try {
        check(op, arguments);
      } catch (const Error& e) {
        ADD_FAILURE() << e.message();
      }
    }
  }
}

TEST(Operators, ADerivativeThatIsMissingIsAnErrorAndNotZero) {
  const Tensor a = sy::ones({3}).requires_grad_();
  const Tensor x = sy::ones({3}).requires_grad_();
  try {
    sy::igamma(a, x).sum().backward();
    ADD_FAILURE() << "no error";
  } catch (const NotImplementedError& e) {
    EXPECT_NE(std::string(e.what()).find("[igamma] self: the derivative"),
              std::string::npos)
        << e.what();
  }
  sy::igamma(a.detach(), x).sum().backward();
  EXPECT_TRUE(x.grad().defined());
}

TEST(Operators, AsManyNumbersAsTheTensorHas) {
  const auto op = Dispatcher::singleton().find("aten::relu");
  EXPECT_THROW(tools::parse_arguments(*op, "3=1,2"), ValueError);
  EXPECT_EQ(tools::parse_arguments(*op, "2=1,2").size(), 1u);
}

// A line whose operator is gone or was renamed checks nothing.
TEST(Operators, EveryLineIsOfAnOperator) {
  std::vector<std::string> names;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    names.push_back(short_name(op, false));
  }
  for (const Line& l : kArguments) {
    EXPECT_NE(std::find(names.begin(), names.end(), l.op), names.end()) << l.op;
  }
}

}  // namespace
}  // namespace sy

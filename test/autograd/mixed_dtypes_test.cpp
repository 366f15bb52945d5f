#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "aten/print.h"
#include "aten/tensor.h"
#include "autograd/api.h"
#include "c10/schema/function_schema.h"
#include "tools/sy/calls/words.h"

// Integers and truth values beside tensors that want gradients: these are what
// they are beside the same numbers as float64, twice.

namespace sy {
namespace {

struct Gradients {
  std::vector<Tensor> first, second;
  std::string error;
  bool refused = false;  // the call itself, or without a gradient
};

Gradients gradients(OperatorHandle op, std::vector<Value> args) {
  Gradients out;
  std::vector<Tensor> leaves, roots;
  for (Value& v : args) {
    if (!v.is_tensor() || !Tensor(v.to_tensor()).requires_grad()) continue;
    leaves.push_back(Tensor(v.to_tensor()).detach().clone().requires_grad_());
    v = Value(TensorBase(leaves.back()));
  }
  std::vector<Value> results(op.schema().returns().size());
  try {
    op.call_boxed(args.data(), args.size(), results.data(), results.size());
    for (const Value& v : results) {
      if (v.is_tensor() && Tensor(v.to_tensor()).requires_grad()) {
        roots.push_back(Tensor(v.to_tensor()).sum());
      }
    }
  } catch (const Error&) {
  }
  out.refused = roots.empty() || leaves.empty();
  if (out.refused) return out;
  const auto derive = [&](const std::vector<Tensor>& of) {
    return autograd::grad(of, leaves, {}, true, true, true);
  };
  try {
    out.first = derive(roots);
    roots.clear();
    for (const Tensor& g : out.first) {
      if (g.defined() && g.requires_grad()) roots.push_back(g.sum());
    }
    if (!roots.empty()) out.second = derive(roots);
  } catch (const NotImplementedError&) {
    out.refused = true;
  } catch (const Error& e) {
    out.error = e.what();
  }
  return out;
}

void expect_same(const std::vector<Tensor>& got,
                 const std::vector<Tensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (!got[i].defined() || !want[i].defined()) continue;
    EXPECT_TRUE(got[i].allclose(want[i], 1e-6, 1e-6, true))
        << got[i] << want[i];
  }
}

// With arguments k and l of another dtype. How often that could be compared.
int check(OperatorHandle op, const std::vector<Value>& args, size_t k,
          size_t l) {
  int checked = 0;
  for (const ScalarType dtype : {kLong, kBool}) {
    SCOPED_TRACE(str("{}, arguments {} and {} of {}", op.name(), k, l, dtype));
    std::vector<Value> mixed = args, wide = args;
    for (const size_t i : {k, l}) {
      const Tensor numbers =
          Tensor(args[i].to_tensor()).detach().ceil().to(dtype);
      mixed[i] = Value(TensorBase(numbers));
      wide[i] = Value(TensorBase(numbers.to(kDouble)));
    }
    const Gradients want = gradients(op, wide);
    if (want.refused || !want.error.empty()) continue;
    const Gradients got = gradients(op, mixed);
    if (got.refused) continue;
    EXPECT_EQ(got.error, "");
    if (!got.error.empty()) continue;
    expect_same(got.first, want.first);
    expect_same(got.second, want.second);
    ++checked;
  }
  return checked;
}

TEST(MixedDtypes, GradientsAreThoseBesideFloatingNumbers) {
  int checked = 0;
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    if (!op.name().starts_with("aten::") || op.schema().is_out() ||
        op.schema().is_inplace() ||
        !op.entry().has_flag(OperatorDef::kDifferentiable) ||
        op.entry().has_flag(OperatorDef::kRandom) ||
        // Its only caller asks for floating probabilities.
        op.name() == "aten::_binary_cross_entropy" ||
        !tools::signature_suffices(op)) {
      continue;
    }
    const std::vector<Value> args = tools::parse_arguments(op, "");
    std::vector<size_t> tensors;
    for (size_t k = 0; k < args.size(); ++k) {
      if (!args[k].is_tensor() || !args[k].to_tensor().defined()) continue;
      tensors.push_back(k);
      for (const size_t l : tensors) checked += check(op, args, k, l);
    }
  }
  EXPECT_GE(checked, 100);
}

}  // namespace
}  // namespace sy

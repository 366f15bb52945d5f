#include <sy/sy.h>

#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "c10/schema/function_schema.h"
#include "kinds.h"
#include "runtime/load_schema.h"

// Calls one operator of each kind, as it was compiled and as load_schema makes
// it of the same file. Usage: kinds YAML-OF-NAMESPACE-loaded

namespace {

using sy::Tensor;
using sy::TensorBase;
using sy::Value;
using Tensors = std::vector<Tensor>;

int failed = 0;

void check(const std::string& what, bool good) {
  std::cout << (good ? "PASS " : "FAIL ") << what << "\n";
  failed += good ? 0 : 1;
}

// The results of an operator by its name, lists laid out one after another.
Tensors call(const std::string& name, std::vector<Value> args) {
  const sy::OperatorHandle op = sy::Dispatcher::singleton().find_or_throw(name);
  std::vector<Value> out(op.schema().returns().size());
  op.call_boxed(args.data(), args.size(), out.data(), out.size());
  Tensors all;
  for (const Value& v : out) {
    if (v.is_tensor()) {
      all.emplace_back(v.to_tensor());
    } else {
      for (const TensorBase& t : v.to_tensor_list()) all.emplace_back(t);
    }
  }
  return all;
}

Value list(const Tensors& tensors) {
  const std::vector<TensorBase> bases(tensors.begin(), tensors.end());
  return Value::tensor_list(bases.data(), bases.size());
}

bool same(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].scalar_type() != b[i].scalar_type() ||
        a[i].sizes() != b[i].sizes() ||
        !sy::allclose(a[i].to(sy::kDouble), b[i].to(sy::kDouble), 1e-5, 1e-6)) {
      return false;
    }
  }
  return true;
}

// The gradients of the sum of what `f` gives.
Tensors slopes(const Tensors& leaves, const std::function<Tensors()>& f) {
  for (const Tensor& t : leaves) {
    t.requires_grad_();
    t.mutable_grad() = Tensor();
  }
  Tensor sum;
  for (const Tensor& t : f()) {
    if (!t.requires_grad()) continue;
    sum = sum.defined() ? sum + (t * t).sum() : (t * t).sum();
  }
  sum.backward();
  Tensors out;
  for (const Tensor& t : leaves) {
    out.push_back(t.grad());
    t.requires_grad_(false);
  }
  return out;
}

}  // namespace

int main(int, char** argv) {
  sy::load_schema(argv[1]).keep();
  sy::manual_seed(1);
  const Tensor x = sy::randn({4, 5}), y = sy::randn({3});
  const sy::Scalar by[] = {2, 0.5};
  const Value numbers{sy::ArrayRef<sy::Scalar>(by, 2)};
  const auto mish = [](const Tensor& t) { return t * t.exp().log1p().tanh(); };
  const auto boxed = [](const Tensor& t) { return Value(TensorBase(t)); };
  struct Case {
    std::string name;
    std::vector<Value> args;
    std::function<Tensors()> expected;
  };
  const Case cases[] = {
      {"mish2", {boxed(x)}, [&] { return Tensors{mish(x)}; }},
      {"spread",
       {boxed(x), Value(sy::IntArrayRef({1})), Value(false)},
       [&] { return Tensors{x.var({1}, /*unbiased=*/false)}; }},
      {"running", {boxed(x), Value(1)}, [&] { return Tensors{x.cumprod(1)}; }},
      {"highest",
       {boxed(x), Value(0)},
       [&] {
         const auto [values, indices] = x.cummax(0);
         return Tensors{values, indices};
       }},
      {"center",
       {boxed(x), Value(1)},
       [&] {
         const Tensor m = x.mean({1}, true);
         return Tensors{x - m, m};
       }},
      {"mish_each",
       {list({x, y})},
       [&] {
         return Tensors{mish(x), mish(y)};
       }},
      {"scale_each",
       {list({x, y}), numbers},
       [&] {
         return Tensors{x * 2, y * 0.5};
       }},
      {"every_other",
       {boxed(x), Value(1)},
       [&] { return Tensors{x.slice(1, 0, 5, 2)}; }},
  };
  for (const Case& c : cases) {
    for (const std::string ns : {"kinds::", "loaded::"}) {
      const auto run = [&] { return call(ns + c.name, c.args); };
      check(ns + c.name, same(run(), c.expected()));
      if (c.name == "spread" || c.name == "highest") continue;
      const Tensors leaves =
          c.name.ends_with("_each") ? Tensors{x, y} : Tensors{x};
      check(ns + c.name + ": gradients",
            same(slopes(leaves, run), slopes(leaves, c.expected)));
    }
  }
  // The operators as C++ functions, with the forms that are derived.
  check("the function of a scan",
        same({sy::kinds::running(x, 0)}, {x.cumprod(0)}));
  Tensor out = sy::empty({0});
  sy::kinds::running_out(out, x, 0);
  check("its out= form", same({out}, {x.cumprod(0)}));
  check("the function of a list",
        same(sy::kinds::mish_each({x, y}), {mish(x), mish(y)}));
  for (const std::string ns : {"kinds::", "loaded::"}) {
    const Tensors written = {x.clone(), y.clone()};
    call(ns + "mish_each_", {list(written)});
    check(ns + "mish_each_, in place", same(written, {mish(x), mish(y)}));
    const Tensors outs = {sy::empty({0}), sy::empty({0})};
    call(ns + "mish_each.out", {list({x, y}), list(outs)});
    check(ns + "mish_each.out", same(outs, {mish(x), mish(y)}));
    Tensor running = sy::empty({0});
    call(ns + "running.out", {boxed(x), Value(0), boxed(running)});
    check(ns + "running.out", same({running}, {x.cumprod(0)}));
  }
  return failed == 0 ? 0 : 1;
}

#include <sy/sy.h>

#include <algorithm>
#include <cstdio>

#include "autograd/api.h"
#include "c10/schema/function_schema.h"
#include "test/runtime/moved_families.h"
#include "tools/sy/calls/examples.h"
#include "tools/sy/calls/words.h"

// The library's own operators, loaded once more under other namespaces, do what
// the compiled ones do: results, written arguments, gradients of two orders,
// the operator that an error names; and on the meta device, where nothing is
// computed, sizes, dtypes and strides. Arguments vary with the signature and
// the examples of the schemas, and on the meta device with the memory format.
// Tensors are dense, and the CPU's kernels under `dispatch:` are the compiled
// ones.

namespace sy::test {
namespace {

// Where the arguments of a call are.
enum class Where { kCpu, kMeta, kMetaChannelsLast };

Tensor copied(const Tensor& t, Where where) {
  if (where == Where::kCpu) return t.clone();
  const bool channels_last = where == Where::kMetaChannelsLast && t.dim() == 4;
  return t.to(Device("meta"))
      .clone(channels_last ? MemoryFormat::ChannelsLast
                           : MemoryFormat::Preserve);
}

// Copies, so that both sides start from the same; leaves require gradients.
std::vector<Value> copied(const std::vector<Value>& args,
                          const FunctionSchema& schema, Where where,
                          std::vector<Tensor>* leaves) {
  std::vector<Value> out;
  for (size_t i = 0; i < args.size(); ++i) {
    const Argument& a = schema.arguments()[i];
    const auto copy = [&](const TensorBase& t) -> TensorBase {
      if (!t.defined()) return {};
      const bool wanted = as_tensor(Value(t)).requires_grad();
      Tensor c = copied(as_tensor(Value(t)).detach(), where);
      if (!wanted || schema.is_out()) return c;
      c.requires_grad_();
      leaves->push_back(c);
      return a.is_write() ? TensorBase(c.mul(1)) : TensorBase(c);
    };
    if (args[i].is_tensor()) {
      out.emplace_back(copy(args[i].to_tensor()));
    } else if (args[i].tag() == Value::Tag::TensorList) {
      std::vector<TensorBase> list;
      for (const TensorBase& t : args[i].to_tensor_list()) {
        list.push_back(copy(t));
      }
      out.push_back(Value::tensor_list(list.data(), list.size()));
    } else {
      out.push_back(args[i]);
    }
  }
  return out;
}

// All that a call gives: results, written arguments, gradients of two orders.
struct Trial {
  std::vector<Tensor> tensors;
  std::string error;
};

void append(std::vector<Tensor>* out, const Value& v) {
  if (v.is_tensor()) out->push_back(as_tensor(v));
  if (v.tag() == Value::Tag::TensorList) {
    for (const TensorBase& t : v.to_tensor_list()) out->emplace_back(t);
  }
}

Tensor sum_of(const std::vector<Tensor>& list, bool cubes) {
  Tensor total = zeros({}, kDouble);
  for (const Tensor& t : list) {
    if (!t.defined() || !t.requires_grad()) continue;
    const Tensor part = (cubes ? t.mul(t).mul(t) : t.mul(t)).sum();
    total = part.add(total.to(part.device()));
  }
  return total;
}

Trial run(OperatorHandle op, const std::vector<Value>& args,
          Where where = Where::kCpu) {
  const std::string ns(op.name().substr(0, op.name().find("::") + 2));
  Trial out;
  std::vector<Tensor> leaves;
  try {
    std::vector<Value> own = copied(args, op.schema(), where, &leaves);
    std::vector<Value> results(op.schema().returns().size());
    op.call_boxed(own.data(), own.size(), results.data(), results.size());
    for (const Value& v : results) append(&out.tensors, v);
    const Tensor loss = sum_of(out.tensors, false);
    if (!loss.requires_grad()) return out;
    const auto first = autograd::grad({loss}, leaves, {}, true, true, true);
    out.tensors.insert(out.tensors.end(), first.begin(), first.end());
    const Tensor again = sum_of(first, true);
    if (!again.requires_grad()) return out;
    for (Tensor& t : autograd::grad({again}, leaves, {}, {}, false, true)) {
      out.tensors.push_back(std::move(t));
    }
  } catch (const std::exception& e) {
    out.error = replaced(replaced(e.what(), ns, ""), "aten::", "");
  }
  return out;
}

bool close(const Tensor& a, const Tensor& b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined()) return true;
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes() ||
      a.strides() != b.strides()) {
    return false;
  }
  if (a.device() != b.device()) return false;
  if (a.device().type() == DeviceType::Meta) return true;
  const Tensor x = a.detach().to(kDouble), y = b.detach().to(kDouble);
  if (x.numel() == 0) return true;
  const Tensor off = x.sub(y).abs().gt(x.abs().add(1).mul(1e-12));
  const Tensor nan = x.ne(x).ne(y.ne(y));
  return !off.any().item<bool>() && !nan.any().item<bool>();
}

// Arguments of many signatures; where they do not fit, errors are compared.
constexpr const char* kArguments[] = {
    "",
    "2x3 0",
    "2x3 1 2",
    "3x3",
    "2x3 2x3",
    "2x3 3 2",
    "s s",
    "2x3 s 0.5",
    "2x3 2x3 2x3",
    "2x3 0.4 0.8",
    "2x3:b 2x3:b",
    "2x3 -1 True",
    "{2x3;2x3} 0",
    "2x3 0,1",
    "4:i5 4:i5",
    "2x3x2 2 0 1",
};

// Whether nobody sets the elements of the results.
bool is_unset(const std::string& name) {
  return name.starts_with("empty") || name.starts_with("new_empty");
}

// The operator that `name` is a form of.
std::string base_of(const std::string& name, OperatorHandle op) {
  const FunctionalForm* form = op.entry().functional();
  if (form == nullptr) return name;
  const std::string base = form->op;
  return base.substr(base.find("::") + 2);
}

std::vector<std::string> texts_of(const tools::ExampleWords& examples,
                                  const std::string& base) {
  std::vector<std::string> out(std::begin(kArguments), std::end(kArguments));
  const auto example = examples.find(base);
  if (example != examples.end()) out.push_back(example->second);
  return out;
}

void expect_same(const std::string& call, const Trial& a, const Trial& b) {
  // C++ chooses which of several wrong arguments is named.
  EXPECT_EQ(a.error.substr(0, a.error.find(']')),
            b.error.substr(0, b.error.find(']')))
      << call << ": " << a.error << "\n"
      << b.error;
  ASSERT_EQ(a.tensors.size(), b.tensors.size()) << call;
  for (size_t i = 0; i < std::min(a.tensors.size(), b.tensors.size()); ++i) {
    EXPECT_TRUE(close(a.tensors[i], b.tensors[i]))
        << call << " tensor " << i << "\n"
        << a.tensors[i] << "\n"
        << b.tensors[i];
  }
}

// Calls each operator that both sides can run, with each text that fits it.
template <typename F>
void each_call(const F& f) {
  const tools::ExampleWords examples = tools::read_examples({});
  const MovedFamilies& families = MovedFamilies::get();
  int calls = 0, operators = 0;
  for (const auto& [name, op] : families.operators) {
    if (op.entry().has_flag(OperatorDef::kRandom) || is_unset(name)) continue;
    const OperatorHandle twin = find("aten::" + name);
    const int before = calls;
    for (const std::string& text : texts_of(examples, base_of(name, op))) {
      std::vector<Value> args;
      try {
        args = tools::parse_arguments(op, text);
      } catch (const Error&) {
        continue;  // not of this signature
      }
      ++calls;
      f(name + "(" + text + ")", twin, op, args);
    }
    operators += calls > before;
  }
  std::printf("%d operators of %zu compared by %d calls\n", operators,
              families.operators.size(), calls);
  EXPECT_GT(operators, 2000);
}

TEST(Families, HaveTheFlagsOfTheCompiledOperators) {
  const MovedFamilies& families = MovedFamilies::get();
  for (const auto& [name, op] : families.operators) {
    const OperatorHandle twin = find("aten::" + name);
    // The text without `dispatch:` does not say that parts are recorded.
    const int unknown = families.composed.contains(base_of(name, op))
                            ? OperatorDef::kDifferentiable
                            : 0;
    EXPECT_EQ(op.entry().flags() | unknown, twin.entry().flags() | unknown)
        << name;
  }
}

TEST(Families, DoWhatTheCompiledOperatorsDo) {
  each_call([](const std::string& call, OperatorHandle twin, OperatorHandle op,
               const std::vector<Value>& args) {
    expect_same(call, run(twin, args), run(op, args));
  });
}

TEST(Families, HaveTheLayoutOfTheCompiledOperatorsOnMeta) {
  each_call([](const std::string& call, OperatorHandle twin, OperatorHandle op,
               const std::vector<Value>& args) {
    for (const Where where : {Where::kMeta, Where::kMetaChannelsLast}) {
      // A loaded operator leaves the layout of `out` alone, a compiled one
      // changes it where it has the right sizes already.
      if (where == Where::kMetaChannelsLast && op.schema().is_out()) continue;
      expect_same(call, run(twin, args, where), run(op, args, where));
    }
  });
}

}  // namespace
}  // namespace sy::test

#include <gtest/gtest.h>
#include <sy/export.h>
#include <sy/nn.h>
#include <sy/sy.h>

#include <filesystem>
#include <functional>
#include <optional>

#include "aten/backend/node.h"
#include "c10/dispatch/default_argument.h"
#include "c10/schema/function_schema.h"
#include "test/frontend/export/exported.h"

// A program may compute an operator of elements in the memory of its first
// argument. Each such operator is exported behind one that makes the argument,
// and compared with a call by itself: values, dtype, sizes and strides of all
// results, and the inputs. Two runs, so that what a first run spoils is seen.
// Varied: how the first argument lies, who else holds its memory, and dtype,
// sizes and strides of the other ones. Never varied: arguments that are
// neither tensors nor numbers, and gradients but in one test.

namespace sy::test {
namespace {

using Tensors = std::vector<Tensor>;
using Body = std::function<Tensors(const Tensors&)>;

// An operator with all arguments but tensors at their defaults; numbers that
// have none are 0.5.
class Operator {
 public:
  static std::optional<Operator> of(OperatorHandle handle) {
    const NodeDesc* const node = node_desc(handle.entry());
    const auto arguments = handle.schema().arguments();
    const auto returns = handle.schema().returns();
    if (node == nullptr || node->pointwise == nullptr || arguments.empty() ||
        handle.schema().is_mutable() || returns.size() != 1 ||
        returns[0].type != Type(TypeKind::kTensor) ||
        arguments[0].type != Type(TypeKind::kTensor)) {
      return std::nullopt;
    }
    Operator out(handle);
    for (size_t i = 1; i < arguments.size(); ++i) {
      const Argument& a = arguments[i];
      const TypeKind kind = a.type.without_optional().kind();
      if (kind == TypeKind::kTensor) {
        out.places_.push_back(i);
      } else if (kind == TypeKind::kScalar && !has_number(a)) {
        out.fixed_[i] = Value(Scalar(0.5));
      } else if (a.default_value || a.type.is_optional()) {
        out.fixed_[i] = default_value(a.default_value, a.type);
      } else {
        return std::nullopt;
      }
    }
    return out;
  }

  std::string name() const { return std::string(handle_.name()); }
  size_t num_others() const { return places_.size(); }

  Tensor operator()(const Tensor& self, const Tensors& others) const {
    std::vector<Value> args = fixed_;
    args[0] = Value(TensorBase(self));
    for (size_t i = 0; i < places_.size(); ++i) {
      args[places_[i]] = Value(TensorBase(others.at(i)));
    }
    Value result;
    handle_.call_boxed(args.data(), args.size(), &result, 1);
    return Tensor(result.to_tensor());
  }

 private:
  explicit Operator(OperatorHandle handle)
      : handle_(handle), fixed_(handle.schema().arguments().size()) {}

  static bool has_number(const Argument& a) {
    return a.default_value && !default_value(a.default_value, a.type).is_none();
  }

  OperatorHandle handle_;
  std::vector<Value> fixed_;
  std::vector<size_t> places_;  // of the other tensors
};

std::vector<Operator> operators() {
  std::vector<Operator> out;
  for (const OperatorHandle& handle : Dispatcher::singleton().operators()) {
    if (!handle.name().starts_with("aten::")) continue;
    if (auto op = Operator::of(handle)) out.push_back(std::move(*op));
  }
  return out;
}

struct Case {
  const char* name;
  Tensors inputs;  // the first one, and those that others are made of
  Body body;
};

Tensor range(std::vector<int64_t> sizes, double from = 0.1) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return linspace(from, 0.9, n).reshape(sizes);
}

Tensor in_other_order(std::vector<int64_t> sizes) {
  return range({sizes[1], sizes[0]}).t();
}

// Others that are alike to `self`.
Tensors alike(const Operator& op, const Tensor& self) {
  Tensors out;
  for (size_t i = 0; i < op.num_others(); ++i) {
    out.push_back(self.mul(0.5 + 0.25 * static_cast<double>(i)));
  }
  return out;
}

// The first argument, and its memory, varied. The inputs: x, then the others.
std::vector<Case> cases_of_self(const Operator& op) {
  std::vector<Case> out;
  const auto others = [](const Tensors& in) {
    return Tensors(in.begin() + 1, in.end());
  };
  const auto add = [&](const char* name, const Tensor& x, const Body& body,
                       const Tensor& like) {
    Tensors inputs = {x};
    for (const Tensor& t : alike(op, like)) inputs.push_back(t);
    out.push_back({name, inputs, body});
  };
  const Tensor x = range({3, 4});
  const auto of = [&](const auto& f) -> Body {
    return [op, f, others](const Tensors& in) {
      return f(in[0], [&](const Tensor& self) { return op(self, others(in)); });
    };
  };
  const auto plain =
      of([](const Tensor& in, const auto& f) { return Tensors{f(in.neg())}; });
  add("alike", x, plain, x);
  add("positive", x,
      of([](const Tensor& in, const auto& f) { return Tensors{f(in.sqrt())}; }),
      x);
  const Tensor integers = arange(12).reshape({3, 4});
  {
    Tensors inputs = {integers};
    for (size_t i = 0; i < op.num_others(); ++i) inputs.push_back(integers + 1);
    out.push_back({"all integers", inputs, plain});
  }
  add("no dims", range({}), plain, range({}));
  add("no elements", zeros({0, 4}), plain, zeros({0, 4}));
  const Tensor turned = in_other_order({3, 4});
  add("all in another order", turned, plain, turned);
  add("the value is returned too", x, of([](const Tensor& in, const auto& f) {
        const Tensor v = in.neg();
        return Tensors{f(v), v};
      }),
      x);
  add("the value is read later", x, of([](const Tensor& in, const auto& f) {
        const Tensor v = in.neg(), y = f(v);
        return Tensors{y, v + 1};
      }),
      x);
  add("a view is returned too", x, of([](const Tensor& in, const auto& f) {
        const Tensor v = in.neg(), view = v.select(0, 1);
        return Tensors{f(v), view};
      }),
      x);
  add("a view of what ended", x, of([](const Tensor& in, const auto& f) {
        return Tensors{f(in.neg().t())};
      }),
      in_other_order({4, 3}));
  add("every second element", range({6, 4}),
      of([](const Tensor& in, const auto& f) {
        return Tensors{f(in.neg().slice(0, 0, 6, 2))};
      }),
      x);
  add("expanded", range({3, 1}), of([](const Tensor& in, const auto& f) {
        return Tensors{f(in.neg().expand({3, 4}))};
      }),
      x);
  add("an input", x,
      of([](const Tensor& in, const auto& f) { return Tensors{f(in)}; }), x);
  add("a view of an input", x,
      of([](const Tensor& in, const auto& f) { return Tensors{f(in.t())}; }),
      in_other_order({4, 3}));
  if (op.num_others() > 0) {
    out.push_back({"one value as all arguments", {x}, [op](const Tensors& in) {
                     const Tensor v = in[0].neg();
                     return Tensors{op(v, Tensors(op.num_others(), v))};
                   }});
  }
  return out;
}

// All others alike, and not as the first argument, of 3 x 4 elements.
std::vector<Case> cases_of_others(const Operator& op) {
  std::vector<Case> out;
  if (op.num_others() == 0) return out;
  const auto add = [&](const char* name, const Tensor& other,
                       const Tensor& x = range({3, 4})) {
    Tensors inputs(1 + op.num_others(), other);
    inputs[0] = x;
    out.push_back({name, inputs, [op](const Tensors& in) {
                     return Tensors{
                         op(in[0].neg(), Tensors(in.begin() + 1, in.end()))};
                   }});
  };
  const Tensor x = range({3, 4});
  add("smaller", range({4}));
  add("larger", range({2, 3, 4}));
  add("a larger dim", x, range({1, 4}));
  add("numbers", range({}));
  add("float64 numbers", range({}).to(kDouble));
  add("float64", x.to(kDouble));
  add("integers", arange(12).reshape({3, 4}) + 1);
  add("another order", in_other_order({3, 4}));
  add("smaller, beside another order", range({4}), in_other_order({3, 4}));
  return out;
}

void expect_equal(const Tensor& got, const Tensor& expected,
                  const std::string& what) {
  ASSERT_EQ(got.scalar_type(), expected.scalar_type()) << what;
  ASSERT_EQ(got.sizes(), expected.sizes()) << what;
  EXPECT_EQ(got.strides(), expected.strides()) << what;
  const Tensor both_nan = got.ne(got)
                              .logical_and(expected.ne(expected))
                              .logical_or(got.eq(expected));
  EXPECT_TRUE(both_nan.all().item<bool>()) << what;
}

void expect_equal(const Tensors& got, const Tensors& expected,
                  const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    expect_equal(got[i], expected[i], str("{}, {}", what, i));
  }
}

std::vector<ArchiveValue> values_of(const Tensors& tensors) {
  return {tensors.begin(), tensors.end()};
}

Program exported(const Body& body, const Tensors& inputs) {
  const std::string path = exported_path("in_place");
  exporting::export_module(*nn::Identity().get(),
                           [&](const std::vector<ArchiveValue>& in) {
                             return ArchiveValue::tuple(values_of(
                                 body(ArchiveValue::list(in).tensors())));
                           },
                           values_of(inputs), path, {});
  Program program = load_program(path);
  std::filesystem::remove(path);
  return program;
}

// False if the operator does not take such arguments, or has no name in PyTorch
// by which it could be exported.
bool check(const std::string& name, const Case& c) {
  Tensors expected;
  try {
    expected = c.body(c.inputs);
  } catch (const Error&) {
    return false;
  }
  Tensors before;
  for (const Tensor& t : c.inputs) before.push_back(t.clone());
  Program program(nullptr);
  try {
    program = exported(c.body, c.inputs);
  } catch (const ValueError& e) {
    const bool refused =
        e.message().find("is no operator of") != e.message().npos;
    EXPECT_TRUE(refused) << name << ", " << c.name << ": " << e.message();
    return false;
  }
  for (int run = 0; run < 2; ++run) {
    const std::string what = str("{}, {}, run {}", name, c.name, run);
    expect_equal(program->tensors(values_of(c.inputs)), expected, what);
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_TRUE(c.inputs[i].equal(before[i])) << what << ", input " << i;
    }
  }
  return true;
}

TEST(InPlace, EqualsTheOperatorByItself) {
  const NoGradGuard no_grad;
  size_t tried = 0, calls = 0, refused = 0;
  std::string not_tried;
  for (const Operator& op : operators()) {
    size_t of_this = 0;
    for (const auto& cases : {cases_of_self(op), cases_of_others(op)}) {
      for (const Case& c : cases) {
        (check(op.name(), c) ? of_this : refused) += 1;
      }
    }
    calls += of_this;
    tried += of_this > 0;
    if (of_this == 0) not_tried += " " + op.name();
  }
  std::cout << tried << " operators in " << calls << " programs; " << refused
            << " calls that an operator refuses; not tried:"
            << (not_tried.empty() ? " none" : not_tried) << "\n";
  EXPECT_GT(tried, 150u);
}

// Whether the result of the operator lies where its argument did.
bool is_in_place(const Operator& op) {
  const Tensor x = range({8, 8});
  const Program program = exported(
      [&](const Tensors& in) {
        return Tensors{op(in[0].neg(), Tensors(in.begin() + 1, in.end()))};
      },
      Tensors(1 + op.num_others(), x));
  return program->peak_bytes(values_of(Tensors(1 + op.num_others(), x))) ==
         static_cast<int64_t>(x.nbytes());
}

TEST(InPlace, IsUsed) {
  const NoGradGuard no_grad;
  const auto named = [](const char* name) {
    return *Operator::of(*Dispatcher::singleton().find(name));
  };
  for (const char* const name :
       {"aten::relu", "aten::gelu", "aten::silu", "aten::add.Tensor",
        "aten::mul.Tensor", "aten::mul.Scalar", "aten::sqrt", "aten::clamp",
        "aten::tanh"}) {
    EXPECT_TRUE(is_in_place(named(name))) << name;
  }
  for (const char* const name : {"aten::lt.Tensor", "aten::isnan",
                                 "aten::eq.Scalar", "aten::logical_not"}) {
    EXPECT_FALSE(is_in_place(named(name))) << name;
  }
}

class SaveForBackwardImpl : public nn::Module {
 public:
  Tensor forward(const Tensor& x) { return (x * weight).neg().exp().tanh(); }
  Tensor weight = register_parameter("weight", range({3, 4}));
};
SY_MODULE(SaveForBackward);

TEST(InPlace, NotWhereGradientsAreRecorded) {
  check_exported<SaveForBackward>(
      "saved", SaveForBackward(),
      std::vector<std::tuple<Tensor>>{{range({3, 4})}, {range({3, 4}, -0.5)}});
}

}  // namespace
}  // namespace sy::test

#include <sy/sy.h>

#include "autograd/api.h"
#include "autograd/saved_tensor.h"
#include "c10/plugin/library.h"
#include "test/runtime/twins.h"

// What recorded calls keep of their arguments, one test for each kind of
// model::Saved that holds tensors: compiled and loaded operators alike notice
// an argument that is overwritten before backward, or do not need its elements.

namespace sy::test {
namespace {

Tensor keep_maybe(const Tensor& self, const std::optional<Tensor>& other) {
  return other ? self.mul(*other) : self.clone();
}
Tensor keep_list(const Tensor& self, TensorList others) {
  return self.mul(others[0]);
}
Tensor keep_indices(const Tensor& self,
                    ArrayRef<std::optional<Tensor>> indices) {
  return self.index(indices);
}
Tensor keep_sizes(TensorList tensors, int64_t dim) { return cat(tensors, dim); }
Tensor keep_presence(const Tensor& self, const std::optional<Tensor>& other) {
  return self.mul(other ? 2 : 1);
}
Tensor keep_shape(const Tensor& self, const Tensor& other) {
  return self.mul(other.numel());
}

RegistrationHandle kernels_of(const char* ns) {
  return register_library(LibraryKind::Impl, ns, "CPU", [](Library& m) {
    m.impl("keep_maybe", SY_FN(keep_maybe));
    m.impl("keep_list", SY_FN(keep_list));
    m.impl("keep_indices", SY_FN(keep_indices));
    m.impl("keep_sizes", SY_FN(keep_sizes));
    m.impl("keep_presence", SY_FN(keep_presence));
    m.impl("keep_shape", SY_FN(keep_shape));
  });
}

Value of(const Tensor& t) { return Value(TensorBase(t)); }

class SavedArguments : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() {
    static const bool once = [] {
      load_schema_text(loaded_text(), "twin.yaml").keep();
      static const RegistrationHandle own = kernels_of("twin"),
                                      others = kernels_of("loaded");
      return true;
    }();
    static_cast<void>(once);
  }

  static Tensor run(const std::string& op, std::vector<Value> args) {
    return result(GetParam() + op, std::move(args));
  }

  // Whether backward of `out` says that `kept` was overwritten after the call.
  static bool is_noticed(const Tensor& out, const Tensor& kept) {
    kept.detach().zero_();
    try {
      out.sum().backward();
    } catch (const Error& e) {
      const std::string text = e.what();
      EXPECT_NE(text.find("a saved tensor was changed in place"),
                std::string::npos)
          << text;
      return true;
    }
    return false;
  }

  static size_t saved_by(const Tensor& out) {
    return autograd::saved_tensors(*out.grad_fn()).size();
  }

  const Tensor x = arange(1, 4, kDouble).requires_grad_();
};

TEST_P(SavedArguments, Tensor) {
  const Tensor other = arange(3, kDouble);
  const Tensor out = run("twist", {of(x), of(other), 2, false});
  EXPECT_TRUE(is_noticed(out, other));
}

TEST_P(SavedArguments, OptionalTensor) {
  const Tensor other = arange(3, kDouble);
  const Tensor out = run("keep_maybe", {of(x), of(other)});
  EXPECT_EQ(saved_by(out), 1U);
  EXPECT_TRUE(is_noticed(out, other));
  run("keep_maybe", {of(x), Value()}).sum().backward();
  EXPECT_EQ(x.grad().sum().item<double>(), 3);
}

TEST_P(SavedArguments, ListOfTensors) {
  const Tensor other = arange(3, kDouble);
  const Tensor out = run("keep_list", {of(x), Value::tensor_list({other})});
  EXPECT_EQ(saved_by(out), 1U);
  EXPECT_TRUE(is_noticed(out, other));
}

TEST_P(SavedArguments, ListOfOptionalTensors) {
  const Tensor index = tensor({2, 1});
  const TensorBase indices[] = {TensorBase(), index};
  const Tensor y = x.reshape({1, 3});
  const Tensor out =
      run("keep_indices", {of(y), Value::optional_tensor_list(indices, 2)});
  EXPECT_EQ(saved_by(out), 1U);
  EXPECT_TRUE(is_noticed(out, index));
  const Tensor again =
      run("keep_indices", {of(x), Value::optional_tensor_list(&indices[1], 1)});
  again.sum().backward();
  EXPECT_EQ(x.grad().select(0, 0).item<double>(), 2);
}

TEST_P(SavedArguments, SizesOfAList) {
  const Tensor y = x.mul(1), z = x.mul(1);
  const Tensor out = run("keep_sizes", {Value::tensor_list({y, z}), 0});
  EXPECT_EQ(saved_by(out), 0U);
  EXPECT_FALSE(is_noticed(out, y));
  EXPECT_EQ(x.grad().sum().item<double>(), 6);
}

TEST_P(SavedArguments, PresenceOfATensor) {
  const Tensor other = arange(3, kDouble);
  const Tensor out = run("keep_presence", {of(x), of(other)});
  EXPECT_EQ(saved_by(out), 0U);
  EXPECT_FALSE(is_noticed(out, other));
  EXPECT_EQ(x.grad().sum().item<double>(), 6);
  run("keep_presence", {of(x), Value()}).sum().backward();
  EXPECT_EQ(x.grad().sum().item<double>(), 9);
}

TEST_P(SavedArguments, SizesOfATensor) {
  const Tensor other = arange(4, kDouble);
  const Tensor out = run("keep_shape", {of(x), of(other)});
  EXPECT_EQ(saved_by(out), 0U);
  EXPECT_FALSE(is_noticed(out, other));
  EXPECT_EQ(x.grad().sum().item<double>(), 12);
}

// A view of self is overwritten with it: a copy is saved.
TEST_P(SavedArguments, ViewsOfWhatIsWritten) {
  const Tensor y = x.mul(1);
  const Tensor view = y.detach().view({3});
  run("twist_", {of(y), of(view), 1, false});
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(x.detach()));
}

INSTANTIATE_TEST_SUITE_P(Both, SavedArguments,
                         testing::Values("twin::", "loaded::"),
                         [](const auto& info) {
                           const std::string ns(info.param);
                           return ns.substr(0, ns.find(':'));
                         });

}  // namespace
}  // namespace sy::test

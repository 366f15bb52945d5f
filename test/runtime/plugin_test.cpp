#include <sy/sy.h>

#include <functional>
#include <limits>

#include "autograd/api.h"
#include "autograd/gradcheck.h"
#include "test/runtime/twins.h"

// A library's own operator: contract, shape and gradient are a schema's, the
// kernel is the library's.

namespace sy::test {
namespace {

constexpr const char* kSchema = "test/runtime/plugins/scale.yaml";
constexpr const char* kLibrary = "test/runtime/plugins/libscale.so";

Value of(const Tensor& t) { return Value(TensorBase(t)); }

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(PluginOperator, NeedsItsSchemaFirst) {
  const std::string text = message([] { load_library(kLibrary).keep(); });
  EXPECT_NE(text.find("no operator third::scale"), std::string::npos) << text;
}

TEST(PluginOperator, HasContractShapeAndGradientsFromTheSchema) {
  SchemaHandle schema = load_schema(kSchema);
  LibraryHandle library = load_library(kLibrary);
  const OperatorHandle op = find("third::scale");
  const Tensor x = linspace(-1, 1, 6, kDouble).reshape({2, 3});

  expect_same(result("third::scale", {of(x), 2.0}), x.mul(2));
  EXPECT_EQ(call("third::scale", {of(x), -1.0}).error,
            "[scale] by: expected a positive number, got by = -1");
  const Tensor meta = x.to(Device(kMeta));
  EXPECT_EQ(result("third::scale", {of(meta), 2.0}).sizes(), x.sizes());

  autograd::GradcheckOptions options;
  options.second_order = true;
  Value args[] = {of(x.detach().clone().requires_grad_()), 2.5};
  EXPECT_EQ(autograd::gradcheck_op(op, args, 2, options).problem, "");

  Value sides[] = {of(x.detach().clone().requires_grad_())};
  EXPECT_EQ(
      autograd::gradcheck_op(find("third::sides"), sides, 1, options).problem,
      "");

  const std::string held = message([&] { schema.unload(); });
  EXPECT_NE(held.find("libscale.so"), std::string::npos) << held;
  library.unload();
  EXPECT_NE(call("third::scale", {of(x), 2.0}).error, "");
  schema.unload();
}

// A gradient that a formula passes on as `Tensor?` is absent where nothing
// flows: zeros times infinity would be NaN.
TEST(PluginOperator, GradientsOfSeveralResultsMayBeAbsent) {
  SchemaHandle schema = load_schema(kSchema);
  LibraryHandle library = load_library(kLibrary);
  const Tensor x = full({2}, std::numeric_limits<double>::infinity(), kDouble)
                       .requires_grad_();
  Outcome o = call("third::sides", {of(x)});
  const auto gradient = [&](size_t result) {
    return autograd::grad(as_tensor(o.results[result]).sum(), x, {}, true)[0];
  };
  EXPECT_TRUE(gradient(0).equal(full({2}, 2, kDouble)));
  EXPECT_TRUE(gradient(1).equal(x.detach()));
  o.results.clear();
  library.unload();
  schema.unload();
}

}  // namespace
}  // namespace sy::test

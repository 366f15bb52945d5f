#include <sy/sy.h>

#include <atomic>
#include <thread>

#include "c10/plugin/library.h"
#include "test/runtime/twins.h"

// Schemas go as plugins do: when nothing needs them any more.

namespace sy::test {
namespace {

Value of(const Tensor& t) { return Value(TensorBase(t)); }

bool is_defined(const char* name) {
  const auto op = Dispatcher::singleton().find(name);
  return op.has_value() && op->entry().defined();
}

TEST(Unload, TheHandleTakesTheOperatorsWithIt) {
  {
    const SchemaHandle schema = load_schema_text(loaded_text(), "twin.yaml");
    EXPECT_TRUE(schema);
    EXPECT_EQ(schema.path(), "twin.yaml");
    EXPECT_EQ(schema.operators().front(), "loaded::bump");
    EXPECT_TRUE(is_defined("loaded::bump_"));
  }
  EXPECT_FALSE(is_defined("loaded::bump_"));
  // And again, other ones under the same names.
  SchemaHandle schema = load_schema_text(
      "- func: loaded::bump(Tensor self) -> Tensor\n  pointwise: self + 1\n");
  EXPECT_EQ(result("loaded::bump", {of(ones({}))}).item<float>(), 2);
  schema.unload();
  EXPECT_FALSE(schema);
  EXPECT_THROW(schema.unload(), Error);
}

TEST(Unload, AHandleOfBeforeThrows) {
  SchemaHandle schema = load_schema_text(loaded_text(), "twin.yaml");
  const OperatorHandle bump = find("loaded::bump");
  schema.unload();
  Value args[] = {of(ones({3})), 1}, out;
  EXPECT_THROW(bump.call_boxed(args, 2, &out, 1), NotImplementedError);
}

TEST(Unload, IsRefusedWhileAGraphNeedsTheOperators) {
  SchemaHandle schema = load_schema_text(loaded_text(), "twin.yaml");
  const Tensor x = ones({3}).requires_grad_();
  Tensor y = result("loaded::bump", {of(x), 1});
  try {
    schema.unload();
    FAIL() << "unloaded with a graph alive";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("1 graph node"), std::string::npos)
        << e.what();
    EXPECT_NE(std::string(e.what()).find("twin.yaml"), std::string::npos);
  }
  EXPECT_TRUE(is_defined("loaded::bump"));
  y.sum().backward();
  EXPECT_TRUE(x.grad().defined());
  y = Tensor();
  schema.unload();
  EXPECT_FALSE(is_defined("loaded::bump"));
}

TEST(Unload, IsRefusedWhileALibraryHasKernelsForThem) {
  SchemaHandle schema = load_schema_text(
      "- func: loaded::plain(Tensor self) -> Tensor\n"
      "  require:\n"
      "    - self.dim() == 1\n"
      "  derivative:\n"
      "    self: grad * 3\n");
  {
    const RegistrationHandle kernels =
        register_library(LibraryKind::Impl, "loaded", "CPU", [](Library& m) {
          m.impl("plain",
                 Kernel::from_boxed([](const Kernel&, const OperatorEntry&,
                                       DispatchKeySet, Value* args, size_t,
                                       Value* results, size_t) {
                   results[0] = of(as_tensor(args[0]).mul(3));
                 }));
        });
    EXPECT_THROW(schema.unload(), Error);
    // The kernel is theirs, contract and gradient are the schema's.
    const Tensor x = ones({2}).requires_grad_();
    result("loaded::plain", {of(x)}).sum().backward();
    EXPECT_EQ(x.grad().sum().item<float>(), 6);
    EXPECT_EQ(call("loaded::plain", {of(ones({2, 2}))}).error,
              "[plain] self: expected self.dim() == 1, got self.dim() = 2");
  }
  schema.unload();
}

TEST(Unload, KeptOperatorsStay) {
  {
    SchemaHandle schema = load_schema_text(
        "- func: kept::twice(Tensor self) -> Tensor\n"
        "  pointwise: self * 2\n");
    SchemaHandle moved = std::move(schema);
    moved.keep();
  }
  EXPECT_TRUE(is_defined("kept::twice"));
  EXPECT_EQ(result("kept::twice", {of(ones({}))}).item<float>(), 2);
}

TEST(Unload, OperatorsComeAndGoUnderCalls) {
  std::atomic<bool> stop{false};
  std::atomic<int> good{0}, wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t) {
    callers.emplace_back([&] {
      const Tensor x = ones({5});
      while (!stop.load()) {
        try {
          const Tensor y = result("loaded::bumps", {of(x)});
          if (y.numel() != 5) ++wrong;
          ++good;
        } catch (const NotImplementedError&) {
          // Between two loads.
        }
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    SchemaHandle schema = load_schema_text(loaded_text(), "twin.yaml");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    schema.unload();
  }
  stop = true;
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(good, 0);
}

}  // namespace
}  // namespace sy::test

#include "c10/dispatch/introspect.h"

#include <gtest/gtest.h>

#include "c10/plugin/library.h"

namespace sy {
namespace {

TensorBase same(const TensorBase& a) { return a; }

const int first_line = __LINE__ + 1;
SY_LIBRARY(introspected, m) { m.def("f(Tensor a) -> Tensor"); }
SY_LIBRARY_IMPL(introspected, CPU, m) {
  m.impl("f", SY_FN(same).checks_itself());
}
SY_LIBRARY_IMPL(introspected, CompositeExplicitAutograd, m) {
  m.impl("f", SY_FN(same));
}
SY_LIBRARY_IMPL(introspected, Autograd, m) {
  m.impl("f", Kernel::fallthrough());
}
SY_LIBRARY_IMPL(introspected, Autocast, m) {
  m.impl("f", Kernel::from_boxed([](const Kernel&, const OperatorEntry&,
                                    DispatchKeySet, Value*, size_t, Value*,
                                    size_t) {}));
}

OperatorHandle f() {
  return Dispatcher::singleton().find_or_throw("introspected::f");
}

TEST(KernelsOf, SaysWhereEachWasRegistered) {
  const std::vector<KernelInfo> kernels = kernels_of(f());
  ASSERT_EQ(kernels.size(), 4u);
  const KernelInfo& cpu = kernels[0];
  EXPECT_EQ(cpu.key, "CPU");
  EXPECT_NE(cpu.file.find("introspect_test.cpp"), std::string::npos);
  EXPECT_EQ(cpu.line, first_line + 1);
  EXPECT_EQ(cpu.owner, owner_of(f()));
  EXPECT_FALSE(cpu.owner.empty());
  EXPECT_TRUE(cpu.checks_itself);
  EXPECT_FALSE(cpu.boxed_only);
  EXPECT_EQ(kernels[1].key, "CompositeExplicitAutograd");
  EXPECT_FALSE(kernels[1].checks_itself);
  EXPECT_TRUE(kernels[2].fallthrough);
  EXPECT_EQ(kernels[3].key, "Autocast");
  EXPECT_TRUE(kernels[3].boxed_only);
}

TEST(DispatchOf, SaysWhereEveryKeyGoes) {
  using Route = DispatchInfo::Route;
  std::vector<std::string> order;
  std::vector<Route> routes;
  std::vector<std::string> kernels;
  for (const DispatchInfo& d : dispatch_of(f())) {
    order.push_back(d.key);
    routes.push_back(d.route);
    kernels.push_back(d.kernel.key);
  }
  EXPECT_EQ(order, (std::vector<std::string>{
                       "TransformFront", "Batched", "Autocast", "AutogradCPU",
                       "AutogradMeta", "TransformBack", "Pending",
                       "BackendSelect", "CPU", "Meta", "Undefined"}));
  EXPECT_EQ(routes,
            (std::vector<Route>{Route::Fallthrough, Route::Fallthrough,
                                Route::Own, Route::Fallthrough,
                                Route::Fallthrough, Route::Fallthrough,
                                Route::Fallthrough, Route::Fallthrough,
                                Route::Own, Route::Alias, Route::Alias}));
  EXPECT_EQ(kernels[3], "Autograd");
  EXPECT_EQ(kernels[9], "CompositeExplicitAutograd");
}

TEST(DispatchOf, FollowsRegistrations) {
  using Route = DispatchInfo::Route;
  const auto meta = [] { return dispatch_of(f())[9]; };
  {
    const RegistrationHandle own =
        register_library(LibraryKind::Impl, "introspected", "Meta",
                         [](Library& m) { m.impl("f", SY_FN(same)); });
    EXPECT_EQ(meta().route, Route::Own);
  }
  EXPECT_EQ(meta().route, Route::Alias);
  const RegistrationHandle bare =
      register_library(LibraryKind::Fragment, "introspected", "",
                       [](Library& m) { m.def("g(Tensor a) -> Tensor"); });
  const auto g = [] {
    return dispatch_of(
        Dispatcher::singleton().find_or_throw("introspected::g"))[9];
  };
  EXPECT_EQ(g().route, Route::Missing);
  const RegistrationHandle fallback =
      register_library(LibraryKind::Impl, "_", "Meta", [](Library& m) {
        m.fallback(Kernel::from_boxed([](const Kernel&, const OperatorEntry&,
                                         DispatchKeySet, Value*, size_t, Value*,
                                         size_t) {}));
      });
  EXPECT_EQ(g().route, Route::Fallback);
  EXPECT_EQ(g().kernel.key, "Meta");
}

}  // namespace
}  // namespace sy

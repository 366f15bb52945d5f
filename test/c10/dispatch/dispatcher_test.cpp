#include "c10/dispatch/dispatcher.h"

#include <gtest/gtest.h>

#include <new>

#include "c10/plugin/library.h"
#include "c10/schema/function_schema.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

std::vector<std::string> calls;  // which kernels ran, in order

TensorBase make(Device device = Device(kCPU)) {
  return TensorBase(make_tensor({2}, kFloat, device));
}
TensorBase with_keys(DispatchKeySet keys) {
  TensorBase t = make();
  t.impl()->add_keys(keys);
  return t;
}

template <char Name>
TensorBase named(const TensorBase& a) {
  calls.push_back(std::string(1, Name));
  return a;
}

struct DispatcherTest : testing::Test {
  void SetUp() override { calls.clear(); }

  // An operator t::f with the given kernels; gone at the end of the test.
  using Kernels = std::vector<std::pair<const char*, Kernel>>;
  OperatorHandle define(const Kernels& kernels,
                        const char* schema = "f(Tensor a) -> Tensor") {
    handles.push_back(register_library(LibraryKind::Fragment, "t", "",
                                       [&](Library& m) { m.def(schema); }));
    for (const auto& [key, kernel] : kernels) {
      impl(key, kernel,
           std::string_view(schema).substr(0,
                                           std::string_view(schema).find('(')));
    }
    return Dispatcher::singleton().find_or_throw(
        str("t::{}", std::string_view(schema).substr(
                         0, std::string_view(schema).find('('))));
  }
  void impl(const char* key, const Kernel& kernel,
            std::string_view name = "f") {
    handles.insert(handles.begin(),
                   register_library(LibraryKind::Impl, "t", key,
                                    [&](Library& m) { m.impl(name, kernel); }));
  }
  static TensorBase call(OperatorHandle op, const TensorBase& a) {
    return op.typed<TensorBase(const TensorBase&)>().call(a);
  }

  // Kernels go before the definitions that they belong to.
  std::vector<RegistrationHandle> handles;
};

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "(nothing thrown)";
}

TEST_F(DispatcherTest, KernelOfTheBackendRuns) {
  const auto op = define({{"CPU", SY_FN(named<'c'>)}});
  const TensorBase a = make();
  EXPECT_TRUE(call(op, a).is_same(a));
  EXPECT_EQ(calls, std::vector<std::string>{"c"});
}

TEST_F(DispatcherTest, DirectKernelBeatsCompositeExplicitBeatsImplicit) {
  const auto op = define({{"CompositeImplicitAutograd", SY_FN(named<'i'>)}});
  call(op, make());
  impl("CompositeExplicitAutograd", SY_FN(named<'e'>));
  call(op, make());
  impl("CPU", SY_FN(named<'c'>));
  call(op, make());
  EXPECT_EQ(calls, (std::vector<std::string>{"i", "e", "c"}));
}

TEST_F(DispatcherTest,
       ImplicitCompositeRunsAboveAutogradOfBackendsWithoutKernel) {
  const auto op = define({{"CompositeImplicitAutograd", SY_FN(named<'i'>)},
                          {"Autograd", SY_FN(named<'a'>)}});
  const TensorBase t = with_keys(DispatchKey::Autograd);
  call(op, t);
  // A backend kernel of its own gives the Autograd kernel its turn.
  impl("CPU", SY_FN(named<'c'>));
  call(op, t);
  EXPECT_EQ(calls, (std::vector<std::string>{"i", "a"}));
}

// A backend that lists a composite: its kernel runs, and gradients are recorded
// through the parts.
TEST_F(DispatcherTest, AKernelOfACompositeDoesNotLoseItsGradient) {
  const auto op = define({{"CompositeImplicitAutograd", SY_FN(named<'i'>)},
                          {"CPU", SY_FN(named<'c'>)}});
  call(op, make());
  call(op, with_keys(DispatchKey::Autograd));
  impl("AutogradCPU", SY_FN(named<'b'>));
  call(op, with_keys(DispatchKey::Autograd));
  EXPECT_EQ(calls, (std::vector<std::string>{"c", "i", "b"}));
}

TEST_F(DispatcherTest, AutogradOfOneBackendBeatsTheAlias) {
  const auto op = define({{"CPU", SY_FN(named<'c'>)},
                          {"Autograd", SY_FN(named<'a'>)},
                          {"AutogradCPU", SY_FN(named<'b'>)}});
  call(op, with_keys(DispatchKey::Autograd));
  EXPECT_EQ(calls, std::vector<std::string>{"b"});
}

TEST_F(DispatcherTest, AutogradIsSkippedWithoutAKernel) {
  const auto op = define({{"CPU", SY_FN(named<'c'>)}});
  call(op, with_keys(DispatchKey::Autograd));
  EXPECT_EQ(calls, std::vector<std::string>{"c"});
}

TEST_F(DispatcherTest, FallthroughOfOneBackendGoesOnBelow) {
  const auto op = define({{"CPU", SY_FN(named<'c'>)},
                          {"Autograd", SY_FN(named<'a'>)},
                          {"AutogradCPU", Kernel::fallthrough()}});
  call(op, with_keys(DispatchKey::Autograd));
  EXPECT_EQ(calls, std::vector<std::string>{"c"});
  Value args[] = {Value(with_keys(DispatchKey::Autograd))}, out[1];
  op.call_boxed(args, 1, out, 1);
  EXPECT_EQ(calls.back(), "c");
  EXPECT_EQ(calls.size(), 2u);
}

TensorBase redispatching(DispatchKeySet keys, const TensorBase& a);

TEST_F(DispatcherTest, RedispatchGoesOnWithTheKeysGiven) {
  const auto op =
      define({{"CPU", SY_FN(named<'c'>)}, {"Autograd", SY_FN(redispatching)}});
  call(op, with_keys(DispatchKey::Autograd));
  EXPECT_EQ(calls, (std::vector<std::string>{"r", "c"}));
}

TensorBase redispatching(DispatchKeySet keys, const TensorBase& a) {
  calls.push_back("r");
  return Dispatcher::singleton()
      .find_or_throw("t::f")
      .typed<TensorBase(const TensorBase&)>()
      .redispatch(keys & DispatchKeySet::below(DispatchKey::Autograd), a);
}

TEST_F(DispatcherTest, ThreadKeysAreAddedAndRemoved) {
  const auto op = define({{"CPU", SY_FN(named<'c'>)},
                          {"Batched", SY_FN(named<'b'>)},
                          {"Autograd", SY_FN(named<'a'>)}});
  {
    const IncludeDispatchKeyGuard guard(DispatchKey::Batched);
    call(op, make());
  }
  {
    const AutoDispatchBelowAutograd guard;
    call(op, with_keys(DispatchKey::Autograd));
  }
  call(op, make());
  EXPECT_EQ(calls, (std::vector<std::string>{"b", "c", "c"}));
}

TensorBase select_backend(DispatchKeySet, int64_t n) {
  calls.push_back("s" + std::to_string(n));
  return make();
}

TEST_F(DispatcherTest, BackendSelectRunsForOperatorsWithoutTensors) {
  const auto op =
      define({{"BackendSelect", SY_FN(select_backend)}}, "g(int n) -> Tensor");
  op.typed<TensorBase(int64_t)>().call(3);
  EXPECT_EQ(calls, std::vector<std::string>{"s3"});
}

void boxed_kernel(const Kernel& k, const OperatorEntry& op, DispatchKeySet,
                  Value* args, size_t n, Value* results, size_t) {
  calls.push_back(
      str("boxed {} {} {}", op.name(), n, *static_cast<const int*>(k.context)));
  results[0] = args[0];
}

TEST_F(DispatcherTest, TypedCallsReachBoxedKernelsAndBoxedCallsTypedOnes) {
  static int context = 7;
  const auto op =
      define({{"CPU", Kernel::from_boxed(&boxed_kernel, &context)}});
  const TensorBase a = make();
  EXPECT_TRUE(call(op, a).is_same(a));
  EXPECT_EQ(calls, std::vector<std::string>{"boxed t::f 1 7"});

  const auto typed =
      define({{"CPU", SY_FN(named<'c'>)}}, "h(Tensor a) -> Tensor");
  Value args[] = {Value(a)}, out[1];
  typed.call_boxed(args, 1, out, 1);
  EXPECT_TRUE(out[0].to_tensor().is_same(a));
  EXPECT_EQ(calls.back(), "c");
}

TEST_F(DispatcherTest, FallbackOfABackendRunsWhatHasNoKernel) {
  const auto op = define({});
  static int context = 1;
  handles.insert(
      handles.begin(),
      register_library(LibraryKind::Impl, "_", "Meta", [](Library& m) {
        m.fallback(Kernel::from_boxed(&boxed_kernel, &context));
      }));
  call(op, make(Device(kMeta)));
  EXPECT_EQ(calls, std::vector<std::string>{"boxed t::f 1 1"});
  // Taken away again with its handle.
  handles.erase(handles.begin());
  EXPECT_THROW(call(op, make(Device(kMeta))), NotImplementedError);
}

TensorBase without_memory(const TensorBase&) { throw std::bad_alloc(); }

TEST_F(DispatcherTest, NoMemoryForAKernelIsAnOutOfMemoryError) {
  const auto op = define({{"CPU", SY_FN(without_memory)}});
  SY_EXPECT_ERROR(call(op, make()), OutOfMemoryError, "[t::f]");
  Value args[] = {Value(make())}, out[1];
  SY_EXPECT_ERROR(op.call_boxed(args, 1, out, 1), OutOfMemoryError, "[t::f]");
}

TEST_F(DispatcherTest, KeysOfABackendThatDoesNotExistAreIgnored) {
  const auto op =
      define({{"CPU", SY_FN(named<'c'>)}, {"Meta", SY_FN(named<'m'>)}});
  const TensorBase a = make();
  for (int n = 3; n < kMaxBackends; ++n) {
    const DispatchKeySet none = DispatchKeySet::raw(uint64_t{1} << n) |
                                DispatchKeySet(DispatchKey::Dense);
    const IncludeDispatchKeyGuard guard(none);
    if (n < backend_count()) continue;
    EXPECT_TRUE(call(op, a).is_same(a));
    EXPECT_EQ(calls.back(), "c");
  }
}

std::tuple<TensorBase, TensorBase> two(const TensorBase& a, int64_t n,
                                       const Scalar& s, IntArrayRef list,
                                       std::optional<double> d,
                                       ArrayRef<TensorBase> tensors) {
  calls.push_back(str("{} {} {} {} {}", n, to_string(s), list,
                      d.has_value() ? *d : -1.0, tensors.size()));
  return {a, tensors[0]};
}

TEST_F(DispatcherTest, EveryArgumentSurvivesBoxing) {
  const auto op =
      define({{"CPU", SY_FN(two)}},
             "two(Tensor a, int n, Scalar s, int[] l, float? d, Tensor[] t) -> "
             "(Tensor, Tensor)");
  const TensorBase a = make(), b = make();
  Value args[] = {Value(a),   Value(3),
                  Value(1.5), Value(IntArrayRef({4, 5})),
                  Value(),    Value::tensor_list({b})};
  Value out[2];
  op.call_boxed(args, 6, out, 2);
  EXPECT_TRUE(out[0].to_tensor().is_same(a));
  EXPECT_TRUE(out[1].to_tensor().is_same(b));
  EXPECT_EQ(calls, std::vector<std::string>{"3 1.5 [4, 5] -1 1"});
}

TEST_F(DispatcherTest, WrittenArgumentIsTheResult) {
  struct K {
    static TensorBase& f(TensorBase& a, const TensorBase&) { return a; }
    static void boxed(const Kernel&, const OperatorEntry&, DispatchKeySet,
                      Value* args, size_t, Value* results, size_t) {
      results[0] = args[0];
    }
  };
  const auto op = define({{"CPU", Kernel::from_boxed(&K::boxed)}},
                         "w_(Tensor(a!) self, Tensor b) -> Tensor(a!)");
  TensorBase a = make();
  const auto typed = op.typed<TensorBase&(TensorBase&, const TensorBase&)>();
  EXPECT_EQ(&typed.call(a, a), &a);
}

TEST_F(DispatcherTest, MissingKernelSaysWhatThereIs) {
  const auto op = define({{"CPU", SY_FN(named<'c'>)}});
  const std::string m = message_of([&] { call(op, make(Device(kMeta))); });
  EXPECT_NE(m.find("[t::f] has no kernel for Meta"), std::string::npos) << m;
  EXPECT_NE(m.find("argument 0: DispatchKeySet("), std::string::npos) << m;
  EXPECT_NE(m.find("kernels: CPU ("), std::string::npos) << m;
  EXPECT_LE(std::count(m.begin(), m.end(), '\n'), 9) << m;
  EXPECT_THROW(call(op, make(Device(kMeta))), NotImplementedError);
  EXPECT_THROW(call(op, TensorBase()), NotImplementedError);
}

TEST_F(DispatcherTest, UnknownOperatorNamesTheNearest) {
  define({});
  const std::string m =
      message_of([] { Dispatcher::singleton().find_or_throw("t::ff"); });
  EXPECT_EQ(m, "no operator t::ff; did you mean t::f?");
  EXPECT_FALSE(Dispatcher::singleton().find("t::ff").has_value());
}

TEST_F(DispatcherTest, ANameWithoutItsOverloadNamesTheOverloads) {
  define({}, "g.one(Tensor a) -> Tensor");
  define({}, "g.two(Tensor a) -> Tensor");
  EXPECT_EQ(message_of([] { Dispatcher::singleton().find_or_throw("t::g"); }),
            "no operator t::g; its overloads are t::g.one, t::g.two");
}

TEST_F(DispatcherTest, MissingKernelNamesExcludedKeys) {
  const auto op = define({{"CPU", SY_FN(named<'c'>)}});
  const DispatchKeySet before = DispatchKeySet::raw(thread_state.excluded);
  thread_state.excluded = DispatchKeySet::dense(kCPU).bits();
  const std::string m = message_of([&] { call(op, make()); });
  thread_state.excluded = before.bits();
  EXPECT_NE(m.find("excluded on this thread: DispatchKeySet("),
            std::string::npos)
      << m;
  EXPECT_NE(m.find("the keys of the arguments are excluded"), std::string::npos)
      << m;
  EXPECT_EQ(m.find("no argument is a defined tensor"), std::string::npos) << m;
}

TEST_F(DispatcherTest, WrongBoxedArgumentsAreTypeErrors) {
  const auto op = define({{"CPU", SY_FN(named<'c'>)}});
  Value args[] = {Value(make()), Value(1)}, out[1];
  EXPECT_EQ(message_of([&] { op.call_boxed(args, 2, out, 1); }),
            "[t::f] expected 1 arguments and 1 results, got 2 and 1");
  Value number[] = {Value(2.5)};
  EXPECT_THROW(op.call_boxed(number, 1, out, 1), Error);
  EXPECT_THROW(op.typed<TensorBase(int64_t)>(), TypeError);
  EXPECT_NE(message_of([&] { op.typed<TensorBase(int64_t)>(); })
                .find("argument 1 'a' (Tensor): expected const Tensor&, got "
                      "int64_t"),
            std::string::npos);
}

TEST_F(DispatcherTest, CpuBesideAnotherBackendGoesToTheOther) {
  const auto op = define({{"Meta", SY_FN(named<'m'>)}});
  TensorBase t = make(Device(kMeta));
  t.impl()->add_keys(DispatchKeySet::backend(kCPU));
  call(op, t);
  EXPECT_EQ(calls, std::vector<std::string>{"m"});
}

TEST_F(DispatcherTest, UndefinedOperatorThrowsAndMayComeBack) {
  const auto op = define({{"CPU", SY_FN(named<'c'>)}});
  handles.clear();
  EXPECT_THROW(op.entry().schema_text(), NotImplementedError);
  Value args[] = {Value(make())}, out[1];
  EXPECT_THROW(op.call_boxed(args, 1, out, 1), NotImplementedError);
  EXPECT_FALSE(Dispatcher::singleton().find("t::f").has_value());
  define({{"CPU", SY_FN(named<'d'>)}});
  call(op, make());  // the old handle is good again
  EXPECT_EQ(calls, std::vector<std::string>{"d"});
}

TEST_F(DispatcherTest, EntryIsSmall) {
  const size_t before = Dispatcher::singleton().memory_in_use();
  const auto op = define({{"CPU", SY_FN(named<'c'>)},
                          {"Meta", SY_FN(named<'m'>)},
                          {"Autograd", SY_FN(named<'a'>)}});
  EXPECT_LE(Dispatcher::singleton().memory_in_use() - before, 1024u);
  EXPECT_EQ(op.schema().arguments().size(), 1u);
}

}  // namespace
}  // namespace sy

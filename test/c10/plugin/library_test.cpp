#include "c10/plugin/library.h"

#include <gtest/gtest.h>

#include "c10/dispatch/dispatcher.h"

namespace sy {
namespace {

TensorBase identity(const TensorBase& a) { return a; }
TensorBase by_number(const TensorBase& a, double) { return a; }
int written = 0;

std::string problems_of(LibraryKind kind, const char* ns, const char* key,
                        void (*body)(Library&, void*)) {
  try {
    RegistrationHandle h = register_library(kind, ns, key, body, nullptr);
  } catch (const RegistrationError& e) {
    return e.message();
  }
  return "(no error)";
}

const char kHead[] =
    "library (run time) was not registered; nothing has changed:\n"
    "  (run time):0: ";

TEST(Library, AllProblemsOfABatchAreReportedAtOnceAndNothingIsKept) {
  const std::string m =
      problems_of(LibraryKind::Fragment, "lib", "", [](Library& m, void*) {
        m.def("good(Tensor a) -> Tensor");
        m.def("bad(Tensr a) -> Tensor");
        m.def("twice(Tensor a) -> Tensor");
        m.def("twice(Tensor a) -> Tensor");
        m.impl("good", SY_FN(identity));
      });
  EXPECT_NE(m.find("'lib::bad(Tensr a) -> Tensor' column 10"),
            std::string::npos)
      << m;
  EXPECT_NE(m.find("did you mean 'Tensor'?"), std::string::npos) << m;
  EXPECT_NE(m.find("lib::twice is defined twice"), std::string::npos) << m;
  EXPECT_NE(m.find("m.impl belongs in SY_LIBRARY_IMPL"), std::string::npos)
      << m;
  EXPECT_FALSE(Dispatcher::singleton().find("lib::good").has_value());
}

// Rules beyond grammar hold at run time as when code is generated. Each schema
// breaks one of them.
TEST(Library, SchemasThatContradictThemselvesAreRefused) {
  struct Row {
    const char* schema;
    const char* why;
  };
  static const Row* row;
  for (const Row& r : {
           Row{"f(Tensor x=3) -> Tensor", "default 3 does not fit"},
           Row{"f(Tensor? x=0) -> Tensor", "default 0 does not fit"},
           Row{"f(int x='a') -> Tensor", "default 'a' does not fit"},
           Row{"f(bool b=maybe) -> Tensor", "default maybe does not fit"},
           Row{"f(int n=maybe) -> Tensor", "default maybe does not fit"},
           Row{"f(int[2] x=[1, 2, 3]) -> Tensor", "does not fit type 'int[2]'"},
           Row{"f(Tensor x, Tensor x) -> Tensor", "'x' appears twice"},
           Row{"f(Tensor x) -> (Tensor a, Tensor a)", "'a' appears twice"},
           Row{"f(Tensor[][] l) -> Tensor", "is a list of lists"},
           Row{"f(Tensor(a) x) -> Tensor(b)", "alias set 'b'"},
           Row{"f(Tensor x) -> Tensor(a!)", "alias set 'a'"},
           Row{"f(int(a) x) -> Tensor", "cannot alias"},
           Row{"f(int a=1, Tensor x) -> Tensor", "without a default"},
           Row{"f(Tensor(a) x) -> Tensor(a!)", "marked as written"},
       }) {
    row = &r;
    const std::string m =
        problems_of(LibraryKind::Fragment, "lib", "",
                    [](Library& m, void*) { m.def(row->schema); });
    EXPECT_NE(m.find(row->why), std::string::npos) << r.schema << ": " << m;
    EXPECT_FALSE(Dispatcher::singleton().find("lib::f").has_value());
  }
}

TEST(Library, BodyThatThrowsChangesNothing) {
  const std::string m =
      problems_of(LibraryKind::Fragment, "lib", "", [](Library& m, void*) {
        m.def("good(Tensor a) -> Tensor");
        throw std::runtime_error("boom");
      });
  EXPECT_EQ(m, std::string(kHead) + "the body threw: boom");
  EXPECT_FALSE(Dispatcher::singleton().find("lib::good").has_value());
}

struct Defined : testing::Test {
  RegistrationHandle op =
      register_library(LibraryKind::Fragment, "lib", "", [](Library& m) {
        m.def("relu(Tensor self) -> Tensor");
        m.def("scale(Tensor self, Scalar by) -> Tensor");
      });
};

TEST_F(Defined, MisspeltOperatorNamesTheNearest) {
  EXPECT_EQ(
      problems_of(LibraryKind::Impl, "lib", "CPU",
                  [](Library& m, void*) { m.impl("rellu", SY_FN(identity)); }),
      std::string(kHead) +
          "no operator lib::rellu to register a CPU kernel for; did you "
          "mean lib::relu?");
}

TEST_F(Defined, OfManyMisspeltOperatorsTheFirstNameTheNearest) {
  const std::string m =
      problems_of(LibraryKind::Impl, "lib", "CPU", [](Library& m, void*) {
        for (int i = 0; i < 150; ++i) {
          const char name[] = {
              'r', 'e', 'l', char('a' + i / 26), char('a' + i % 26), 0};
          m.impl(name, SY_FN(identity));
        }
      });
  const auto count = [&](const std::string& what) {
    int n = 0;
    for (size_t at = m.find(what); at != std::string::npos;
         at = m.find(what, at + 1)) {
      ++n;
    }
    return n;
  };
  EXPECT_EQ(count("no operator lib::rel"), 150);
  EXPECT_EQ(count("did you mean lib::relu?"), 100);
}

TEST_F(Defined, UnknownKeyListsTheKeys) {
  const std::string m =
      problems_of(LibraryKind::Impl, "lib", "GPU",
                  [](Library& m, void*) { m.impl("relu", SY_FN(identity)); });
  EXPECT_NE(
      m.find("no dispatch key 'GPU' for lib::relu; there are: CPU, Meta,"),
      std::string::npos)
      << m;
}

TEST_F(Defined, WrongSignatureNamesTheArgument) {
  EXPECT_EQ(
      problems_of(LibraryKind::Impl, "lib", "CPU",
                  [](Library& m, void*) { m.impl("scale", SY_FN(by_number)); }),
      std::string(kHead) +
          "kernel of lib::scale for CPU: argument 2 'by' (Scalar): "
          "expected const Scalar&, got double");
  const std::string m =
      problems_of(LibraryKind::Impl, "lib", "CPU",
                  [](Library& m, void*) { m.impl("scale", SY_FN(identity)); });
  EXPECT_NE(m.find("expected 2 arguments for"), std::string::npos) << m;
}

void count(const std::optional<TensorBase>& out, const TensorBase&) {
  written += out.has_value() ? 1 : 100;
}
void by_reference(TensorBase&, const TensorBase&) {}

// As in libtorch, an optional argument is one whether it is written or not.
TEST(Library, OptionalWrittenArgumentsAreOptional) {
  written = 0;
  auto op = register_library(LibraryKind::Fragment, "lib", "", [](Library& m) {
    m.def("count(Tensor(a!)? out, Tensor x) -> ()");
  });
  EXPECT_NE(problems_of(
                LibraryKind::Impl, "lib", "CPU",
                [](Library& m, void*) { m.impl("count", SY_FN(by_reference)); })
                .find("expected const std::optional<Tensor>&, got Tensor&"),
            std::string::npos);
  auto kernel =
      register_library(LibraryKind::Impl, "lib", "CPU",
                       [](Library& m) { m.impl("count", SY_FN(count)); });
  const TensorBase t(make_tensor({1}, kFloat, Device(kCPU)));
  const OperatorHandle handle = *Dispatcher::singleton().find("lib::count");
  for (const bool given : {true, false}) {
    Value args[] = {given ? Value(t) : Value(), Value(t)};
    handle.call_boxed(args, 2, nullptr, 0);
  }
  EXPECT_EQ(written, 101);
}

TEST_F(Defined, SecondKernelForAKeyNamesTheFirst) {
  auto first =
      register_library(LibraryKind::Impl, "lib", "CPU",
                       [](Library& m) { m.impl("relu", SY_FN(identity)); });
  EXPECT_EQ(
      problems_of(LibraryKind::Impl, "lib", "CPU",
                  [](Library& m, void*) { m.impl("relu", SY_FN(identity)); }),
      std::string(kHead) +
          "lib::relu has a kernel for CPU already, registered at (run "
          "time):0 by (run time)");
}

TEST_F(Defined, DefinitionStaysWhileAnotherLibraryHasAKernelForIt) {
  auto kernel =
      register_library(LibraryKind::Impl, "lib", "CPU",
                       [](Library& m) { m.impl("relu", SY_FN(identity)); });
  try {
    op.reset();
    FAIL() << "unloaded a library that is needed";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("held by library (run time), which has a kernel "
                               "for lib::relu"),
              std::string::npos)
        << e.message();
  }
  EXPECT_TRUE(Dispatcher::singleton().find("lib::relu").has_value());
  kernel.reset();
  op.reset();
  EXPECT_FALSE(Dispatcher::singleton().find("lib::relu").has_value());
}

TEST(Library, NamespaceHasOneOwner) {
  auto owner = register_library(LibraryKind::Def, "mine", "", [](Library&) {});
  const std::string m =
      problems_of(LibraryKind::Def, "mine", "", [](Library&, void*) {});
  EXPECT_NE(m.find("namespace mine is owned by the block at (run time):0"),
            std::string::npos)
      << m;
  owner.reset();
  EXPECT_EQ(problems_of(LibraryKind::Def, "mine", "", [](Library&, void*) {}),
            "(no error)");
}

TEST(Library, FallbackBelongsToTheEmptyNamespaceAndIsBoxed) {
  EXPECT_NE(problems_of(LibraryKind::Impl, "lib", "Meta",
                        [](Library& m, void*) { m.fallback(SY_FN(identity)); })
                .find("m.fallback belongs in SY_LIBRARY_IMPL(_, Key, m)"),
            std::string::npos);
  EXPECT_NE(
      problems_of(LibraryKind::Impl, "_", "CompositeImplicitAutograd",
                  [](Library& m, void*) {
                    m.fallback(Kernel::from_boxed(
                        [](const Kernel&, const OperatorEntry&, DispatchKeySet,
                           Value*, size_t, Value*, size_t) {}));
                  })
          .find("is an alias and has no fallback"),
      std::string::npos);
  EXPECT_NE(problems_of(LibraryKind::Impl, "_", "Meta",
                        [](Library& m, void*) { m.fallback(SY_FN(identity)); })
                .find("a fallback must be a boxed kernel"),
            std::string::npos);
}

}  // namespace
}  // namespace sy

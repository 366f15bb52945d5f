#include <sy/sy.h>
#include <sys/stat.h>

#include <cstdio>

#include "test/runtime/twins.h"

// Loading tells all errors of a schema at once, as `sygen check` tells them,
// and registers nothing of it.

namespace sy::test {
namespace {

std::string problem(const std::string& text) {
  try {
    load_schema_text(text, "bad.yaml").keep();
  } catch (const RegistrationError& e) {
    return e.what();
  }
  return "";
}

void expect_mentions(const std::string& text,
                     std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
  }
}

bool is_defined(const char* name) {
  return Dispatcher::singleton().find(name).has_value();
}

TEST(SchemaErrors, AreAllToldWithPlacesAndCarets) {
  const std::string text = problem(
      "- func: bad::good(Tensor self) -> Tensor\n"
      "  pointwise: self + 1\n"
      "- func: bad::one(Tensor self) -> Tensor\n"
      "  pointwise: self + othr\n"
      "- func: bad::two(Tensor self) -> Tensor\n"
      "  composite: no_such_operator(self)\n"
      "- func: bad::three(Tensor self -> Tensor\n");
  expect_mentions(
      text, {"nothing has changed",
             "bad.yaml:4:21: error: ", "  pointwise: self + othr\n", "^",
             "bad.yaml:6:14: error: ", "no_such_operator", "bad.yaml:7:"});
  EXPECT_FALSE(is_defined("bad::good"));
  EXPECT_FALSE(is_defined("bad::one"));
}

TEST(SchemaErrors, WhatIsThereAlreadyIsNotDefinedAgain) {
  const std::string text = problem(
      "- func: fresh(Tensor self) -> Tensor\n"
      "  pointwise: self + 1\n"
      "- func: relu(Tensor self) -> Tensor\n"
      "  pointwise: self * 2\n");
  expect_mentions(text, {"bad.yaml:3:9: error: ", "'aten::relu' is defined",
                         "schemas/ops/activation.yaml", "aten::relu_"});
  EXPECT_FALSE(is_defined("aten::fresh"));
}

TEST(SchemaErrors, ANamespaceHasOneOwner) {
  const std::string text = problem(
      "- func: twin::fresh(Tensor self) -> Tensor\n  pointwise: self + 1\n");
  expect_mentions(text, {"bad.yaml", "namespace twin is owned"});
  EXPECT_FALSE(is_defined("twin::fresh"));
}

TEST(SchemaErrors, FunctionsOfCppCannotBeLoaded) {
  expect_mentions(problem("- func: bad::f(Tensor self) -> Tensor\n"
                          "  dispatch:\n    CPU: f\n"),
                  {"bad.yaml:3:5: error: ", "run time"});
}

TEST(SchemaErrors, LimitsAreToldBeforeTheFirstCall) {
  std::string arguments, sum;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "t" + std::to_string(i);
    arguments += (i ? ", Tensor " : "Tensor ") + name;
    sum += (i ? " + " : "") + name;
  }
  expect_mentions(problem("- func: bad::many(" + arguments +
                          ") -> Tensor\n  pointwise: " + sum + "\n"),
                  {"13 tensor operands, more than 10"});
}

TEST(SchemaErrors, FunctionsOfManyParametersCanBeCalled) {
  const SchemaHandle schema = load_schema_text(
      "- func: many::windows(Tensor self) -> Tensor\n"
      "  require:\n"
      "    - sum(window_counts(self.sizes(), [1, 2], [1, 1], [0, 0], [1, 1])) "
      "== 4\n"
      "    - len(pooled_sizes(1, self.sizes(), [2], [2], [0], [1], False)) == "
      "2\n"
      "  pointwise: self * 2\n",
      "many.yaml");
  const Tensor r = result("many::windows", {Value(TensorBase(ones({1, 4})))});
  EXPECT_EQ(r.sum().item().to_double(), 8);
}

TEST(SchemaErrors, NothingCallsItself) {
  const std::string text = problem(
      "- func: bad::one(Tensor self) -> Tensor\n"
      "  composite: two(self) + 1\n"
      "- func: bad::two(Tensor self) -> Tensor\n"
      "  composite: relu(one(self))\n");
  expect_mentions(text, {
                            "bad.yaml:2:14: error: composite 'one' calls "
                            "itself: one -> two -> one",
                        });
}

// Signatures that no C++ function could have, told before they do harm.
TEST(SchemaErrors, SignaturesThatTheirKindCannotServe) {
  const char* const bad[] = {
      "(Tensor self) -> ()\n  composite: relu(self)\n",
      "(Tensor other) -> Tensor\n  view: {sizes: other.sizes()}\n",
      "(Tensor[] self) -> Tensor\n  view: {sizes: self[0].sizes()}\n",
      "(Tensor self) -> (Tensor, Tensor)\n"
      "  reduce: {map: self, identity: 0, combine: a + b}\n",
      "(Tensor self) -> (Tensor, Tensor)\n  shape: self.sizes()\n",
      "(Tensor self, int n) -> Tensor\n  pointwise: self * n\n"
      "  forms:\n    inplace: f_(Tensor(a!) self) -> Tensor(a!)\n",
      "(Tensor self, Tensor t) -> Tensor\n  composite: self * t\n"
      "  forms:\n    inplace: f_(Tensor(a!) self) -> Tensor(a!)\n",
  };
  for (const char* text : bad) {
    EXPECT_NE(problem(std::string("- func: bad::f") + text), "") << text;
    EXPECT_FALSE(is_defined("bad::f"));
  }
}

TEST(SchemaErrors, NoTextIsAnErrorOfItsOwnKindOrNone) {
  EXPECT_EQ(problem(""), "");
  EXPECT_THROW(load_schema("no/such/file.yaml"), RegistrationError);
  // A file without an end, a pipe without a writer, and a folder.
  const std::string pipe = str("{}/schema.pipe", ::testing::TempDir());
  std::remove(pipe.c_str());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path :
       {std::string("/dev/zero"), pipe, std::string("/tmp")}) {
    try {
      load_schema(path).keep();
      ADD_FAILURE() << path;
    } catch (const RegistrationError& e) {
      expect_mentions(e.what(), {"expected a regular file"});
    }
  }
  std::remove(pipe.c_str());
  for (const char* text :
       {"a: b", "- 1", "[", "\x01", "- func: 3", "- func: &a [*a]",
        "- func: x::f(Tensor self) -> Tensor\n  pointwise: ((((",
        "- func: x::f(Tensor self) -> Tensor\n  view: {sizes: 3}",
        "- func: x::f(Tensor self) -> Tensor\n  reduce: {map: self}"}) {
    EXPECT_NE(problem(text), "") << text;
  }
}

// Every prefix, and every line left out, of a good file: errors, never more.
TEST(SchemaErrors, DamagedFilesAreRejectedCleanly) {
  const std::string good = loaded_text();
  const auto attempt = [](const std::string& text) {
    try {
      load_schema_text(text, "damaged.yaml");
    } catch (const RegistrationError&) {
    }
  };
  for (size_t n = 0; n < good.size(); n += 97) attempt(good.substr(0, n));
  for (size_t at = 0; at < good.size();) {
    const size_t end = good.find('\n', at) + 1;
    attempt(good.substr(0, at) + good.substr(end));
    at = end;
  }
  EXPECT_FALSE(is_defined("loaded::bump"));
}

}  // namespace
}  // namespace sy::test

#include <gtest/gtest.h>
#include <sy/export.h>
#include <sy/io.h>
#include <sy/library.h>
#include <sy/nn.h>
#include <sy/sy.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "test/c10/expect_error.h"
#include "test/frontend/export/exported.h"

// What a program cannot say is refused, and told with the module.

namespace sy::test {
namespace {

Tensor twice(const Tensor& x) { return x * 2; }

SY_LIBRARY(exporttest, m) { m.def("twice(Tensor x) -> Tensor"); }
SY_LIBRARY_IMPL(exporttest, CPU, m) { m.impl("twice", SY_FN(twice)); }

// A module that is a function of two tensors.
using Function = std::function<Tensor(const Tensor&, const Tensor&)>;

class CodeImpl : public nn::Module {
 public:
  explicit CodeImpl(Function f) : f(std::move(f)) {
    buffer = register_buffer("buffer", ones({3}));
  }
  Tensor forward(const Tensor& x, const Tensor& y) { return f(x, y); }
  Function f;
  Tensor buffer;
};
SY_MODULE(Code);

class OuterImpl : public nn::Module {
 public:
  explicit OuterImpl(Function f) : code(std::move(f)) {
    register_module("inner", code);
  }
  Tensor forward(const Tensor& x, const Tensor& y) { return code(x, y) * 2; }
  Code code;
};

std::string path() { return exported_path("errors"); }

void write(const Function& f, const ExportOptions& options = {}) {
  export_program(Code(f), {ones({4, 3}), ones({4, 3})}, path(), options);
}

ExportOptions batch() {
  return ExportOptions().dynamic(0, 0, "batch", 2).dynamic(1, 0, "batch");
}

#define EXPECT_REFUSED(text, ...) \
  SY_EXPECT_ERROR(write(__VA_ARGS__), ValueError, text)

TEST(ExportErrors, OfElements) {
  EXPECT_REFUSED("aten::item in Code reads elements",
                 [](const Tensor& x, const Tensor& y) {
                   return x.sum().item<double>() > 0 ? x : y;
                 });
  EXPECT_REFUSED("reads elements of a value by their address",
                 [](const Tensor& x, const Tensor& y) {
                   return x.data_ptr<float>()[0] > 0 ? x : y;
                 });
  EXPECT_REFUSED(
      "aten::equal in Code reads elements",
      [](const Tensor& x, const Tensor& y) { return equal(x, y) ? x : y; });
  // Those of constants are facts.
  write([](const Tensor& x, const Tensor& y) {
    return x * tensor({2.0f}).item<float>() + y;
  });
}

TEST(ExportErrors, OfSizesThatDependOnElements) {
  EXPECT_REFUSED(
      "aten::nonzero in Code gives sizes that depend on elements",
      [](const Tensor& x, const Tensor& y) { return x.nonzero() + y.size(0); });
  EXPECT_REFUSED(
      "aten::index.Tensor in Code gives sizes",
      [](const Tensor& x, const Tensor& y) { return x.index({y.gt(0)}); });
  EXPECT_REFUSED("aten::masked_select in Code gives sizes",
                 [](const Tensor& x, const Tensor& y) {
                   return x.masked_select(y.gt(0));
                 });
}

TEST(ExportErrors, AreToldAtOnceWithTheirModules) {
  const auto f = [](const Tensor& x, const Tensor& y) {
    return x.masked_select(y.gt(0)).sum() * y.max().item<float>();
  };
  nn::ModuleHolder<OuterImpl> outer(f);
  try {
    export_program(outer, {ones({2}), ones({2})}, path());
    ADD_FAILURE() << "did not throw";
  } catch (const ValueError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("aten::masked_select in 'inner' (Code)"), text.npos)
        << text;
    EXPECT_NE(text.find("aten::item in 'inner' (Code)"), text.npos);
  }
}

TEST(ExportErrors, OfOperatorsThatPythonDoesNotHave) {
  const auto op = Dispatcher::singleton()
                      .find_or_throw("exporttest::twice")
                      .typed<Tensor(const Tensor&)>();
  const auto f = [&](const Tensor& x, const Tensor& y) {
    return op.call(x) + y;
  };
  EXPECT_REFUSED("exporttest::twice in Code is no operator of PyTorch", f);
  // Unless the caller says so.
  ExportOptions options;
  options.namespaces = {"exporttest"};
  write(f, options);
  EXPECT_EQ(load_program(path())(ones({4, 3}), ones({4, 3}))
                .to_tensor()[0][0]
                .item<float>(),
            3);
}

TEST(ExportErrors, OfTensorsThatAreWritten) {
  Tensor outer = ones({3});
  EXPECT_REFUSED(
      "neither a parameter, nor a buffer, nor an input",
      [&](const Tensor& x, const Tensor& y) { return outer.add_(1) + x + y; });
  EXPECT_EQ(outer[0].item<float>(), 1);  // as it was
  Code code{Function()};
  code->f = [&](const Tensor& x, const Tensor& y) {
    return code->buffer.resize_({5}).sum() + x + y;
  };
  SY_EXPECT_ERROR(export_program(code, {ones({4, 3}), ones({4, 3})}, path()),
                  ValueError, "aten::resize_ in Code changes sizes");
}

TEST(ExportErrors, OfFormulas) {
  EXPECT_REFUSED(
      "aten::narrow in Code: batch 4: 2; batch 5: 3",
      [](const Tensor& x, const Tensor& y) {
        const auto bits = [](int64_t n) {
          return int64_t(64 - __builtin_clzll(size_t(n)));
        };
        return x.narrow(0, 0, bits(x.size(0)) - 1 + x.size(0) % 2) + y.sum();
      },
      batch());
  EXPECT_REFUSED(
      "expected the same calls for all sizes, got aten::add",
      [](const Tensor& x, const Tensor& y) {
        return x.size(0) == 4 ? x + y : x * y;
      },
      batch());
  EXPECT_REFUSED(
      "expected constants that do not depend on sizes",
      [](const Tensor& x, const Tensor& y) {
        const auto n = float(x.size(0));
        return x * tensor({n, n * n, 1.0f}) + y;
      },
      batch());
  EXPECT_REFUSED(
      "is neither a formula",
      [](const Tensor& x, const Tensor& y) {
        return x * std::sqrt(double(x.size(0))) + y;
      },
      batch());
  // The least of two sizes: each is one only in a part of the range.
  EXPECT_REFUSED(
      "aten::narrow in Code",
      [](const Tensor& x, const Tensor& y) {
        return x.narrow(0, 0, std::min<int64_t>(x.size(0), 40)) + y.sum();
      },
      ExportOptions().dynamic(0, 0, "batch", 2, 100).dynamic(1, 0, "batch"));
  // A branch that no size in the range takes is none.
  write([](const Tensor& x,
           const Tensor& y) { return x.size(0) > 1 ? x + y : x * y; },
        batch());
}

TEST(ExportErrors, OfSizesThatTheModuleRefuses) {
  // The last dims are one size only if the example's are.
  SY_EXPECT_ERROR(write([](const Tensor& x, const Tensor& y) { return x + y; },
                        ExportOptions().dynamic(0, 0, "batch")),
                  ValueError, "in export_program, for batch 5");
}

TEST(ExportErrors, OfOptions) {
  const auto f = [](const Tensor& x, const Tensor& y) { return x + y; };
  EXPECT_REFUSED("arguments: expected 2 names, got 1", f,
                 ExportOptions().arguments({"x"}));
  EXPECT_REFUSED("each once, got 'x'", f,
                 ExportOptions().arguments({"x", "x"}));
  EXPECT_REFUSED("got '2x'", f, ExportOptions().arguments({"2x", "y"}));
  EXPECT_REFUSED("got 'for'", f, ExportOptions().arguments({"for", "y"}));
  EXPECT_REFUSED("keywords: expected at most 2, got 3", f,
                 ExportOptions().arguments({"x", "y"}, 3));
  SY_EXPECT_ERROR(write(f, ExportOptions().dynamic(2, 0, "n")), IndexError,
                  "expected an input below 2, got 2");
  SY_EXPECT_ERROR(write(f, ExportOptions().dynamic(0, 2, "n")), IndexError,
                  "expected a dim of input 0");
  EXPECT_REFUSED("n: expected a range that the example is in", f,
                 ExportOptions().dynamic(0, 0, "n", 5, 8));
  EXPECT_REFUSED("n: expected one size in the example, got 4 and 3", f,
                 ExportOptions().dynamic(0, 0, "n").dynamic(1, 1, "n"));
  ExportOptions slash;
  slash.model = "a/b";
  EXPECT_REFUSED("model: expected a name without slashes", f, slash);
}

TEST(ExportErrors, OfInputs) {
  const Code code([](const Tensor& x, const Tensor& y) { return x + y; });
  const Tensor x = ones({2});
  SY_EXPECT_ERROR(export_program(code, {x}, path()), ValueError,
                  "as many tensors as the module's forward takes, at most 8, "
                  "got 1");
  SY_EXPECT_ERROR(export_program(code, {x, x, x}, path()), ValueError, "got 3");
  SY_EXPECT_ERROR(export_program(code, {x, Tensor()}, path()), TypeError, "");
  SY_EXPECT_ERROR(export_program(code, {x.to("meta"), x.to("meta")}, path()),
                  ValueError, "input 0: expected a tensor on cpu or cuda");
  const nn::Linear none = nullptr;
  SY_EXPECT_ERROR(export_program(none, {x}, path()), ValueError, "empty");
}

TEST(ExportErrors, OfModules) {
  SY_EXPECT_ERROR(
      export_program(nn::LazyLinear(4), {ones({2, 3})}, path()), ValueError,
      "weight: its sizes change in the call, from [4, 1] to [4, 3]: "
      "call a lazy module once before");
  Code code([](const Tensor& x, const Tensor& y) { return x + y; });
  code->register_buffer("half", ones({2}));
  SY_EXPECT_ERROR(export_program(code, {ones({2}), ones({2})}, path()),
                  ValueError, "half: Python's modules have");
  const nn::Sequential nested({{"code", nn::Linear(2, 2)}});
  SY_EXPECT_ERROR(export_program(nested, {ones({2})}, path()), ValueError,
                  "code.weight: Python's modules have");
}

class WordsImpl : public nn::Module {
 public:
  std::string forward(const Tensor&) { return "word"; }
};
SY_MODULE(Words);

TEST(ExportErrors, OfResults) {
  SY_EXPECT_ERROR(export_program(Words(), {ones({2})}, path()), ValueError,
                  "a result is a string");
}

TEST(ExportErrors, OfThePath) {
  const nn::Linear linear(3, 2);
  SY_EXPECT_ERROR(
      export_program(linear, {ones({3})}, path() + ".none/model.pt2"),
      FileError, ".none/model.pt2");
  // Nothing is left of a file that failed.
  std::filesystem::remove(path());
  EXPECT_REFUSED("reads elements", [](const Tensor& x, const Tensor&) {
    return x * x.max().item<float>();
  });
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST(ExportErrors, LeaveTheModuleAsItWas) {
  Code code{Function()};
  code->f = [&](const Tensor& x, const Tensor& y) {
    code->buffer.add_(1);
    return x * y.sum().item<float>();
  };
  SY_EXPECT_ERROR(export_program(code, {ones({3}), ones({3})}, path()),
                  ValueError, "reads elements");
  EXPECT_EQ(code->buffer[0].item<float>(), 1);
  EXPECT_TRUE(code->is_training());
  // And the thread: nothing is recorded any more.
  EXPECT_EQ(code(ones({3}), ones({3}))[0].item<float>(), 3);
}

}  // namespace
}  // namespace sy::test

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/commands.h"

// Code generated for projects outside the tree: backends that list the
// operators they support, and libraries of operators of their own.

namespace sy::codegen {
namespace {

class Outside : public ::testing::Test {
 protected:
  std::string path(const std::string& name) {
    return ::testing::TempDir() + name;
  }
  std::string read(const std::string& name) {
    std::ifstream in(path(name));
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }
  // The errors of a run that makes NAME.h and NAME.cpp of `yaml`.
  std::string make(const std::string& kind, const std::string& yaml,
                   const std::string& base) {
    std::ofstream(path("x.yaml")) << yaml;
    EmitOptions options;
    options.kind = kind;
    options.inputs = {path("x.yaml")};
    for (const auto& e : std::filesystem::directory_iterator("schemas/ops")) {
      options.extra.push_back(e.path().string());
    }
    for (const char* b : {"cpu", "meta"}) {
      options.extra.push_back(std::string("backends/") + b + "/backend.yaml");
    }
    options.outs = {path(base + ".h"), path(base + ".cpp")};
    std::ostringstream err;
    status_ = emit(options, err);
    std::string all = err.str();
    for (std::size_t at; (at = all.find(path(""))) != std::string::npos;) {
      all.erase(at, path("").size());
    }
    // The lines with carets are for people.
    std::istringstream lines(all);
    std::string out;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  ")) out += line + '\n';
    }
    return out;
  }
  void expect_has(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n"
                                                  << text;
  }

  int status_ = 0;
};

TEST_F(Outside, APluginTakesNoKeyOfTheLibrary) {
  const std::string rest = "\ncpp_namespace: npu\nsupported: [add.Tensor]\n";
  for (const char* key : {"CPU", "Meta"}) {
    EXPECT_EQ(make("backend", "backend: " + std::string(key) + rest, "k"),
              "x.yaml:1:10: error: the library itself has the kernels of '" +
                  std::string(key) + "'; a plugin needs a key of its own\n");
  }
  for (const char* key :
       {"AutogradCPU", "CompositeExplicitAutograd", "Batched"}) {
    EXPECT_EQ(make("backend", "backend: " + std::string(key) + rest, "k"),
              "x.yaml:1:10: error: '" + std::string(key) +
                  "' is no key of a backend\n");
  }
  EXPECT_EQ(make("backend",
                 "backend: Npu\ncpp_namespace: my npu\n"
                 "supported: [add.Tensor]\n",
                 "k"),
            "x.yaml:2:16: error: 'my npu' is no name of a C++ namespace\n");
}

TEST_F(Outside, ABaseNameNamesItsOverloads) {
  EXPECT_EQ(make("backend",
                 "backend: Npu\ncpp_namespace: npu\nsupported: [add]\n", "k"),
            "x.yaml:3:13: error: unknown operator 'add' (its overloads are "
            "'add.Scalar', 'add.Scalar_out', 'add.Tensor', 'add.out')\n");
}

// The library of its own that a list of operators is made of.
TEST_F(Outside, ForeachOfAnOwnOperatorHasItsInPlaceForm) {
  EXPECT_EQ(make("library",
                 "- func: mine::twice(Tensor self) -> Tensor\n"
                 "  doc: d\n  pointwise: self * 2\n\n"
                 "- func: mine::each(Tensor[] self) -> Tensor[]\n"
                 "  doc: d\n  foreach: twice(self)\n",
                 "x"),
            "");
  expect_has(read("x.cpp"), "sy::mine::twice_(each");
}

TEST_F(Outside, BackendDeclaresAndRegistersWhatItSupports) {
  EXPECT_EQ(make("backend",
                 "backend: Npu\ncpp_namespace: npu\n"
                 "supported: [add.Tensor, sum.dim_IntList, relu_]\n",
                 "npu_kernels"),
            "");
  const std::string header = read("npu_kernels.h");
  expect_has(header,
             "sy::Tensor add_Tensor(const sy::Tensor& self, const sy::Tensor& "
             "other,\n                      const sy::Scalar& alpha);");
  expect_has(header, "sy::Tensor& relu_(sy::Tensor& self);");
  expect_has(header, "sy::OptionalIntArrayRef dim");
  const std::string source = read("npu_kernels.cpp");
  expect_has(source, "#include \"npu_kernels.h\"");
  expect_has(source, "SY_LIBRARY_IMPL(aten, Npu, m) {");
  expect_has(source,
             "  m.impl(\"sum.dim_IntList\", SY_FN(npu::sum_dim_IntList));");
  expect_has(source, "SY_LIBRARY_IMPL(_, Npu, m) {");
}

TEST_F(Outside, BackendSaysWhatItsKernelsTake) {
  EXPECT_EQ(make("backend",
                 "backend: Npu\ncpp_namespace: npu\nsupported: [mm]\n"
                 "dtypes: [float32, bool]\nlayouts: [contiguous]\n",
                 "npu_kernels"),
            "");
  const std::string source = read("npu_kernels.cpp");
  expect_has(source,
             "constexpr sy::BackendClaims kClaims{1u << 6 | 1u << 8, false};");
  expect_has(source,
             "m.impl(\"mm\", SY_FN((*sy::claimed<&npu::mm, kClaims, "
             "k_aten_mm>)));");
  expect_has(source, "\"float32 bool\",\n    \"contiguous\",\n");
  EXPECT_EQ(make("backend",
                 "backend: Npu\ncpp_namespace: npu\nsupported: [mm]\n"
                 "dtypes: [flaot32]\nlayouts: [dense]\n",
                 "x"),
            "x.yaml:4:10: error: unknown dtype 'flaot32' (did you mean "
            "'float32'?)\n"
            "x.yaml:5:11: error: unknown layout 'dense'\n");
}

TEST_F(Outside, OneKernelMayTakeOthers) {
  EXPECT_EQ(make("backend",
                 "backend: Npu\ncpp_namespace: npu\ndtypes: [float32]\n"
                 "supported:\n  - relu\n  - mm: {dtypes: [float64, bool]}\n"
                 "  - add.Tensor: {layouts: [contiguous]}\n",
                 "npu_kernels"),
            "");
  const std::string source = read("npu_kernels.cpp");
  expect_has(source, "kClaims{1u << 6, true};");
  expect_has(source, "kClaims_aten_mm{1u << 7 | 1u << 8, true};");
  expect_has(source, "kClaims_aten_add_Tensor{1u << 6, false};");
  expect_has(source, "claimed<&npu::relu, kClaims, k_aten_relu>");
  expect_has(source, "claimed<&npu::mm, kClaims_aten_mm, k_aten_mm>");
  expect_has(source, "\"aten::relu\",\n");
  expect_has(source, "\"aten::mm float64,bool strided\",\n");
  expect_has(source, "\"aten::add.Tensor float32 contiguous\",\n");
}

TEST_F(Outside, ClaimsOfOneKernelAlone) {
  EXPECT_EQ(make("backend",
                 "backend: Npu\ncpp_namespace: npu\n"
                 "supported: [relu, mm: {layouts: [contiguous]}]\n",
                 "npu_kernels"),
            "");
  const std::string source = read("npu_kernels.cpp");
  expect_has(source, "kClaims_aten_mm{~0u, false};");
  expect_has(source, "m.impl(\"relu\", SY_FN(npu::relu));");
  expect_has(source, "\"aten::mm all contiguous\",\n");
}

TEST_F(Outside, WrongClaimsOfOneKernel) {
  EXPECT_EQ(make("backend",
                 "backend: Npu\ncpp_namespace: npu\nsupported:\n"
                 "  - mm: {dtype: [float32]}\n"
                 "  - relu: float32\n"
                 "  - tnah: {dtypes: [flaot32]}\n",
                 "x"),
            "x.yaml:4:10: error: unknown key 'dtype' in a kernel (did you "
            "mean 'dtypes'?)\n"
            "x.yaml:5:5: error: 'relu:' has 'dtypes:' and 'layouts:'\n"
            "x.yaml:6:5: error: unknown operator 'tnah' (did you mean "
            "'tanh'?)\n"
            "x.yaml:6:21: error: unknown dtype 'flaot32' (did you mean "
            "'float32'?)\n");
}

// The keys that torch_xla's file has beyond ours.
TEST_F(Outside, BackendFileOfTorchXla) {
  EXPECT_EQ(make("backend",
                 "backend: Npu\n"
                 "cpp_namespace: torch_npu\n"
                 "class_name: NPUNativeFunctions\n"
                 "full_codegen:\n  - relu\n"
                 "ir_gen:\n  - selu\n"
                 "supported:\n  - add.Tensor\n"
                 "symint:\n  - add.Tensor\n"
                 "autograd:\n  - mm\n"
                 "non_native:\n"
                 "  - func: scalar(Scalar value, ScalarType type) -> Tensor\n"
                 "    opkind: at::prim::Constant\n",
                 "npu_kernels"),
            "");
  expect_has(read("npu_kernels.h"), "sy::Tensor mm(const sy::Tensor& self,");
  const std::string source = read("npu_kernels.cpp");
  expect_has(source,
             "SY_LIBRARY_IMPL(aten, Npu, m) {\n"
             "  m.impl(\"add.Tensor\", SY_FN(torch_npu::add_Tensor));\n"
             "  m.impl(\"relu\", SY_FN(torch_npu::relu));\n}");
  expect_has(source,
             "SY_LIBRARY_IMPL(aten, AutogradNpu, m) {\n"
             "  m.impl(\"mm\", SY_FN(torch_npu::mm));\n}");
  EXPECT_EQ(make("backend",
                 "backend: Npu\ncpp_namespace: npu\nsupported: [mm]\n"
                 "autograd: [mm]\n",
                 "npu_kernels"),
            "x.yaml:4:12: error: 'mm' is listed twice\n");
}

TEST_F(Outside, BackendsMistakesAreReportedAtOnce) {
  EXPECT_EQ(make("backend",
                 "backend: Npu\n"
                 "suported: []\n"
                 "supported:\n"
                 "  - add.Tensr\n"
                 "  - relu\n"
                 "  - relu\n",
                 "npu_kernels"),
            "x.yaml:1:1: error: a backend needs 'cpp_namespace:'\n"
            "x.yaml:2:1: error: unknown key 'suported' in a backend (did you "
            "mean 'supported'?)\n"
            "x.yaml:4:5: error: unknown operator 'add.Tensr' (did you mean "
            "'add.Tensor'?)\n"
            "x.yaml:6:5: error: 'relu' is listed twice\n");
  EXPECT_EQ(status_, 1);
}

TEST_F(Outside, LibraryIsOneHeaderAndOneSource) {
  EXPECT_EQ(make("library",
                 "- func: mine::twice(Tensor self) -> Tensor\n"
                 "  doc: Two times self.\n"
                 "  pointwise: self + self\n"
                 "  derivative: {self: auto}\n",
                 "x"),
            "");
  const std::string header = read("x.h");
  expect_has(header, "namespace sy::mine {");
  expect_has(header, "SY_API Tensor twice(const Tensor& self);");
  expect_has(header, "SY_API Tensor& twice_out(Tensor& out, const Tensor& ");
  const std::string source = read("x.cpp");
  expect_has(source, "SY_LIBRARY(mine, m) {");
  for (const char* key : {"CPU", "Meta", "Autograd"}) {
    expect_has(source, std::string("SY_LIBRARY_IMPL(mine, ") + key + ", m) {");
  }
  expect_has(source, "char* name = \"mine::twice\";");
  EXPECT_EQ(source.find("(aten, "), std::string::npos);
  EXPECT_EQ(source.find("#include \"aten/ops/x"), std::string::npos);
}

TEST_F(Outside, LibraryHasOneNamespaceAndNoMethods) {
  EXPECT_EQ(make("library",
                 "- func: mine::a(Tensor self) -> Tensor\n"
                 "  variants: function, method\n"
                 "  pointwise: self + self\n"
                 "- func: yours::b(Tensor self) -> Tensor\n"
                 "  pointwise: self + self\n",
                 "x"),
            "x.yaml:1:9: error: only operators of aten can be methods of "
            "Tensor: leave out 'variants: method'\n"
            "x.yaml:4:9: error: operators of one file share a namespace: "
            "expected 'mine', got 'yours'\n");
  EXPECT_EQ(status_, 1);
}

}  // namespace
}  // namespace sy::codegen

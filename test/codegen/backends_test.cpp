#include "model/backends.h"
#include "codegen/model_names.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/commands.h"
#include "model/model.h"

// Descriptions of backends in the tree: what is wrong with them, and what is
// generated of them. outside_test.cpp has those of plugins.

namespace sy::codegen {
namespace {

std::string errors_of(const std::string& yaml) {
  lang::Diagnostics d;
  read_backend(yaml, "x/backend.yaml", d);
  return d.str();
}

TEST(Backends, ADescriptionIsRead) {
  lang::Diagnostics d;
  const Backend b = read_backend(
      "backend: Npu\ncpp_namespace: sy::npu\n"
      "device: {name: npu, interface: devices}\n"
      "engines: [reduce]\nstructured: sizes\nfallback: none\n"
      "supported: [relu]\n",
      "a/b/backend.yaml", d);
  EXPECT_EQ(d.str(), "");
  EXPECT_EQ(b.key.str(), "Npu");
  EXPECT_EQ(b.inner_namespace(), "npu");
  EXPECT_EQ(b.folder, "a/b");
  EXPECT_EQ(b.device.str(), "npu");
  EXPECT_EQ(b.interface.str(), "devices");
  EXPECT_TRUE(b.has_engine(EngineKind::kReduce));
  EXPECT_FALSE(b.has_engine(EngineKind::kPointwise));
  EXPECT_FALSE(b.fills);
  EXPECT_FALSE(b.falls_back);
  EXPECT_TRUE(b.names("relu"));
  EXPECT_FALSE(b.names("mm"));
  EXPECT_FALSE(b.plugin);
}

TEST(Backends, ADescriptionSaysWhetherItIsOfAPlugin) {
  lang::Diagnostics d;
  const Backend b = read_backend(
      "backend: Npu\nplugin: true\ncpp_namespace: npu\nsupported: []\n",
      "a/b/backend.yaml", d);
  EXPECT_EQ(d.str(), "");
  EXPECT_TRUE(b.plugin);
  EXPECT_EQ(errors_of("backend: Npu\nplugin: yes\ncpp_namespace: npu\n"
                      "supported: []\n"),
            "x/backend.yaml:2:9: error: unknown plugin 'yes'");
}

TEST(Backends, EveryMistakeIsReported) {
  EXPECT_EQ(errors_of("backend: 3D\n"
                      "cpp_namespace: sy:npu\n"
                      "device: the npu\n"
                      "enginess: {}\n"
                      "engines: [pointwis, reduce]\n"
                      "structured: filled\n"
                      "fallback: CPU\n"),
            "x/backend.yaml:1:10: error: '3D' is no name of a dispatch key\n"
            "x/backend.yaml:2:16: error: 'sy:npu' is no name of a C++ "
            "namespace\n"
            "x/backend.yaml:3:9: error: 'the npu' is no name of devices\n"
            "x/backend.yaml:4:1: error: unknown key 'enginess' in a backend "
            "(did you mean 'engines'?)\n"
            "x/backend.yaml:5:11: error: unknown engine 'pointwis' (did you "
            "mean 'pointwise'?)\n"
            "x/backend.yaml:6:13: error: unknown structured 'filled' (did you "
            "mean 'fill'?)\n"
            "x/backend.yaml:7:11: error: unknown fallback 'CPU' (did you "
            "mean 'cpu'?)");
}

TEST(Backends, WhatADescriptionNeeds) {
  EXPECT_EQ(errors_of("device: npu\n"),
            "x/backend.yaml:1:1: error: a backend needs 'backend:'\n"
            "x/backend.yaml:1:1: error: a backend needs 'cpp_namespace:'\n"
            "x/backend.yaml:1:1: error: a backend needs 'supported:'");
  EXPECT_EQ(errors_of("backend: Npu\ncpp_namespace: npu\n"
                      "device: {nme: npu}\nengines: [scan]\n"),
            "x/backend.yaml:2:16: error: engines lie in a namespace of sy: "
            "expected 'sy::npu'\n"
            "x/backend.yaml:3:9: error: 'device' needs 'name:'\n"
            "x/backend.yaml:3:10: error: unknown key 'nme' in 'device' (did "
            "you mean 'name'?)");
}

// Runs over a folder of its own, with the schemas of the repository.
class EmitBackend : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "backends/x/";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  std::string read(const std::string& name) {
    std::ifstream in(folder_ + name);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }
  // The errors of a run that makes `outs`, without the lines that carets are
  // in.
  std::string make(const std::string& yaml, const std::string& input,
                   const std::vector<std::string>& outs,
                   bool per_family = false) {
    std::ofstream(folder_ + "backend.yaml") << yaml;
    EmitOptions options;
    options.kind = "backend";
    options.backend = folder_ + "backend.yaml";
    options.per_family = per_family;
    if (!input.empty()) options.inputs = {input};
    options.extra = {"backends/cpu/backend.yaml", "backends/meta/backend.yaml"};
    for (const auto& e : std::filesystem::directory_iterator("schemas/ops")) {
      if (e.path() != input) options.extra.push_back(e.path().string());
    }
    for (const std::string& out : outs) options.outs.push_back(folder_ + out);
    std::ostringstream err;
    emit(options, err);
    std::istringstream lines(err.str());
    std::string out;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  ")) out += line + '\n';
    }
    return out;
  }
  static void expect_has(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n"
                                                  << text;
  }

  std::string folder_;
};

constexpr const char* kSmall =
    "backend: Third\ncpp_namespace: third\n"
    "device: {name: third, interface: devices}\n"
    "supported: [relu, add.Tensor]\n";

TEST_F(EmitBackend, DeclaresAndRegistersWhatItLists) {
  EXPECT_EQ(make(kSmall, "", {"backend_gen.h", "backend_gen.cpp"}), "");
  const std::string header = read("backend_gen.h");
  expect_has(header, "sy::DeviceInterface& devices();");
  expect_has(header, "sy::Tensor relu(const sy::Tensor& self);");
  const std::string source = read("backend_gen.cpp");
  expect_has(source, "#include \"backends/x/backend_gen.h\"\n");
  expect_has(source,
             "SY_BACKEND(Third, m) {\n"
             "  m.device(\"third\", &third::devices());\n}");
  expect_has(source, "m.impl(\"relu\", SY_FN(third::relu));");
  expect_has(source, "m.fallback(sy::Kernel::from_boxed(&sy::cpu_fallback));");
  // Only what load_library loads says what it claims.
  EXPECT_EQ(source.find("switchyard_backend_claims"), std::string::npos);
  EXPECT_EQ(source.find("kEngines"), std::string::npos);
}

constexpr const char* kEngines =
    "backend: Third\ncpp_namespace: sy::third\nfallback: none\n"
    "engines: [pointwise, view]\n"
    "supported: [relu]\n";

TEST_F(EmitBackend, EnginesRunAllOperatorsOfAKind) {
  EXPECT_EQ(make(kEngines, "", {"backend_gen.h", "backend_gen.cpp"}), "");
  const std::string header = read("backend_gen.h");
  expect_has(header,
             "struct SY_API PointwiseWays;\n"
             "void view(const Kernel& kernel, ");
  expect_has(header,
             "extern template struct "
             "sy::PointwiseCalls<sy::third::PointwiseWays>;\n");
  expect_has(header,
             "inline constexpr BackendEngines kEngines{&kPointwise, nullptr, "
             "nullptr};");
  const std::string source = read("backend_gen.cpp");
  expect_has(source, "  m.service(sy::BackendService::kEngines,");
  expect_has(source,
             "  sy::register_engine_kernels(m, sy::third::kEngines, kListed);");
  // Listed, and so written by hand.
  expect_has(source, "m.impl(\"relu\", SY_FN(sy::third::relu));");
  expect_has(source, "constexpr const char* kListed[] = {\"relu\"};");
  expect_has(source, "m.impl(\"select.int\", Kernel::from_boxed(&view));");
  EXPECT_EQ(source.find("reduce("), std::string::npos);
  EXPECT_EQ(source.find("m.fallback("), std::string::npos);
}

TEST_F(EmitBackend, DirectCallsInFilesOfFamilies) {
  const std::string direct = std::string(kEngines) + "engine_calls: direct\n";
  EXPECT_EQ(make(direct, "", {"backend_gen.h", "backend_gen.cpp"}, true), "");
  EXPECT_EQ(read("backend_gen.cpp").find("register_engine_kernels"),
            std::string::npos);
  EXPECT_EQ(make(direct, "schemas/ops/activation.yaml",
                 {"activation_gen.cpp", "activation_kernels_gen.h"}),
            "");
  const std::string source = read("activation_gen.cpp");
  expect_has(source, "#include \"aten/ops/activation_engine_kernels.h\"\n");
  expect_has(source, "#include \"backends/x/activation_kernels_gen.h\"\n");
  expect_has(source, "SY_LIBRARY_IMPL(aten, Third, m) {");
  expect_has(source, "constexpr const char* kListed[] = {\"relu\"};");
  expect_has(source,
             "  engine_kernels::add_activation<KnownEngines<kEngines>>("
             "kernels);");
}

TEST_F(EmitBackend, MistakesAreReported) {
  EXPECT_EQ(make("backend: Third\ncpp_namespace: third\n"
                 "supported: [rellu, relu, relu]\n",
                 "", {"backend_gen.h", "backend_gen.cpp"}),
            "backends/x/backend.yaml:3:13: error: unknown operator 'rellu' "
            "(did you mean 'relu'?)\n"
            "backends/x/backend.yaml:3:26: error: 'relu' is listed twice\n");
  EXPECT_EQ(make("backend: CPU\ncpp_namespace: third\nsupported: [relu]\n", "",
                 {"backend_gen.h", "backend_gen.cpp"}),
            "backends/x/backend.yaml:1:10: error: two backends have the key "
            "'CPU'; the first is at backends/cpu/backend.yaml:3:10\n");
}

TEST(Backends, CheckLooksUpWhatADescriptionLists) {
  const std::string path = ::testing::TempDir() + "npu.yaml";
  std::ofstream(path) << "backend: Npu\ncpp_namespace: npu\n"
                         "dtypes: [float32]\nsupported: [mul.Tensr]\n";
  std::ostringstream err;
  EXPECT_EQ(check_files({path}, {"test/codegen/testdata/sample.yaml"}, err), 1);
  EXPECT_NE(
      err.str().find(":4:13: error: unknown operator 'mul.Tensr' (did you "
                     "mean 'mul.Tensor'?)\n"),
      std::string::npos)
      << err.str();
}

TEST(Backends, KeysOfDispatchAreThoseDescribed) {
  const auto errors = [](std::vector<SourceText> files) {
    files.push_back({"x.yaml",
                     "- func: f(Tensor x) -> Tensor\n"
                     "  shape: x.sizes()\n"
                     "  dispatch: {Npu: f_out}\n"
                     "  derivative: {x: grad}\n"});
    lang::Diagnostics d;
    Model::load(std::move(files), d);
    return d.str();
  };
  const SourceText npu = {"backends/npu/backend.yaml",
                          "backend: Npu\ncpp_namespace: npu\nsupported: []\n"};
  const SourceText gpu = {"backends/gpu/backend.yaml",
                          "backend: Gpu\ncpp_namespace: gpu\nsupported: []\n"};
  EXPECT_EQ(errors({npu, gpu}), "");
  EXPECT_EQ(errors({gpu}),
            "x.yaml:3:14: error: unknown dispatch key 'Npu' (did you mean "
            "'Gpu'?)");
  // Nobody said which there are.
  EXPECT_EQ(errors({}), "");
  SourceText listed = npu;
  listed.text = "backend: Npu\ncpp_namespace: npu\nsupported: [f]\n";
  lang::Diagnostics d;
  const Model model = Model::load({{"x.yaml",
                                    "- func: f(Tensor x) -> Tensor\n"
                                    "  shape: x.sizes()\n"
                                    "  dispatch: {Npu: f_out}\n"
                                    "  derivative: {x: grad}\n"},
                                   listed},
                                  d);
  named_kernels(model, model.backends()[0], d);
  EXPECT_EQ(d.str(),
            "backends/npu/backend.yaml:3:13: error: 'f' has a kernel under "
            "'dispatch:' too: x.yaml:1");
}

}  // namespace
}  // namespace sy::codegen

#include "tools/sy/model/model.h"

#include <gtest/gtest.h>
#include <sy/io.h>
#include <sy/sy.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "c10/process/error.h"
#include "tools/sy/support/json.h"

// `sy model`: what it says of exported programs, and their results on each
// device beside those that Python recorded. The models vary; one call is made
// of each, with the inputs of the record.

namespace sy::tools {
namespace {

const std::string kFolder = "test/frontend/export/testdata/";

template <class F>
std::string said(F&& f) {
  ::testing::internal::CaptureStdout();
  f();
  return ::testing::internal::GetCapturedStdout();
}

Json facts_of(const std::string& name) {
  ModelOptions options;
  options.file = kFolder + name + ".pt2";
  options.json = true;
  return parse_json(said([&] { EXPECT_EQ(describe_model(options), 0); }), name);
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Model, SaysWhatAProgramTakesHasAndComputes) {
  const Json facts = facts_of("bert");
  ASSERT_FALSE(facts["inputs"].empty());
  EXPECT_NE(facts["inputs"][0].get<std::string>().find("int64["),
            std::string::npos);
  EXPECT_FALSE(facts["outputs"].empty());
  EXPECT_TRUE(facts["missing"].empty());
  int64_t calls = 0;
  for (const auto& [name, count] : facts["operators"].items()) {
    calls += count.get<int64_t>();
  }
  EXPECT_GT(calls, 20);
  EXPECT_GT(facts["operators"]["aten::linear"], 0);
  const NamedTensors recorded = load_safetensors(kFolder + "bert.safetensors");
  size_t parameters = 0;
  for (const Json& held : facts["tensors"]) {
    parameters += held["kind"] == "parameter";
  }
  size_t gradients = 0;
  for (const auto& [key, tensor] : recorded) {
    gradients += key.starts_with("grad.");
  }
  EXPECT_GE(parameters, gradients);
  EXPECT_GT(gradients, 0u);
}

TEST(Model, TextNamesInputsTensorsAndOperators) {
  ModelOptions options;
  options.file = kFolder + "vit.pt2";
  const std::string text = said([&] { EXPECT_EQ(describe_model(options), 0); });
  for (const char* part : {"inputs\n", "results\n", "parameters", "FLOPs",
                           "memory", "aten::linear"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Model, MemoryIsThatOfValuesThatLiveAtOnce) {
  const Json facts = facts_of("vit");
  // Less than all values that it computes, and no less than its results.
  EXPECT_GT(facts["peak_bytes"].get<int64_t>(), 0);
}

TEST(Model, PicturesFoldBlocksThatRepeat) {
  ModelOptions options;
  options.file = kFolder + "bert.pt2";
  options.picture = ::testing::TempDir() + "bert.dot";
  said([&] { EXPECT_EQ(describe_model(options), 0); });
  const std::string dot = text_of(options.picture);
  EXPECT_NE(dot.find("digraph"), std::string::npos);
  EXPECT_NE(dot.find("linear"), std::string::npos);
}

struct ModelRun {
  const char* model;
  const char* device;
  bool compiled;
};

class RunsAs : public testing::TestWithParam<ModelRun> {};

double furthest(const Tensor& got, const Tensor& expected) {
  const Tensor a = got.to(kDouble), b = expected.to(kDouble);
  const double most = std::max(b.abs().max().item<double>(), 1e-3);
  return a.sub(b).abs().max().item<double>() / most;
}

TEST_P(RunsAs, PythonDoes) {
  const ModelRun& p = GetParam();
  const std::string record = kFolder + p.model + ".safetensors";
  const NamedTensors recorded = load_safetensors(record);
  NamedTensors inputs;
  for (const auto& [key, tensor] : recorded) {
    if (key.starts_with("input.")) inputs.insert(key, tensor);
  }
  const std::string base = ::testing::TempDir() + p.model + p.device;
  save_safetensors(base + ".in", inputs);
  ModelOptions options;
  options.file = kFolder + p.model + ".pt2";
  ModelRunOptions run;
  run.inputs = base + ".in";
  run.outputs = base + ".out";
  run.gradients = base + ".grad";
  run.device = p.device;
  run.compiled = p.compiled;
  said([&] { EXPECT_EQ(run_model(options, run), 0); });
  const NamedTensors outputs = load_safetensors(run.outputs);
  size_t compared = 0;
  for (const auto& [key, expected] : recorded) {
    if (!key.starts_with("output.")) continue;
    const Tensor* const got = outputs.find(key);
    ASSERT_NE(got, nullptr) << key;
    EXPECT_LE(furthest(*got, expected), 1e-5) << key;
    ++compared;
  }
  EXPECT_EQ(compared, outputs.size());
  const NamedTensors gradients = load_safetensors(run.gradients);
  for (const auto& [key, unused] : recorded) {
    if (!key.starts_with("grad.")) continue;
    EXPECT_NE(gradients.find(key.substr(5)), nullptr) << key;
  }
  // The record has those of another function of the outputs.
  run.device = "cpu";
  run.compiled = false;
  run.gradients = base + ".eager";
  said([&] { EXPECT_EQ(run_model(options, run), 0); });
  for (const auto& [key, expected] : load_safetensors(run.gradients)) {
    const Tensor* const got = gradients.find(key);
    ASSERT_NE(got, nullptr) << key;
    EXPECT_LE(furthest(*got, expected), 1e-5) << key;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, RunsAs,
    testing::Values(
        ModelRun{"bert", "cpu", false}, ModelRun{"bert", "cpu", true},
        ModelRun{"bert", "lazy", false}, ModelRun{"vit", "cpu", true},
        ModelRun{"vit", "lazy", false}, ModelRun{"llama", "lazy", false},
        ModelRun{"llama", "cpu", true}, ModelRun{"convolutions", "lazy", false},
        ModelRun{"convolutions", "cpu", true},
        ModelRun{"mixture", "lazy", false}, ModelRun{"mixture", "cpu", true}),
    [](const auto& info) {
      const ModelRun& p = info.param;
      return str("{}{}{}", p.model, p.device, p.compiled ? "Compiled" : "");
    });

TEST(Model, BadInputsAreTold) {
  ModelOptions options;
  options.file = kFolder + "bert.pt2";
  ModelRunOptions run;
  run.inputs = ::testing::TempDir() + "other.in";
  NamedTensors inputs;
  inputs.insert("words", zeros({2, 3}));
  save_safetensors(run.inputs, inputs);
  try {
    run_model(options, run);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("input.0, input.1"), std::string::npos)
        << e.what();
  }
  run.device = "abacus";
  EXPECT_THROW(run_model(options, run), Error);
  options.file = kFolder + "none.pt2";
  EXPECT_THROW(describe_model(options), Error);
}

}  // namespace
}  // namespace sy::tools

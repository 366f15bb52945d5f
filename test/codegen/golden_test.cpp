#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/commands.h"

// The output of testdata/sample.yaml, which has an operator of each kind, is
// just what lies in golden/ (and is compiled there). To accept a change:
// SY_UPDATE_GOLDENS=$PWD/test/codegen/golden and run this test.

namespace sy::codegen {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kBackends = {"backends/cpu/backend.yaml",
                                            "backends/meta/backend.yaml"};
constexpr const char* kSample = "test/codegen/testdata/sample.yaml";
constexpr const char* kGolden = "test/codegen/golden";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      out.push_back(entry.path().lexically_relative(folder).string());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string emit_to(const std::string& name,
                    const std::vector<std::string>& schemas) {
  const std::string folder = ::testing::TempDir() + name;
  fs::remove_all(folder);
  std::ostringstream err;
  EXPECT_EQ(emit_all(schemas, folder, err), 0);
  EXPECT_EQ(err.str(), "");
  return folder;
}

std::vector<std::string> with_backends() {
  std::vector<std::string> out = kBackends;
  out.emplace_back(kSample);
  return out;
}

TEST(Golden, IsWhatTheGeneratorWrites) {
  const std::string made = emit_to("made", with_backends());
  if (const char* update = std::getenv("SY_UPDATE_GOLDENS")) {
    fs::remove_all(update);
    fs::copy(made, update, fs::copy_options::recursive);
  }
  EXPECT_EQ(files_in(made), files_in(kGolden));
  for (const std::string& file : files_in(made)) {
    EXPECT_EQ(read(fs::path(made) / file), read(fs::path(kGolden) / file))
        << file;
  }
}

TEST(Golden, TwoRunsGiveTheSame) {
  const std::string first = emit_to("first", with_backends());
  const std::string second = emit_to("second", with_backends());
  for (const std::string& file : files_in(first)) {
    EXPECT_EQ(read(fs::path(first) / file), read(fs::path(second) / file));
  }
}

TEST(Emit, WritesTheFilesThatAreAskedFor) {
  const std::string folder = ::testing::TempDir() + "asked/";
  fs::remove_all(folder);
  EmitOptions options;
  options.kind = "ops";
  options.inputs = {kSample};
  options.outs = {folder + "sample.h", folder + "sample_ops.h"};
  std::ostringstream err;
  EXPECT_EQ(emit(options, err), 0) << err.str();
  EXPECT_EQ(read(folder + "sample.h"),
            read(fs::path(kGolden) / "aten/ops/sample.h"));
  EXPECT_EQ(read(folder + "sample_ops.h"),
            read(fs::path(kGolden) / "aten/ops/sample_ops.h"));
}

TEST(Emit, RefusesAnUnknownOutput) {
  EmitOptions options;
  options.kind = "ops";
  options.inputs = {kSample};
  options.outs = {::testing::TempDir() + "sample.txt"};
  std::ostringstream err;
  EXPECT_EQ(emit(options, err), 1);
  EXPECT_EQ(err.str(),
            "sygen: error: nothing of kind 'ops' is called 'sample.txt'\n");
}

TEST(Emit, LeavesUnchangedFilesAlone) {
  const std::string folder = emit_to("kept", {kSample});
  const fs::path file = fs::path(folder) / "aten/ops/sample.h";
  const auto before = fs::last_write_time(file);
  std::ostringstream err;
  EXPECT_EQ(emit_all({kSample}, folder, err), 0);
  EXPECT_EQ(fs::last_write_time(file), before);
}

TEST(Emit, EnumsOfTheRepository) {
  const std::string folder =
      emit_to("enums", {"schemas/dtypes.yaml", "schemas/dispatch_keys.yaml"});
  const std::string types = read(folder + "/c10/scalar_type_gen.h");
  EXPECT_NE(types.find("  X(::sy::BFloat16, BFloat16)\n"), std::string::npos);
  EXPECT_NE(types.find("{0, 2, 2, 3, 4, 5, 6, 7, 0, 9},  // uint8"),
            std::string::npos);
  const std::string keys = read(folder + "/c10/dispatch_key_gen.h");
  EXPECT_NE(keys.find("  CompositeImplicitAutograd = 33,\n"),
            std::string::npos);
  EXPECT_NE(keys.find("kPerBackendFunctionality = (1u << 1) | (1u << 5);"),
            std::string::npos);
  EXPECT_NE(keys.find("constexpr DeviceType kCUDA = DeviceType::CUDA;"),
            std::string::npos);
  EXPECT_NE(keys.find("  AutogradCUDA = 98,\n"), std::string::npos);
  EXPECT_NE(keys.find("kBackendKeyRuns[] =\n"
                      "    {DispatchKey::Dense, DispatchKey::Autograd};"),
            std::string::npos);
  EXPECT_NE(keys.find("{\"XLA\", \"xla\", "), std::string::npos);
}

TEST(Emit, AnOperatorMayLeaveTheDevice) {
  const std::string schema = ::testing::TempDir() + "guard.yaml";
  std::ofstream(schema) << "- func: f(Tensor self) -> Tensor\n"
                           "  doc: Is itself.\n"
                           "  dispatch: {CPU: f_cpu}\n"
                           "  derivative: non_differentiable\n"
                           "  device_guard: False\n"
                           "  forms: none\n";
  const std::string folder = emit_to("guard", {schema});
  EXPECT_NE(read(folder + "/aten/ops/guard_def.cpp")
                .find("OperatorDef::kNoDeviceGuard"),
            std::string::npos);
}

}  // namespace
}  // namespace sy::codegen

#include <gtest/gtest.h>

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/commands.h"
#include "codegen/torch/world.h"

// PyTorch's files, read as they are: our own samples in the same form always,
// and those of an installed torchgen if there is one.

namespace sy::codegen::torch {
namespace {

namespace fs = std::filesystem;

const std::string kData = "test/codegen/torch/testdata/";

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::vector<std::string> samples() {
  return {kData + "native_functions.yaml", kData + "tags.yaml",
          kData + "derivatives.yaml", kData + "lazy.yaml"};
}

std::string printed(const std::vector<std::string>& files,
                    const PrintOptions& options) {
  std::ostringstream out, err;
  EXPECT_EQ(codegen::print(files, {options.autogen, options.uses}, out, err),
            0);
  EXPECT_EQ(err.str(), "");
  return out.str();
}

World load(const std::vector<std::string>& files) {
  Diagnostics d;
  World w = World::load(read_sources(files, d), d);
  EXPECT_EQ(d.str(), "");
  return w;
}

// torchgen/packaged of the environment that the benchmarks are compared in.
std::string torchgen() {
  if (const char* given = std::getenv("SY_TORCHGEN")) return given;
  const passwd* user = getpwuid(getuid());
  if (!user) return {};
  const fs::path lib =
      fs::path(user->pw_dir) / ".cache/switchyard-peers/venv/lib";
  std::error_code ignored;
  for (const auto& python : fs::directory_iterator(lib, ignored)) {
    const fs::path p = python.path() / "site-packages/torchgen/packaged";
    if (fs::exists(p, ignored)) return p.string();
  }
  return {};
}

TEST(TorchFiles, AreToldByWhatStandsInThem) {
  Diagnostics d;
  const auto files = read_sources(samples(), d);
  ASSERT_EQ(files.size(), 4u);
  EXPECT_EQ(files[0].kind, FileKind::kNative);
  EXPECT_EQ(files[1].kind, FileKind::kTags);
  EXPECT_EQ(files[2].kind, FileKind::kDerivatives);
  EXPECT_EQ(files[3].kind, FileKind::kBackend);
}

TEST(TorchFiles, OurOwnAreNotTakenForThem) {
  std::vector<std::string> paths = {"schemas/tags.yaml"};
  for (const auto& e : fs::directory_iterator("schemas/ops")) {
    paths.push_back(e.path().string());
  }
  Diagnostics d;
  for (const SourceFile& f : read_sources(paths, d)) {
    EXPECT_EQ(f.kind, FileKind::kOwn) << f.path;
  }
}

TEST(TorchFiles, KeysTellWhoseAFileIs) {
  const std::string folder = ::testing::TempDir();
  const auto kinds = [&](const std::vector<std::string>& texts) {
    std::vector<std::string> paths;
    for (const std::string& text : texts) {
      paths.push_back(folder + "f" + std::to_string(paths.size()) + ".yaml");
      std::ofstream(paths.back()) << text;
    }
    Diagnostics d;
    std::vector<FileKind> out;
    for (const SourceFile& f : read_sources(paths, d)) out.push_back(f.kind);
    return out;
  };
  const std::string either =
      "- func: f(Tensor self) -> Tensor\n  dispatch: {CPU: f}\n";
  const std::string tags = "- {tag: core, desc: x}\n";
  using Kinds = std::vector<FileKind>;
  EXPECT_EQ(kinds({either}), Kinds{FileKind::kOwn});
  EXPECT_EQ(kinds({either, tags}), (Kinds{FileKind::kNative, FileKind::kTags}));
  EXPECT_EQ(kinds({either + "  autogen: f.out\n"}), Kinds{FileKind::kNative});
  EXPECT_EQ(kinds({either + "- func: g(Tensor self) -> Tensor\n"
                            "  dispatch:\n    SparseCPU, CUDA: g\n"}),
            Kinds{FileKind::kNative});
  EXPECT_EQ(kinds({either + "  autogen: f.out\n  doc: Ours.\n"}),
            Kinds{FileKind::kOwn});
  EXPECT_EQ(kinds({"- {name: core, doc: x}\n", tags}),
            (Kinds{FileKind::kOwn, FileKind::kTags}));
}

TEST(TorchFiles, PrintPassesOverWhatItReports) {
  const std::string path = ::testing::TempDir() + "native_functions.yaml";
  std::ofstream(path) << "- func: f_(Tensr(a!) self) -> ()\n"
                         "  autogen: f, f.out\n"
                         "- func: g( Tensor self )->Tensor\n";
  std::ostringstream out, err;
  EXPECT_EQ(codegen::print({path}, {.autogen = true}, out, err), 1);
  EXPECT_EQ(out.str(), "g(Tensor self) -> Tensor\n");
  EXPECT_EQ(err.str(), path +
                           ":1:12: error: unknown type 'Tensr'; did you mean "
                           "'Tensor'?\n"
                           "  - func: f_(Tensr(a!) self) -> ()\n"
                           "             ^\n");
}

TEST(TorchFiles, SamplesBreakNoRule) {
  std::ostringstream err;
  EXPECT_EQ(check_files(samples(), err), 0);
  EXPECT_EQ(err.str(), "");
}

TEST(TorchFiles, EveryKeyIsRead) {
  const World w = load(samples());
  const NativeFunction& plus = *w.find("plus.Tensor");
  EXPECT_TRUE(plus.function_variant && plus.method_variant);
  EXPECT_FALSE(plus.device_check);
  EXPECT_EQ(plus.dispatch.size(), 3u);
  EXPECT_EQ(plus.find_kernel("SparseCUDA")->function.str(), "plus_sparse");
  EXPECT_EQ(plus.structured_delegate->str(), "plus.out");
  EXPECT_TRUE(plus.has_tag("core") && plus.has_tag("pointwise"));
  const NativeFunction& out = *w.find("plus.out");
  EXPECT_TRUE(out.structured);
  EXPECT_EQ(out.structured_inherits->str(), "TensorIteratorBase");
  ASSERT_EQ(out.ufunc_inner_loop.size(), 2u);
  EXPECT_EQ(out.ufunc_inner_loop[0].function.str(), "plus");
  EXPECT_EQ(out.ufunc_inner_loop[0].dtypes.size(), 3u);
  const NativeFunction& largest = *w.find("largest.dim_max");
  ASSERT_EQ(largest.precomputed.size(), 2u);
  EXPECT_EQ(largest.precomputed[0].argument.str(), "dim");
  EXPECT_EQ(largest.precomputed[1].values.size(), 2u);
  EXPECT_EQ(w.find("largest.dim")->cpp_no_default_args[0].str(), "keepdim");
  const NativeFunction& odd = *w.find("is_odd");
  EXPECT_TRUE(odd.manual_cpp_binding && odd.manual_kernel_registration &&
              odd.use_const_ref_for_mutable_tensors);
  EXPECT_EQ(odd.category_override->str(), "dummy");
  EXPECT_EQ(w.find("drop")->python_module->str(), "nn");
  EXPECT_FALSE(w.find("turned")->device_guard);
  ASSERT_EQ(w.backends().size(), 1u);
  const Backend& b = w.backends()[0];
  EXPECT_EQ(b.backend.str(), "Lazy");
  EXPECT_EQ(b.non_native[0].properties.size(), 2u);
  EXPECT_EQ(b.non_native[0].opkind->str(), "at::prim::Constant");
  EXPECT_EQ(w.tags()->size(), 5u);
}

TEST(TorchFiles, DerivativesHaveSectionsAndConditions) {
  const World w = load(samples());
  ASSERT_EQ(w.derivatives().size(), 7u);
  EXPECT_EQ(w.derivatives()[2].sections[1].key.str(), "AutogradNestedTensor");
  EXPECT_EQ(w.derivatives()[4].output_differentiability,
            (std::vector<bool>{true, false}));
  EXPECT_EQ(w.derivatives()[5].differentiability_condition->str(), "train");
}

TEST(TorchFiles, PrintIsCanonicalWhateverTheSpace) {
  const auto all = lines(printed({samples()[0]}, {}));
  EXPECT_EQ(std::count(all.begin(), all.end(),
                       "joined(Tensor[] tensors, int dim=0) -> Tensor"),
            1);
  EXPECT_EQ(all.size(), 16u);
}

TEST(TorchFiles, AutogenAddsWhatPyTorchAdds) {
  const std::string written = printed({samples()[0]}, {});
  EXPECT_EQ(printed({samples()[0]}, {.autogen = true}),
            written + read(kData + "generated.txt"));
}

TEST(TorchFiles, UsesOfFormulas) {
  std::string uses;
  for (const std::string& line :
       lines(printed({samples()[2]}, {.uses = true}))) {
    if (line.starts_with("  ")) uses += line + '\n';
  }
  EXPECT_EQ(uses, read(kData + "uses.txt"));
}

class Installed : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string folder = torchgen();
    if (folder.empty()) GTEST_SKIP() << "torchgen is not installed";
    files_ = {folder + "/ATen/native/native_functions.yaml",
              folder + "/ATen/native/tags.yaml",
              folder + "/autograd/derivatives.yaml"};
  }
  std::vector<std::string> files_;
};

// How many lines of a file begin so: an entry each, counted without a parser.
std::size_t lines_with(const std::string& path, std::string_view start) {
  const auto all = lines(read(path));
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(),
      [&](const std::string& line) { return line.starts_with(start); }));
}

TEST_F(Installed, BreaksNoRule) {
  std::ostringstream err;
  EXPECT_EQ(check_files(files_, err), 0);
  EXPECT_EQ(err.str(), "");
}

TEST_F(Installed, EveryFunctionOnceUnderItsName) {
  EXPECT_EQ(lines(printed({files_[0]}, {})).size(),
            lines_with(files_[0], "- func:"));
  auto all = lines(printed({files_[0]}, {.autogen = true}));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  for (const char* f : {"zero(Tensor self) -> Tensor",
                        "zero.out(Tensor self, *, Tensor(a!) "
                        "out) -> Tensor(a!)"}) {
    EXPECT_TRUE(std::binary_search(all.begin(), all.end(), f)) << f;
  }
}

TEST_F(Installed, EveryDerivativeAndFormulaIsRead) {
  const World w = load(files_);
  EXPECT_EQ(w.derivatives().size(), lines_with(files_[2], "- name:"));
  std::size_t formulas = 0;
  for (const Derivative& d : w.derivatives()) {
    for (const DerivativeSection& s : d.sections) formulas += s.formulas.size();
  }
  // The number that Python's yaml finds in 2.15, which the benchmarks install.
  if (w.derivatives().size() != 688) GTEST_SKIP() << "not libtorch 2.15";
  EXPECT_EQ(formulas, 1388u);
}

}  // namespace
}  // namespace sy::codegen::torch

#include "backends/cuda/bake/bake.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "backends/cuda/compile/jit.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/compile/pack.h"
#include "backends/cuda/compile/record.h"
#include "test/c10/expect_error.h"

// Records of runs, and packs that are made of them.

namespace sy::cuda {
namespace {

std::string records() { return testing::TempDir() + "/records"; }

// Recording begins before anything asks for a kernel.
const bool is_recording = [] {
  const char* const folder = std::getenv("TEST_TMPDIR");
  setenv("SWITCHYARD_CUDA_RECORD",
         folder == nullptr ? records().c_str()
                           : (std::string(folder) + "/records").c_str(),
         1);
  return true;
}();

class Constant : public ProgramSource {
 public:
  explicit Constant(int n) : n_(n) {}
  std::string text(const std::string& name) const override {
    return str(
        "namespace {}_parts {{ struct P {{ LaunchHead head; int* out; }}; }}\n"
        "SY_KERNEL({}, {}_parts::P, 32) {{ *p.out = {}; }}\n",
        name, name, name, n_);
  }
  std::string label() const override { return str("constant {}", n_); }

 private:
  int n_;
};

void run_something() {
  set_jit_mode(JitMode::kWait);
  for (uint64_t i = 1; i <= 3; ++i) {
    ASSERT_NE(program(0, {{i, i}}, Constant(static_cast<int>(i))), nullptr);
  }
  for (const char* const size : {"4", "8", "4"}) {
    kernel(0, "factory.cu", "fill_items", {{"SY_ITEM", size}});
  }
}

std::string write_lines(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(CudaRecord, HasEachUnitOnce) {
  ASSERT_TRUE(is_recording);
  run_something();
  std::set<std::string> instances, labels;
  for (const RecordedUnit& u : read_records(records())) {
    EXPECT_EQ(u.key, key_of(u.unit));
    EXPECT_TRUE(u.instance.empty() != u.kernel.empty());
    (u.instance.empty() ? labels.insert(u.unit.name)
                        : instances.insert(u.instance));
  }
  EXPECT_EQ(labels,
            (std::set<std::string>{"constant 1", "constant 2", "constant 3"}));
  EXPECT_EQ(instances, (std::set<std::string>{"factory.cu SY_ITEM=4",
                                              "factory.cu SY_ITEM=8"}));
}

TEST(CudaBake, PacksWhatTheRecordsAskFor) {
  run_something();
  BakeOptions o;
  o.records = records();
  o.pack = testing::TempDir() + "/baked.pack";
  o.kept = testing::TempDir() + "/baked";
  o.targets = {{80}, {90}};
  o.processes = 2;
  const Baked b = bake(o);
  EXPECT_EQ(b.errors, std::vector<std::string>());
  EXPECT_EQ(b.programs, 3);
  EXPECT_EQ(b.sources, 2);
  EXPECT_EQ(b.units, 3);  // the programs are one

  std::string why;
  const auto pack = Pack::open(o.pack, &why);
  ASSERT_NE(pack, nullptr) << why;
  EXPECT_EQ(pack->size(), 10u);
  EXPECT_EQ(pack->targets(), "sm_80, sm_90");
  for (const RecordedUnit& u : read_records(records())) {
    Image image;
    EXPECT_TRUE(pack->find(u.key, 90, &image, &why)) << u.unit.name;
  }

  // The images are there now, and the same images give the same pack.
  const std::string first = read_text(o.pack);
  o.pack = testing::TempDir() + "/again.pack";
  EXPECT_EQ(bake(o).errors, std::vector<std::string>());
  EXPECT_EQ(read_text(o.pack), first);
}

TEST(CudaBake, WhatDoesNotCompileIsToldAndNothingIsWritten) {
  BakeOptions o;
  o.instances = write_lines("broken.txt", "factory.cu SY_ITEM=NoSuchSize\n");
  o.pack = testing::TempDir() + "/broken.pack";
  o.targets = {{90}};
  const Baked b = bake(o);
  ASSERT_EQ(b.errors.size(), 1u);
  EXPECT_NE(b.errors[0].find("factory.cu with SY_ITEM=NoSuchSize for sm_90: "),
            std::string::npos)
      << b.errors[0];
  EXPECT_NE(access(o.pack.c_str(), F_OK), 0);
}

TEST(CudaBake, InstancesAreLinesOfAFile) {
  const auto units = read_instances(
      write_lines("lines.txt",
                  "# of tests\nfactory.cu SY_ITEM=4\n\ncopy.cu B=2 A=1 # x\n"));
  ASSERT_EQ(units.size(), 2u);
  EXPECT_EQ(units[0].instance, "factory.cu SY_ITEM=4");
  EXPECT_EQ(units[0].key,
            key_of(carried_unit("factory.cu", {{"SY_ITEM", "4"}})));
  EXPECT_EQ(units[1].instance, "copy.cu A=1 B=2");
  SY_EXPECT_ERROR(read_instances(write_lines("bad.txt", "none.cu\n")), Error,
                  "no source none.cu");
  SY_EXPECT_ERROR(read_instances("/nowhere"), Error, "cannot read /nowhere");
  SY_EXPECT_ERROR(read_records("/nowhere"), Error, "is no folder of records");
}

// The instances that are baked and that nvcc is shown.
TEST(CudaBake, TheListOfInstancesIsOfThisLibrary) {
  std::set<std::string> lines, sources;
  for (const RecordedUnit& u :
       read_instances("backends/cuda/bake/instances.txt")) {
    EXPECT_TRUE(lines.insert(u.instance).second) << u.instance;
    sources.insert(u.instance.substr(0, u.instance.find(' ')));
  }
  for (const SourceFile& f : source_files()) {
    if (f.name.ends_with(".cu")) {
      EXPECT_TRUE(sources.contains(std::string(f.name))) << f.name;
    }
  }
}

}  // namespace
}  // namespace sy::cuda

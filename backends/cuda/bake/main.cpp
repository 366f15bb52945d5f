#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <set>
#include <string>
#include <thread>

#include "backends/cuda/bake/bake.h"
#include "backends/cuda/compile/record.h"
#include "c10/process/error.h"

// bake [--records FOLDER] [--instances FILE [--source NAME.cu]...]
//      [--out FILE.pack] [--kept FOLDER]
//      [--targets sm_80,sm_90,compute_90] [--processes N] [--shard I/N]
// bake --records FOLDER --list
//
// Compiles what runs have asked for and what a file lists, and packs it. Or
// prints the lines of such a file for the records. Keeps compiled images in
// ~/.cache/switchyard/cuda-bake; --kept '' keeps nothing.

namespace sy::cuda {

namespace {

std::vector<Target> read_targets(std::string text) {
  std::vector<Target> out;
  for (char* word = std::strtok(text.data(), ","); word != nullptr;
       word = std::strtok(nullptr, ",")) {
    const bool is_ptx = std::strncmp(word, "compute_", 8) == 0;
    SY_CHECK(is_ptx || std::strncmp(word, "sm_", 3) == 0, Value,
             "--targets: expected sm_90 or compute_90, got {}", word);
    out.push_back({std::atoi(word + (is_ptx ? 8 : 3)), is_ptx});
  }
  return out;
}

int list(const std::string& records) {
  std::set<std::string> lines;
  for (const RecordedUnit& u : read_records(records)) {
    if (!u.instance.empty()) lines.insert(u.instance);
  }
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
  return 0;
}

int run(int argc, char** argv) {
  BakeOptions o;
  o.kept = default_kept();
  o.processes = static_cast<int>(std::thread::hardware_concurrency());
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--list") return list(o.records);
    SY_CHECK(i + 1 < argc, Value, "{}: expected a value", name);
    const std::string value = argv[i + 1];
    if (name == "--records") {
      o.records = value;
    } else if (name == "--instances") {
      o.instances = value;
    } else if (name == "--out") {
      o.pack = value;
    } else if (name == "--kept") {
      o.kept = value;
    } else if (name == "--targets") {
      o.targets = read_targets(value);
    } else if (name == "--processes") {
      o.processes = std::atoi(value.c_str());
    } else if (name == "--source") {
      o.sources.push_back(value);
    } else if (name == "--shard") {
      SY_CHECK(std::sscanf(value.c_str(), "%d/%d", &o.shard, &o.shards) == 2 &&
                   o.shard >= 0 && o.shard < o.shards,
               Value, "--shard: expected 0/4, got {}", value);
    } else {
      fail(ErrorKind::Value, "{}: unknown option", name);
    }
  }
  SY_CHECK(!o.records.empty() || !o.instances.empty(), Value,
           "--records: expected a folder");
  const Baked b = bake(o);
  for (const std::string& e : b.errors) {
    std::fprintf(stderr, "%s\n", e.c_str());
  }
  std::printf(
      "%d programs, %d sources with their definitions: %d units, %zu "
      "images do not compile\n",
      b.programs, b.sources, b.units, b.errors.size());
  return b.errors.empty() ? 0 : 1;
}

}  // namespace

}  // namespace sy::cuda

int main(int argc, char** argv) {
  try {
    return sy::cuda::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "cuda_bake: %s\n", e.what());
    return 2;
  }
}

#include "backends/cuda/bake/bake.h"

#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "backends/cuda/compile/cache.h"
#include "backends/cuda/compile/pack.h"
#include "backends/cuda/compile/record.h"
#include "c10/process/error.h"

namespace sy::cuda {

namespace {

// Programs of one image. An image of 16 is half as long as 16 images, and the
// driver reads it as fast as one.
constexpr size_t kProgramsInUnit = 16;

constexpr uint64_t kMostKept = uint64_t{2} << 30;

struct Group {
  Unit unit;
  std::vector<Hash> keys;
};

// Returns each unit once.
std::vector<RecordedUnit> units_of(const BakeOptions& options) {
  std::vector<RecordedUnit> all;
  if (!options.records.empty()) all = read_records(options.records);
  if (options.instances.empty()) return all;
  for (RecordedUnit& u : read_instances(options.instances)) {
    const std::string source = u.instance.substr(0, u.instance.find(' '));
    if (!options.sources.empty() &&
        std::find(options.sources.begin(), options.sources.end(), source) ==
            options.sources.end()) {
      continue;
    }
    const auto same = [&](const RecordedUnit& x) { return x.key == u.key; };
    if (std::none_of(all.begin(), all.end(), same)) {
      all.push_back(std::move(u));
    }
  }
  return all;
}

std::vector<Group> groups_of(const BakeOptions& options, Baked* baked) {
  std::vector<RecordedUnit> all = units_of(options);
  std::vector<Group> out;
  std::string kernels;
  std::vector<Hash> keys;
  const auto close = [&] {
    if (keys.empty()) return;
    out.push_back({printed_unit("programs", kernels), std::move(keys)});
    keys.clear();
    kernels.clear();
  };
  for (RecordedUnit& u : all) {
    if (u.kernel.empty()) {
      ++baked->sources;
      out.push_back({std::move(u.unit), {u.key}});
      continue;
    }
    ++baked->programs;
    kernels += u.kernel;
    keys.push_back(u.key);
    if (keys.size() == kProgramsInUnit) close();
  }
  close();
  const auto shards = static_cast<size_t>(options.shards);
  const auto first = static_cast<size_t>(options.shard);
  std::vector<Group> mine;
  for (size_t i = first; i < out.size(); i += shards) {
    mine.push_back(std::move(out[i]));
  }
  out = std::move(mine);
  baked->units = static_cast<int>(out.size());
  return out;
}

Hash key_of(const Group& g, const Nvrtc& nvrtc, const Target& target) {
  Hasher h;
  for (const Hash& k : g.keys) h.add(k.a).add(k.b);
  return h.add(nvrtc.fingerprint(target)).end();
}

struct Baking {
  const BakeOptions& options;
  const Nvrtc& nvrtc;
  Cache& cache;
  std::vector<Group> groups;
};

// The nth image of groups times targets; nothing if it is kept already.
bool compile(const Baking& b, size_t n, std::string* log) {
  const Group& g = b.groups[n / b.options.targets.size()];
  const Target& target = b.options.targets[n % b.options.targets.size()];
  const Hash key = key_of(g, b.nvrtc, target);
  Image image;
  if (b.cache.read(key, &image)) return true;
  std::string bytes;
  if (!b.nvrtc.compile(g.unit, target, &bytes, log)) {
    *log = str("{} for {}: {}", g.unit.name, to_string(target), *log);
    return false;
  }
  b.cache.write({key}, Image::make(std::move(bytes)));
  return true;
}

// NVRTC's own threads gain nothing, so each process compiles a share; the
// images come back by the folder.
void compile_shares(const Baking& b, size_t images) {
  const int n = b.options.processes;
  std::vector<pid_t> children;
  for (int i = 1; i < n; ++i) {
    const pid_t child = fork();
    SY_CHECK(child >= 0, Error, "[cuda] cannot start a process");
    if (child == 0) {
      std::string log;
      for (size_t k = static_cast<size_t>(i); k < images;
           k += static_cast<size_t>(n)) {
        compile(b, k, &log);  // bake() reports the errors later
      }
      _exit(0);
    }
    children.push_back(child);
  }
  std::string log;
  for (size_t k = 0; k < images; k += static_cast<size_t>(n)) {
    compile(b, k, &log);
  }
  for (const pid_t child : children) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const char* const folder = std::getenv("TMPDIR");
    path_ = str("{}/sy-bake-XXXXXX", folder == nullptr ? "/tmp" : folder);
    SY_CHECK(mkdtemp(path_.data()) != nullptr, Error, "[cuda] cannot make {}",
             path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::string default_kept() {
  std::string home;
  if (const char* const cache = std::getenv("XDG_CACHE_HOME")) home = cache;
  if (!home.empty()) return home + "/switchyard/cuda-bake";
  if (const char* const folder = std::getenv("HOME")) home = folder;
  if (home.empty()) {
    const passwd* const user = getpwuid(geteuid());
    if (user != nullptr) home = user->pw_dir;
  }
  return home.empty() ? "" : home + "/.cache/switchyard/cuda-bake";
}

Baked bake(const BakeOptions& options) {
  Baked out;
  std::vector<Group> groups = groups_of(options, &out);
  std::string why;
  const Nvrtc* const nvrtc = Nvrtc::get(&why);
  SY_CHECK(nvrtc != nullptr, Error, "[cuda] there is no NVRTC: {}", why);
  const TemporaryFolder temporary;
  const bool keeps =
      !options.kept.empty() && Cache(options.kept, kMostKept).why_off().empty();
  Cache cache(keeps ? options.kept : temporary.path(), kMostKept);
  SY_CHECK(cache.why_off().empty(), Error, "[cuda] {}", cache.why_off());
  Baking b{options, *nvrtc, cache, std::move(groups)};
  const size_t images = b.groups.size() * options.targets.size();
  compile_shares(b, images);

  std::vector<PackItem> items;
  for (size_t k = 0; k < images; ++k) {
    const Group& g = b.groups[k / options.targets.size()];
    const Target& target = options.targets[k % options.targets.size()];
    std::string log;
    Image image;
    if (!compile(b, k, &log)) {
      out.errors.push_back(std::move(log));
    } else if (cache.read(key_of(g, *nvrtc, target), &image)) {
      items.push_back({g.keys, {target}, std::string(image.bytes)});
    }
  }
  if (out.errors.empty() && !options.pack.empty()) {
    write_pack(options.pack, items);
  }
  return out;
}

}  // namespace sy::cuda

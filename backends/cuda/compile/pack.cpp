#include "backends/cuda/compile/pack.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "backends/cuda/compile/pack_format.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"
#include "c10/process/trusted_file.h"

namespace sy::cuda {

namespace {

constexpr uint64_t kMostImage = uint64_t{1} << 30;

Target target_of(const PackEntry& e) {
  return {static_cast<int>(e.architecture), e.is_ptx != 0};
}

bool runs(const Target& t, int architecture) {
  if (t.architecture > architecture) return false;
  return t.is_ptx || t.architecture / 10 == architecture / 10;
}

// Cubins before PTX, newer before older.
int worth(const Target& t) { return t.architecture + (t.is_ptx ? 0 : 10000); }

std::string_view bytes_of(const PackEntry* entries, size_t n) {
  return {reinterpret_cast<const char*>(entries), n * sizeof(PackEntry)};
}

const PackEntry* entries_of(const char* data) {
  return reinterpret_cast<const PackEntry*>(data + sizeof(PackHead));
}

}  // namespace

Pack::~Pack() {
  if (is_mapped_) munmap(const_cast<char*>(data_), bytes_);
}

std::unique_ptr<Pack> Pack::open(const std::string& path, std::string* why) {
  const auto refuse = [&](const std::string& reason) {
    *why = path + ": " + reason;
    return nullptr;
  };
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return refuse(std::strerror(errno));
  struct stat s;
  const bool is_file = fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
  const std::string untrusted = why_untrusted(path);
  const auto size = is_file ? static_cast<uint64_t>(s.st_size) : 0;
  void* map = MAP_FAILED;
  if (is_file && untrusted.empty() && size >= sizeof(PackHead)) {
    map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  }
  close(fd);
  if (!is_file) return refuse("is no file");
  if (!untrusted.empty()) return refuse(untrusted);
  if (map == MAP_FAILED) return refuse("is no pack of kernels");

  std::unique_ptr<Pack> pack(new Pack);
  pack->path_ = path;
  pack->data_ = static_cast<const char*>(map);
  pack->is_mapped_ = true;
  pack->bytes_ = size;
  if (!pack->check(size, why)) return nullptr;
  return pack;
}

std::unique_ptr<Pack> Pack::at(std::string_view memory, std::string name,
                               std::string* why) {
  std::unique_ptr<Pack> pack(new Pack);
  pack->path_ = std::move(name);
  pack->data_ = memory.data();
  PackHead head;
  if (memory.size() >= sizeof head) {
    std::memcpy(&head, memory.data(), sizeof head);
    pack->bytes_ = std::min<uint64_t>(head.bytes, memory.size());
  }
  if (!pack->check(pack->bytes_, why)) return nullptr;
  return pack;
}

// Checks a pack of that many bytes.
bool Pack::check(uint64_t size, std::string* why) {
  const auto refuse = [&](const std::string& reason) {
    *why = path_ + ": " + reason;
    return false;
  };
  PackHead head;
  if (size < sizeof head) return refuse("is no pack of kernels");
  std::memcpy(&head, data_, sizeof head);
  if (head.magic != PackHead::kMagic) return refuse("is no pack of kernels");
  if (head.version != PackHead::kVersion) {
    return refuse(str("expected version {} of packs, got {}",
                      PackHead::kVersion, head.version));
  }
  if (head.head != head.sum()) return refuse("is damaged: its head");
  if (head.bytes != size) {
    return refuse(
        str("is cut off: expected {} bytes, got {}", head.bytes, size));
  }
  if (head.entries > (size - sizeof head) / sizeof(PackEntry)) {
    return refuse("is damaged: its index");
  }
  entries_ = head.entries;
  const PackEntry* const e = entries_of(data_);
  if (hash_of(bytes_of(e, head.entries)) != head.index ||
      std::any_of(e, e + head.entries, [&](const PackEntry& x) {
        return x.offset > size || x.bytes > size - x.offset || x.bytes == 0 ||
               x.inflated > kMostImage;
      })) {
    return refuse("is damaged: its index");
  }
  return true;
}

std::string Pack::targets() const {
  std::set<std::pair<bool, int>> all;
  const PackEntry* const e = entries_of(data_);
  for (size_t i = 0; i < entries_; ++i) {
    all.emplace(e[i].is_ptx != 0, static_cast<int>(e[i].architecture));
  }
  std::string out;
  for (const auto& [is_ptx, architecture] : all) {
    out += (out.empty() ? "" : ", ") + to_string(Target{architecture, is_ptx});
  }
  return out;
}

bool Pack::serves(int architecture) const {
  const PackEntry* const e = entries_of(data_);
  return std::any_of(e, e + entries_, [&](const PackEntry& x) {
    return runs(target_of(x), architecture);
  });
}

bool Pack::find(const Hash& key, int architecture, Image* image,
                std::string* why) const {
  const PackEntry* const begin = entries_of(data_);
  const PackEntry* const end = begin + entries_;
  const PackEntry* best = nullptr;
  for (const PackEntry *e = std::lower_bound(
           begin, end, key,
           [](const PackEntry&x, const Hash&k) { return x.key < k; });
       e != end && e->key == key; ++e) {
    const Target t = target_of(*e);
    if (!runs(t, architecture)) continue;
    if (best == nullptr || worth(t) > worth(target_of(*best))) best = e;
  }
  if (best == nullptr) return false;
  std::string bytes(best->inflated, '\0');
  uLongf size = bytes.size();
  if (uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size,
                 reinterpret_cast<const Bytef*>(data_ + best->offset),
                 best->bytes) != Z_OK ||
      size != best->inflated || hash_of(bytes) != best->image) {
    *why = path_ + ": is damaged: an image";
    return false;
  }
  *image = Image::make(std::move(bytes));
  return true;
}

// ---- the packs of the process

namespace {

struct Known {
  std::string path, why;
  std::unique_ptr<Pack> pack;
  std::atomic<bool> told_devices{false}, told_damage{false};
};

// This library's file.
std::string own_folder() {
  static const char here = 0;
  Dl_info info;
  if (dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

// Leaked: images point into them.
std::vector<std::unique_ptr<Known>>& packs() {
  static auto& all = *[] {
    auto* const list = new std::vector<std::unique_ptr<Known>>;
    const auto add = [&](std::string path) {
      auto k = std::make_unique<Known>();
      k->path = std::move(path);
      k->pack = Pack::open(k->path, &k->why);
      if (k->pack == nullptr) {
        std::fprintf(stderr, "switchyard: cuda: pack of kernels not used: %s\n",
                     k->why.c_str());
      }
      list->push_back(std::move(k));
    };
    const char* const named = environment("SWITCHYARD_CUDA_PACK");
    if (named == nullptr) {
      const std::string beside = own_folder() + "libswitchyard_cuda.pack";
      if (access(beside.c_str(), F_OK) == 0) add(beside);
      return list;
    }
    std::string_view rest = named;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(':'), rest.size());
      if (end != 0) add(std::string(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return list;
  }();
  return all;
}

}  // namespace

bool find_in_packs(const Hash& key, int architecture, Image* image) {
  for (const auto& k : packs()) {
    if (k->pack == nullptr) continue;
    std::string why;
    if (k->pack->find(key, architecture, image, &why)) return true;
    if (!why.empty()) {
      if (!k->told_damage.exchange(true)) {
        std::fprintf(stderr,
                     "switchyard: cuda: kernels are compiled anew: %s\n",
                     why.c_str());
      }
    } else if (!k->told_devices.load(std::memory_order_relaxed) &&
               !k->pack->serves(architecture) &&
               !k->told_devices.exchange(true)) {
      std::fprintf(stderr,
                   "switchyard: cuda: pack of kernels not used: %s: is for %s, "
                   "the device is sm_%d\n",
                   k->path.c_str(), k->pack->targets().c_str(), architecture);
    }
  }
  return false;
}

std::vector<std::string> describe_packs() {
  std::vector<std::string> out;
  for (const auto& k : packs()) {
    out.push_back(k->pack == nullptr
                      ? k->why
                      : str("{}: {} kernels for {}", k->path, k->pack->size(),
                            k->pack->targets()));
  }
  return out;
}

}  // namespace sy::cuda

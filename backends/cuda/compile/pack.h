#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/compile/image.h"
#include "backends/cuda/compile/nvrtc.h"

namespace sy::cuda {

// Images that were compiled beforehand, in one file that is only read. The file
// has, in the byte order of the machine:
//
//   PackHead      magic, version, sizes, check sums of itself and the index
//   PackEntry[n]  ascending by key and target: what has the kernels of a key
//   images        each once, deflated by zlib, at a multiple of 16
//
// The head and the index are checked when the file is opened, an image when it
// is taken. Immutable, any thread may read.
class Pack {
 public:
  // nullptr, and why: no file, no pack, another version, damaged, or others
  // could write it.
  static std::unique_ptr<Pack> open(const std::string& path, std::string* why);
  // The pack that memory begins with, at a multiple of 8; it stays there.
  // `name` is told instead of a path.
  static std::unique_ptr<Pack> at(std::string_view memory, std::string name,
                                  std::string* why);
  ~Pack();
  Pack(const Pack&) = delete;
  Pack& operator=(const Pack&) = delete;

  const std::string& path() const { return path_; }
  size_t size() const { return entries_; }
  uint64_t bytes() const { return bytes_; }
  // "sm_80, sm_90, compute_90".
  std::string targets() const;
  // Whether devices of the architecture execute anything in it.
  bool serves(int architecture) const;
  // The image of the key that is best for the architecture: of its major
  // version, not newer, or PTX not newer. False if there is none, or with a
  // reason if it is damaged.
  bool find(const Hash& key, int architecture, Image* image,
            std::string* why) const;

 private:
  Pack() = default;
  bool check(uint64_t size, std::string* why);
  std::string path_;
  const char* data_ = nullptr;
  bool is_mapped_ = false;
  uint64_t bytes_ = 0;
  size_t entries_ = 0;
};

// One image and what it serves.
struct PackItem {
  std::vector<Hash> keys;
  std::vector<Target> targets;
  std::string bytes;
};
// Writes the file whole, by renaming. Throws Error if it cannot, and if two
// items serve one key and target.
void write_pack(const std::string& path, const std::vector<PackItem>& items);

// The packs of the process, opened on the first use: those of
// $SWITCHYARD_CUDA_PACK, separated by ':', or libswitchyard_cuda.pack beside
// this library, if it is there. A pack that cannot be used, is for other
// devices or has a damaged image is told once on stderr and passed over.
// Thread-safe.
bool find_in_packs(const Hash& key, int architecture, Image* image);
// For doctor: a line for each.
std::vector<std::string> describe_packs();

// The kernels inside the library, if it was built with them: packs, one behind
// the other, between two symbols. Thread-safe.
bool find_built_in(const Hash& key, int architecture, Image* image);
// "225 kernels for sm_80, sm_90, compute_90", or why there are none.
std::string describe_built_in();
// Why they have none for devices of the architecture; "" if they have some.
std::string why_not_built_in(int architecture);

}  // namespace sy::cuda

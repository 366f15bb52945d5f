#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/cuda/compile/image.h"
#include "c10/process/cache_folder.h"

namespace sy::cuda {

// Compiled images on disk, which processes share: a file for each image, named
// by a hash of its bytes, and for each key a small one that names the image, as
// an image may hold the kernels of several keys. Every file has a check sum:
// read() removes a damaged or cut off file, which counts as missing. Nothing
// throws, and a file that cannot be written is not kept. Thread-safe.
class Cache {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20;

  // Makes the folder. "" for none.
  explicit Cache(std::string path, uint64_t most_bytes = kMostBytes);

  // Why nothing is read or kept; "" if something is.
  const std::string& why_off() const { return folder_.why_off(); }
  const std::string& path() const { return folder_.path(); }

  // False if there is none.
  bool read(const Hash& key, Image* image) const;
  void write(const std::vector<Hash>& keys, const Image& image);
  // Removes the key of an image that the driver refused.
  void remove(const Hash& key) const;
  // Removes what was not used for the longest time, beyond the bound.
  void trim() const;

  // $SWITCHYARD_CUDA_CACHE, or $XDG_CACHE_HOME/switchyard/cuda, or that of
  // ~/.cache. "" for none: the variable is empty, or there is no home.
  static std::string default_path();

 private:
  bool write_file(const std::string& name, std::string_view head,
                  std::string_view bytes);

  CacheFolder folder_;
  uint64_t most_;
  std::atomic<int> written_{0};
  std::atomic<bool> told_{false};
};

}  // namespace sy::cuda

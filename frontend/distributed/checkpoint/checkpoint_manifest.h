#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/io/format/string_pairs.h"

// checkpoint.safetensors.index.json: the parts of a checkpoint. It is an index
// as of sharded models, so that load_safetensors() reads the replicated
// tensors; the rest is in its metadata:
//
//   "format"           "switchyard checkpoint 1"
//   "id"               a random number, in the metadata of each file as well
//   "ranks"            how many saved it
//   "value/NAME"       a number or text
//   "file/NAME"        "BYTES CRC32", in hex the latter
//   "shard/NAME"       "F32 1000 16": the dtype and the whole tensor's sizes
//   "rows/SHARD/FILE"  "0 500": the first of the rows in that file, and how
//                      many; the tensor there is "shard/SHARD"
//   "check"            CRC-32 of all that, each string followed by a zero

namespace sy::distributed {

inline constexpr const char* kManifestName =
    "checkpoint.safetensors.index.json";
inline constexpr const char* kReplicatedName = "replicated.safetensors";
// The key of the id in each file's metadata.
inline constexpr const char* kIdKey = "checkpoint";

// "rank-00003.safetensors"
std::string rank_file_name(int64_t rank);

struct Manifest {
  struct File {
    std::string name;
    uint64_t bytes = 0;
    uint32_t crc = 0;
  };
  struct Rows {
    std::string file;
    int64_t offset = 0, count = 0;
  };
  struct Shard {
    std::string name, dtype;
    std::vector<int64_t> sizes;
    std::vector<Rows> rows;  // by offset, without gaps
  };

  std::string id;
  int64_t ranks = 0;
  std::vector<std::string> tensors;  // replicated
  io::StringPairs values;
  std::vector<File> files;
  std::vector<Shard> shards;

  // Whether there is such a file.
  bool has(const std::string& file) const;
  // The text. Throws ValueError "[op] ..." for names that are not UTF-8.
  std::string text(const char* op) const;
  // Throws FileError for a file that is not there, or that is no manifest.
  static Manifest read(const char* op, const std::string& path);
};

}  // namespace sy::distributed

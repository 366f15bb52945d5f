#include <algorithm>
#include <cstdio>
#include <numeric>

#include "frontend/io/format/output_file.h"
#include "frontend/io/format/safetensors_header.h"
#include "frontend/io/format/safetensors_index.h"
#include "frontend/io/safetensors.h"
#include "frontend/io/tensor_bytes.h"

namespace sy {

namespace {

constexpr std::string_view kIndexEnding = ".safetensors.index.json";

using Entries = std::vector<const NamedTensors::Entry*>;

Entries checked(const char* op, const NamedTensors& tensors) {
  Entries entries;
  entries.reserve(tensors.size());
  for (const NamedTensors::Entry& e : tensors) {
    io::check_savable(op, e.first, e.second);
    entries.push_back(&e);
  }
  return entries;
}

// The header has the tensors in the order they came in. Their data are sorted
// by the size of an element, so that each is aligned.
void save(const char* op, const std::string& path, const Entries& tensors,
          const FileMetadata& metadata) {
  std::vector<io::SafetensorsEntry> entries;
  entries.reserve(tensors.size());
  for (const NamedTensors::Entry* const t : tensors) {
    entries.push_back({t->first,
                       &io::safetensors_dtype(t->second.scalar_type()),
                       t->second.sizes().vec()});
  }
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return entries[a].dtype->bits > entries[b].dtype->bits;
  });
  uint64_t next = 0;
  for (const size_t i : order) {
    entries[i].begin = next;
    entries[i].end = next += tensors[i]->second.nbytes();
  }
  const std::string header = io::safetensors_header(op, entries, metadata);
  io::OutputFile file(op, path);
  file.write(header);
  for (const size_t i : order) {
    const Tensor data = io::on_cpu(op, tensors[i]->second);
    file.write(data.raw_data(), data.nbytes());
  }
  file.commit();
}

// Splits the tensors, in their order: as many as fit go into a file.
std::vector<Entries> shards_of(const Entries& tensors, uint64_t most) {
  std::vector<Entries> shards(1);
  uint64_t size = 0;
  for (const NamedTensors::Entry* const t : tensors) {
    const uint64_t bytes = t->second.nbytes();
    if (!shards.back().empty() && bytes > most - std::min(size, most)) {
      shards.emplace_back();
      size = 0;
    }
    shards.back().push_back(t);
    size += bytes;
  }
  return shards;
}

}  // namespace

void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const FileMetadata& metadata) {
  constexpr const char* kOp = "save_safetensors";
  save(kOp, path, checked(kOp, tensors), metadata);
}

void save_sharded_safetensors(const std::string& index_path,
                              const NamedTensors& tensors,
                              int64_t max_shard_bytes,
                              const FileMetadata& metadata) {
  constexpr const char* kOp = "save_sharded_safetensors";
  SY_CHECK(index_path.ends_with(kIndexEnding), Value,
           "[{}] index_path: expected a name that ends in {}, got {}", kOp,
           kIndexEnding, io::in_quotes(index_path));
  SY_CHECK(max_shard_bytes > 0, Value,
           "[{}] max_shard_bytes: expected at least 1, got {}", kOp,
           max_shard_bytes);
  const std::string stem =
      index_path.substr(0, index_path.size() - kIndexEnding.size());
  const std::vector<Entries> shards =
      shards_of(checked(kOp, tensors), static_cast<uint64_t>(max_shard_bytes));
  io::SafetensorsIndex index{{}, metadata};
  uint64_t total = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    char number[64];
    std::snprintf(number, sizeof number, "-%05zu-of-%05zu.safetensors", i + 1,
                  shards.size());
    const std::string path = stem + number;
    save(kOp, path, shards[i], metadata);
    for (const NamedTensors::Entry* const t : shards[i]) {
      index.files.emplace_back(t->first, path.substr(path.rfind('/') + 1));
      total += t->second.nbytes();
    }
  }
  const std::string text = io::safetensors_index(kOp, index, total);
  io::OutputFile file(kOp, index_path);
  file.write(text);
  file.commit();
}

}  // namespace sy

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <random>

#include "c10/process/error.h"
#include "frontend/distributed/checkpoint/checkpoint.h"
#include "frontend/distributed/checkpoint/checkpoint_folder.h"
#include "frontend/distributed/checkpoint/checkpoint_manifest.h"
#include "frontend/distributed/checkpoint/checkpoint_talk.h"
#include "frontend/io/file_error.h"
#include "frontend/io/format/mapped_file.h"
#include "frontend/io/format/output_file.h"
#include "frontend/io/format/safetensors_dtype.h"
#include "frontend/io/format/zip.h"

namespace sy::distributed {

namespace {

constexpr const char* kOp = "save_checkpoint";

std::string random_id() {
  std::random_device random;
  char text[32];
  std::snprintf(text, sizeof text, "%08x%08x", random(), random());
  return text;
}

// Texts of several fields, each with its length before it.
void put(std::string* to, std::string_view field) {
  *to += str("{} {}", field.size(), field);
}

class FieldReader {
 public:
  explicit FieldReader(std::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  std::string text() {
    size_t size = 0;
    const auto at =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), size).ptr;
    const auto begin = static_cast<size_t>(at - rest_.data()) + 1;
    std::string field(rest_.substr(begin, size));
    rest_.remove_prefix(begin + size);
    return field;
  }
  int64_t number() {
    const std::string field = text();
    int64_t v = 0;
    std::from_chars(field.data(), field.data() + field.size(), v);
    return v;
  }

 private:
  std::string_view rest_;
};

// Describes a rank's part of each shard, for rank 0.
std::string describe(const CheckpointState& state) {
  std::string text;
  for (const auto& [name, shard] : state.shards()) {
    put(&text, name);
    put(&text, io::safetensors_dtype(shard.rows.scalar_type()).name);
    put(&text, str("{}", shard.offset));
    put(&text, str("{}", shard.rows.dim()));
    for (const int64_t n : shard.rows.sizes()) put(&text, str("{}", n));
  }
  return text;
}

struct RankRows {
  int64_t rank, offset, count;
};

void join_rows(Manifest::Shard* shard, std::vector<RankRows> rows) {
  std::stable_sort(
      rows.begin(), rows.end(), [](const RankRows& a, const RankRows& b) {
        return std::pair(a.offset, a.count) < std::pair(b.offset, b.count);
      });
  int64_t next = 0;
  for (const RankRows& r : rows) {
    SY_CHECK(r.offset == next, Value,
             "[{}] shard {}: expected rows from {} on, once, got {} to {} of "
             "rank {}",
             kOp, io::in_quotes(shard->name), next, r.offset,
             r.offset + r.count, r.rank);
    next += r.count;
    shard->rows.push_back({rank_file_name(r.rank), r.offset, r.count});
  }
  shard->sizes[0] = next;
}

std::vector<Manifest::Shard> join(const std::vector<std::string>& of_ranks) {
  std::vector<Manifest::Shard> shards;
  std::vector<std::vector<RankRows>> rows;
  std::map<std::string, size_t> places;
  for (size_t rank = 0; rank < of_ranks.size(); ++rank) {
    for (FieldReader fields(of_ranks[rank]); !fields.done();) {
      Manifest::Shard s;
      s.name = fields.text();
      s.dtype = fields.text();
      const int64_t offset = fields.number();
      s.sizes.resize(static_cast<size_t>(fields.number()));
      for (int64_t& n : s.sizes) n = fields.number();
      const int64_t count = s.sizes[0];
      s.sizes[0] = 0;
      const auto [at, added] = places.try_emplace(s.name, shards.size());
      if (added) {
        shards.push_back(s);
        rows.emplace_back();
      }
      const Manifest::Shard& first = shards[at->second];
      const auto sizes_of = [](const Manifest::Shard& x) {
        return str("{}{}", x.dtype,
                   IntArrayRef(x.sizes).slice(1, x.sizes.size() - 1));
      };
      SY_CHECK(s.dtype == first.dtype && s.sizes == first.sizes, Value,
               "[{}] shard {}: expected rows of {} as rank {} has, got {} of "
               "rank {}",
               kOp, io::in_quotes(s.name), sizes_of(first),
               rows[at->second][0].rank, sizes_of(s), rank);
      rows[at->second].push_back({static_cast<int64_t>(rank), offset, count});
    }
  }
  for (size_t i = 0; i < shards.size(); ++i) {
    join_rows(&shards[i], std::move(rows[i]));
  }
  return shards;
}

// Writes a file, and appends its name, size and check sum to `facts`.
void write(const std::string& folder, const std::string& name,
           const NamedTensors& tensors, const std::string& id,
           std::string* facts) {
  const std::string path = str("{}/{}", folder, name);
  save_safetensors(path, tensors, {{kIdKey, id}});
  const auto file = io::MappedFile::open(kOp, path);
  put(facts, name);
  put(facts, str("{}", file->size()));
  put(facts, str("{}", io::crc32(0, file->data(), file->size())));
}

void write_rank(const CheckpointState& state, int rank,
                const std::string& folder, const std::string& id,
                std::string* facts) {
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    throw FileError(
        str("[{}] {}: expected the folder that rank 0 has made: all ranks need "
            "the same file system",
            kOp, folder));
  }
  if (rank == 0) write(folder, kReplicatedName, state.tensors(), id, facts);
  NamedTensors own;
  for (const auto& [name, shard] : state.shards()) {
    own.insert(str("shard/{}", name), shard.rows);
  }
  for (const auto& [name, t] : state.own_tensors()) {
    own.insert(str("own/{}", name), t);
  }
  if (!own.empty()) write(folder, rank_file_name(rank), own, id, facts);
}

void write_manifest(const std::string& path, const std::string& text) {
  io::OutputFile file(kOp, path);
  file.write(text);
  file.commit();
}

}  // namespace

std::string save_checkpoint(const std::string& folder,
                            const CheckpointState& state,
                            const CheckpointOptions& options) {
  const Talk talk(kOp, options.group);
  const bool root = talk.rank() == 0;
  std::optional<CheckpointFolder> writing;
  std::string description, id, facts;
  talk.step([&] {
    SY_CHECK(!folder.empty(), Value, "[{}] folder: expected a path, got ''",
             kOp);
    SY_CHECK(options.keep_last >= 0, Value,
             "[{}] keep_last: expected at least 0, got {}", kOp,
             options.keep_last);
    description = describe(state);
    if (!root) return;
    id = random_id();
    writing.emplace(kOp, folder, id);
  });
  Manifest manifest;
  manifest.id = id = talk.from_root(id);
  manifest.ranks = talk.size();
  const std::vector<std::string> descriptions = talk.to_root(description);
  talk.step([&] {
    if (root) manifest.shards = join(descriptions);
  });
  const std::string path = CheckpointFolder::hidden_path(folder, id);
  talk.step([&] { write_rank(state, talk.rank(), path, id, &facts); });
  const std::vector<std::string> of_ranks = talk.to_root(facts);
  std::string saved;
  talk.step([&] {
    if (!root) return;
    for (const std::string& text : of_ranks) {
      for (FieldReader fields(text); !fields.done();) {
        Manifest::File& f = manifest.files.emplace_back();
        f.name = fields.text();
        f.bytes = static_cast<uint64_t>(fields.number());
        f.crc = static_cast<uint32_t>(fields.number());
      }
    }
    for (const auto& [name, t] : state.tensors()) {
      manifest.tensors.push_back(name);
    }
    for (const auto& [name, value] : state.values()) {
      manifest.values.emplace_back(name, value);
    }
    write_manifest(str("{}/{}", path, kManifestName), manifest.text(kOp));
    writing->commit();
    saved = checkpoint_path(folder, writing->number());
    if (options.keep_last > 0) writing->remove_older(options.keep_last);
  });
  return talk.from_root(saved);
}

}  // namespace sy::distributed

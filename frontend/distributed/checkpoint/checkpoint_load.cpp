#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <optional>

#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "c10/process/error.h"
#include "frontend/distributed/checkpoint/checkpoint.h"
#include "frontend/distributed/checkpoint/checkpoint_folder.h"
#include "frontend/distributed/checkpoint/checkpoint_manifest.h"
#include "frontend/distributed/checkpoint/checkpoint_talk.h"
#include "frontend/io/file_error.h"
#include "frontend/io/format/mapped_file.h"
#include "frontend/io/format/safetensors_header.h"
#include "frontend/io/format/zip.h"

namespace sy::distributed {

namespace {

constexpr const char* kOp = "load_checkpoint";

std::string path_in(const std::string& folder, std::string_view name) {
  return str("{}/{}", folder, name);
}

// The folder itself, or the latest checkpoint in it.
std::string current_of(const std::string& folder) {
  struct stat info {};
  if (::stat(path_in(folder, kManifestName).c_str(), &info) == 0) return folder;
  const std::vector<int64_t> numbers = checkpoint_numbers(kOp, folder);
  if (numbers.empty()) {
    throw FileError(str(
        "[{}] {}: expected a checkpoint in this folder, got {}", kOp, folder,
        ::stat(folder.c_str(), &info) == 0 ? "none" : "no such folder"));
  }
  return checkpoint_path(folder, numbers.back());
}

// Throws FileError unless the file is there, of this checkpoint, and each of
// its bytes is what was written.
void check_file(const std::string& folder, const Manifest& manifest,
                const Manifest::File& expected) {
  const auto file = io::MappedFile::open(kOp, path_in(folder, expected.name));
  const io::FileView view = file->view(kOp);
  std::string id = manifest.id;
  try {
    for (const auto& [name, value] : parse_safetensors(view).metadata) {
      if (name == kIdKey) id = value;
    }
  } catch (const FileError&) {
    // The checks below report the error, or the reader of the file does.
  }
  if (id != manifest.id) {
    view.fail(
        "expected a file of checkpoint {}, got one of {}: files of "
        "several checkpoints are mixed",
        manifest.id, io::in_quotes(id));
  }
  if (file->size() != expected.bytes) {
    view.fail("damaged: expected {} bytes, got {}", expected.bytes,
              file->size());
  }
  if (io::crc32(0, file->data(), file->size()) != expected.crc) {
    view.fail("damaged: its check sum does not agree");
  }
}

}  // namespace

// Makes the state of one rank from files that have been checked.
class CheckpointReader {
 public:
  CheckpointReader(const std::string& folder, const Manifest& manifest,
                   const Talk& talk)
      : folder_(folder), manifest_(manifest), talk_(talk) {}

  CheckpointState read(const std::vector<CheckpointRows>& wanted) {
    CheckpointState state;
    for (const auto& [name, value] : manifest_.values) {
      state.values_.insert(name, value);
    }
    SafetensorsFile& replicated = open(kReplicatedName);
    for (const std::string& name : manifest_.tensors) {
      state.tensors_.insert(name, replicated.get(name));
    }
    for (const CheckpointRows& w : wanted) {
      const auto at = std::find_if(
          manifest_.shards.begin(), manifest_.shards.end(),
          [&](const Manifest::Shard& s) { return s.name == w.name; });
      SY_CHECK(at != manifest_.shards.end(), Value,
               "[{}] rows: expected one of {} shards, got {}", kOp,
               manifest_.shards.size(), io::in_quotes(w.name));
    }
    for (const Manifest::Shard& s : manifest_.shards) {
      state.shards_.insert(s.name, shard(s, wanted));
    }
    const std::string own = rank_file_name(talk_.rank());
    if (manifest_.ranks == talk_.size() && manifest_.has(own)) {
      constexpr std::string_view kOwn = "own/";
      for (const std::string& name : open(own).names()) {
        if (!name.starts_with(kOwn)) continue;
        state.own_.insert(name.substr(kOwn.size()), open(own).get(name));
      }
    }
    return state;
  }

 private:
  SafetensorsFile& open(const std::string& name) {
    const auto at = files_.find(name);
    if (at != files_.end()) return at->second;
    return files_.emplace(name, SafetensorsFile(path_in(folder_, name)))
        .first->second;
  }

  CheckpointShard shard(const Manifest::Shard& s,
                        const std::vector<CheckpointRows>& wanted) {
    const int64_t total = s.sizes[0], ranks = talk_.size(), rank = talk_.rank();
    // total * rank / ranks, without overflow.
    const auto cut = [&](int64_t r) {
      return total / ranks * r + total % ranks * r / ranks;
    };
    int64_t begin = cut(rank), end = cut(rank + 1);
    for (const CheckpointRows& w : wanted) {
      if (w.name != s.name) continue;
      SY_CHECK(0 <= w.begin && w.begin <= w.end && w.end <= total, Value,
               "[{}] rows of {}: expected a part of [0, {}), got [{}, {})", kOp,
               io::in_quotes(s.name), total, w.begin, w.end);
      begin = w.begin;
      end = w.end;
    }
    std::vector<Tensor> pieces;
    for (const Manifest::Rows& r : s.rows) {
      const int64_t from = std::max(begin, r.offset),
                    to = std::min(end, r.offset + r.count);
      if (from >= to) continue;
      pieces.push_back(piece(s, r).narrow(0, from - r.offset, to - from));
    }
    if (pieces.empty()) pieces.push_back(piece(s, s.rows[0]).narrow(0, 0, 0));
    if (pieces.size() == 1) return {pieces[0], begin, total};
    std::vector<int64_t> sizes = s.sizes;
    sizes[0] = end - begin;
    const Tensor all = empty(sizes, pieces[0].scalar_type());
    int64_t at = 0;
    for (const Tensor& p : pieces) {
      all.narrow(0, at, p.size(0)).copy_(p);
      at += p.size(0);
    }
    return {all, begin, total};
  }

  Tensor piece(const Manifest::Shard& s, const Manifest::Rows& r) {
    const Tensor t = open(r.file).get(str("shard/{}", s.name));
    std::vector<int64_t> sizes = s.sizes;
    sizes[0] = r.count;
    if (t.sizes() != IntArrayRef(sizes)) {
      throw FileError(str("[{}] {}: {}: expected sizes {}, got {}", kOp,
                          path_in(folder_, r.file), io::in_quotes(s.name),
                          IntArrayRef(sizes), t.sizes()));
    }
    return t;
  }

  const std::string& folder_;
  const Manifest& manifest_;
  const Talk& talk_;
  std::map<std::string, SafetensorsFile> files_;
};

CheckpointState load_checkpoint(const std::string& folder,
                                const std::shared_ptr<ProcessGroup>& group,
                                const std::vector<CheckpointRows>& rows) {
  const Talk talk(kOp, group);
  std::string current;
  talk.step([&] {
    if (talk.rank() == 0) current = current_of(folder);
  });
  current = talk.from_root(current);
  Manifest manifest;
  talk.step([&] {
    manifest = Manifest::read(kOp, path_in(current, kManifestName));
    for (size_t i = 0; i < manifest.files.size(); ++i) {
      const Manifest::File& f = manifest.files[i];
      const bool mine =
          static_cast<int>(i % static_cast<size_t>(talk.size())) == talk.rank();
      if (mine) check_file(current, manifest, f);
    }
  });
  CheckpointState state;
  talk.step(
      [&] { state = CheckpointReader(current, manifest, talk).read(rows); });
  return state;
}

std::vector<std::string> checkpoints(const std::string& folder) {
  std::vector<std::string> paths;
  for (const int64_t n : checkpoint_numbers("checkpoints", folder)) {
    paths.push_back(checkpoint_path(folder, n));
  }
  return paths;
}

}  // namespace sy::distributed

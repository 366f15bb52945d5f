#include "frontend/io/safetensors.h"

#include <filesystem>
#include <map>
#include <mutex>

#include "c10/process/fork.h"
#include "frontend/io/format/mapped_file.h"
#include "frontend/io/format/safetensors_header.h"
#include "frontend/io/format/safetensors_index.h"
#include "frontend/io/tensor_bytes.h"

namespace sy {

namespace {

constexpr const char* kOp = "load_safetensors";

struct Part {
  std::shared_ptr<io::MappedFile> file;
  io::SafetensorsHeader header;
};

Part open_part(const std::string& path) {
  Part part{io::MappedFile::open(kOp, path), {}};
  part.header = parse_safetensors(part.file->view(kOp));
  return part;
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);
}

struct EntryPlace {
  const Part* part;
  const io::SafetensorsEntry* entry;
};

Tensor make(const EntryPlace& place) {
  const io::MappedFile& file = *place.part->file;
  const io::SafetensorsEntry& e = *place.entry;
  const io::FileView view = file.view(kOp);
  if (e.dtype->scalar_type == ScalarType::Undefined) {
    view.fail_key(e.name, "dtype: {} is not supported", e.dtype->name);
  }
  return io::tensor_over(view, file.data(), e.begin, e.dtype->scalar_type,
                         e.sizes, place.part->file);
}

}  // namespace

struct SafetensorsFile::Impl {
  explicit Impl(const std::string& path) {
    if (path.ends_with(".json")) {
      open_index(path);
    } else {
      Part& part = parts[""] = open_part(path);
      metadata = std::move(part.header.metadata);
      for (const auto& entry : part.header.entries) add({&part, &entry});
    }
    made.resize(places.size());
  }

  size_t find(std::string_view name) const {
    const auto at = by_name.find(name);
    SY_CHECK(at != by_name.end(), Index,
             "[SafetensorsFile] name: expected one of {} names, got {}",
             places.size(), io::in_quotes(name));
    return at->second;
  }

  Tensor get(size_t i) const {
    const std::lock_guard lock(mutex);
    if (!made[i].defined()) made[i] = make(places[i]);
    return made[i].detach();
  }

  std::vector<EntryPlace> places;  // in the order of names()
  std::map<std::string_view, size_t> by_name;
  FileMetadata metadata;

 private:
  // A link in the folder of an index must not lead out of it: neither out of
  // the folder where the index is found, nor, where the index is a link too,
  // out of the one that it leads to.
  static void check_inside(const io::FileView& index, const std::string& path,
                           const std::string& part, const std::string& name) {
    const auto real = [](const std::string& p) {
      std::error_code failed;
      return std::filesystem::canonical(p, failed).string();
    };
    const std::string found = real(part);
    if (found.empty()) return;  // opening it says what is wrong
    const std::string folder = folder_of(path);
    for (const std::string& inside :
         {real(folder.empty() ? "." : folder), folder_of(real(path))}) {
      const std::string start = inside.ends_with('/') ? inside : inside + "/";
      if (found.starts_with(start)) return;
    }
    index.fail_key(
        name,
        "weight_map: expected a file in the folder of the index, got "
        "a link to {}",
        io::in_quotes(found));
  }

  void add(const EntryPlace& place) {
    by_name.emplace(place.entry->name, places.size());
    places.push_back(place);
  }

  void open_index(const std::string& path) {
    const auto file = io::MappedFile::open(kOp, path);
    const io::FileView view = file->view(kOp);
    io::SafetensorsIndex index = parse_safetensors_index(view);
    metadata = std::move(index.metadata);
    std::map<std::pair<std::string_view, std::string_view>, EntryPlace> entries;
    for (const auto& [name, part_name] : index.files) {
      const auto [at, added] = parts.try_emplace(part_name);
      Part& part = at->second;
      if (added) {
        const std::string part_path = folder_of(path) + part_name;
        check_inside(view, path, part_path, name);
        part = open_part(part_path);
        for (const auto& entry : part.header.entries) {
          entries[{at->first, entry.name}] = {&part, &entry};
        }
      }
      const auto place = entries.find({part_name, name});
      if (place == entries.end()) {
        view.fail_key(
            name,
            "weight_map: expected a tensor of {}, which has none of that name",
            io::in_quotes(part_name));
      }
      add(place->second);
    }
  }

  std::map<std::string, Part> parts;  // by the index's names
  mutable ForkMutex mutex;
  mutable std::vector<Tensor> made;  // one for each place; under the mutex
};

SafetensorsFile::SafetensorsFile(const std::string& path)
    : impl_(std::make_shared<const Impl>(path)) {}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  names.reserve(impl_->places.size());
  for (const EntryPlace& p : impl_->places) names.push_back(p.entry->name);
  return names;
}

bool SafetensorsFile::contains(std::string_view name) const {
  return impl_->by_name.contains(name);
}

IntArrayRef SafetensorsFile::sizes(std::string_view name) const {
  return impl_->places[impl_->find(name)].entry->sizes;
}

std::string SafetensorsFile::dtype(std::string_view name) const {
  return impl_->places[impl_->find(name)].entry->dtype->name;
}

Tensor SafetensorsFile::get(std::string_view name) const {
  return impl_->get(impl_->find(name));
}

NamedTensors SafetensorsFile::get_all() const {
  std::vector<NamedTensors::Entry> all;
  all.reserve(impl_->places.size());
  for (size_t i = 0; i < impl_->places.size(); ++i) {
    all.emplace_back(impl_->places[i].entry->name, impl_->get(i));
  }
  return NamedTensors(std::move(all));
}

const FileMetadata& SafetensorsFile::metadata() const {
  return impl_->metadata;
}

NamedTensors load_safetensors(const std::string& path) {
  return SafetensorsFile(path).get_all();
}

}  // namespace sy

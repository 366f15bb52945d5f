#include "frontend/io/torch_state_dict.h"

#include <algorithm>

#include "aten/ops/factory.h"
#include "frontend/io/npy.h"
#include "frontend/io/safetensors.h"
#include "frontend/io/torch_read.h"
#include "frontend/io/torch_write.h"

namespace sy {

namespace {

using Kind = ArchiveValue::Kind;

constexpr const char* kLoad = "load_state_dict";
constexpr const char* kSave = "save_state_dict";
constexpr std::string_view kZip = "PK";

// A value that stands in many places has many names. A few bytes may so claim
// very many; names may take this much for each byte of the file, and more.
constexpr uint64_t kNamesPerByte = 16;
constexpr uint64_t kNamesAlways = 64 << 10;

class Flattener {
 public:
  Flattener(const io::FileView& file, bool numbers)
      : file_(file),
        numbers_(numbers),
        left_(kNamesAlways + kNamesPerByte * file.size) {}

  // path_ is the value's.
  void add(const ArchiveValue& v) {
    spend(1);
    switch (v.kind()) {
      case Kind::Tensor: name(v.to_tensor().detach()); return;
      case Kind::Bool:
      case Kind::Int:
      case Kind::Float:
        if (numbers_) name(number(v));
        return;
      case Kind::List:
      case Kind::Tuple:
        for (size_t i = 0; i < v.items().size(); ++i) {
          below(std::to_string(i), v.items()[i]);
        }
        return;
      case Kind::Dict:
        for (const ArchiveEntry& e : v.entries()) {
          below(e.key.kind() == Kind::Int ? std::to_string(e.key.to_int())
                                          : e.key.to_string(),
                e.value);
        }
        return;
      default: return;
    }
  }

  NamedTensors take() {
    std::vector<const std::string*> names;
    for (const auto& e : entries_) names.push_back(&e.first);
    std::sort(names.begin(), names.end(),
              [](const auto* a, const auto* b) { return *a < *b; });
    for (size_t i = 1; i < names.size(); ++i) {
      if (*names[i - 1] == *names[i]) {
        file_.fail_key(*names[i], "expected once, got twice");
      }
    }
    return NamedTensors(std::move(entries_));
  }

 private:
  static Tensor number(const ArchiveValue& v) {
    switch (v.kind()) {
      case Kind::Bool: return full({}, v.to_bool(), kBool);
      case Kind::Int: return full({}, v.to_int(), kLong);
      default: return full({}, v.to_double(), kDouble);
    }
  }

  void below(const std::string& key, const ArchiveValue& v) {
    const size_t before = path_.size();
    if (!top_) path_ += '.';
    path_ += key;
    const bool top = std::exchange(top_, false);
    add(v);
    top_ = top;
    path_.resize(before);
  }

  void name(Tensor t) {
    if (top_) {
      file_.fail(
          "expected tensors with names, got one without; "
          "read_torch_file reads it");
    }
    spend(path_.size());
    entries_.emplace_back(path_, std::move(t));
  }

  void spend(uint64_t n) {
    if (n > left_) {
      file_.fail(
          "expected values and names of at most {} bytes, as the file has {}, "
          "got more",
          kNamesAlways + kNamesPerByte * file_.size, file_.size);
    }
    left_ -= n;
  }

  const io::FileView& file_;
  bool numbers_;
  bool top_ = true;
  std::string path_;
  uint64_t left_;
  std::vector<NamedTensors::Entry> entries_;
};

NamedTensors flat(const io::OwnedBytes& bytes, const ArchiveValue& tree,
                  bool numbers) {
  Flattener f(bytes.view, numbers);
  f.add(tree);
  return f.take();
}

// An archive of torch.export.save has NAME/models/MODEL.json.
bool is_exported_program(const std::vector<io::ZipMember>& members) {
  return std::any_of(members.begin(), members.end(),
                     [](const io::ZipMember& m) {
                       return m.name.ends_with(".json") &&
                              m.name.find("/models/") != std::string::npos;
                     });
}

bool ends_in(const std::string& path, std::string_view ending) {
  return path.ends_with(ending);
}

}  // namespace

NamedTensors load_state_dict(const std::string& path, bool numbers) {
  if (ends_in(path, ".json")) return load_safetensors(path);
  const io::OwnedBytes bytes = io::map_bytes(kLoad, path);
  const io::FileView& f = bytes.view;
  const std::string_view start = f.text(0, std::min<uint64_t>(f.size, 9), "");
  if (start.size() == 9 && start[8] == '{') return load_safetensors(path);
  if (start.starts_with(kZip)) {
    std::vector<io::ZipMember> members = read_zip(f);
    if (is_exported_program(members)) {
      f.fail(
          "expected tensors, got an exported program: "
          "load_program(path)->state_dict(), of <sy/export.h>");
    }
    if (!is_torch_archive(members)) return load_npz(path);
    return flat(
        bytes,
        io::read_torch(bytes, std::move(members), io::OtherValues::kNone),
        numbers);
  }
  return flat(bytes, io::read_torch(bytes, io::OtherValues::kNone), numbers);
}

NamedTensors load_state_dict_bytes(const void* data, size_t size,
                                   bool numbers) {
  const io::OwnedBytes bytes = io::copy_bytes(kLoad, data, size);
  return flat(bytes, io::read_torch(bytes, io::OtherValues::kNone), numbers);
}

void save_state_dict(const NamedTensors& tensors, const std::string& path) {
  if (ends_in(path, ".safetensors")) return save_safetensors(path, tensors);
  if (ends_in(path, ".npz")) return save_npz(path, tensors);
  SY_CHECK(ends_in(path, ".pt") || ends_in(path, ".pth"), Value,
           "[{}] path: expected a name that ends in .safetensors, .pt, .pth or "
           ".npz, got {}",
           kSave, io::in_quotes(path));
  io::TorchWriter out(kSave);
  for (const auto& [name, t] : tensors) out.announce(name, t);
  io::PickleWriter& p = out.pickle();
  p.empty_dict();
  if (!tensors.empty()) {
    p.mark();
    for (const auto& [name, t] : tensors) {
      out.text("name", name);
      out.tensor(t, false);
    }
    p.end_dict();
  }
  out.save(path);
}

}  // namespace sy

#include "frontend/io/torch_read.h"

#include <algorithm>
#include <cstring>

#include "aten/from_blob.h"
#include "aten/ops/factory.h"
#include "frontend/io/format/mapped_file.h"
#include "frontend/io/tensor_bytes.h"

namespace sy::io {

namespace {

using PickleKind = Pickle::Kind;

// Elements of all dtypes may lie at multiples of it.
constexpr uintptr_t kAligned = 8;
constexpr std::string_view kZip = "PK\3\4";
// The first bytes of a pickle of PyTorch before 1.6.
constexpr std::string_view kLegacy = "\x80\x02\x8a\nl\xfc\x9c";

// Makes each tensor and each value of a file once.
class TreeReader {
 public:
  TreeReader(const OwnedBytes& bytes, const TorchFile& file, OtherValues others)
      : bytes_(bytes),
        others_(others),
        file_(file),
        v_(file.values),
        f_(file.values.file()),
        storages_(file.storages.size()),
        bools_(file.storages.size()),
        place_(v_.size(), kNew) {
    v_.charge(v_.size() * sizeof(uint32_t));
  }

  ArchiveValue read(PickleId id) {
    switch (v_.kind(id)) {
      case PickleKind::None: return {};
      case PickleKind::Bool: return v_.boolean(id);
      case PickleKind::Int: return v_.integer(id);
      case PickleKind::Float: return v_.real(id);
      default: break;
    }
    if (place_[id] < kOpen) return made_[place_[id]];
    if (place_[id] == kOpen) f_.fail("a value holds itself");
    if (depth_ == kDeepestTree) {
      f_.fail("expected values in values to a depth of {}, got more",
              kDeepestTree);
    }
    place_[id] = kOpen;
    ++depth_;
    ArchiveValue value = make(id);
    --depth_;
    if (is_empty(id)) {  // as cheap to make again
      place_[id] = kNew;
      return value;
    }
    v_.charge(sizeof value);
    place_[id] = static_cast<uint32_t>(made_.size());
    made_.push_back(value);
    return value;
  }

 private:
  // Places of values that are not among made_.
  static constexpr uint32_t kNew = ~uint32_t{0}, kOpen = kNew - 1;
  // The bytes that an allocation takes beside its own; those of a tensor, of
  // which each dim beyond some has memory of its own.
  static constexpr uint64_t kBlock = 48, kTensor = 640, kDim = 16;

  bool is_empty(PickleId id) const {
    const PickleKind kind = v_.kind(id);
    return (kind == PickleKind::List || kind == PickleKind::Tuple ||
            kind == PickleKind::Dict) &&
           v_.items(id).empty();
  }

  ArchiveValue make(PickleId id) {
    switch (v_.kind(id)) {
      case PickleKind::Text:
        v_.charge(2 * kBlock + v_.text(id).size());
        return std::string(v_.text(id));
      case PickleKind::List: return ArchiveValue::list(items(id));
      case PickleKind::Tuple: return ArchiveValue::tuple(items(id));
      case PickleKind::Dict: return dict(id);
      case PickleKind::Object:
        if (v_.state(id) == Pickle::kNone) {
          f_.fail("expected a module with its state, got none");
        }
        return read(v_.state(id));
      case PickleKind::Global: {
        std::string word = torch_word(v_.number(id));
        if (word.empty()) return other("a class or function");
        return word;
      }
      case PickleKind::Made:
        if (v_.tag(id) != kTorchTensor) return other("a storage by itself");
        return tensor(file_.tensors[v_.number(id)]);
      default: return other("an int of more than 64 bits");
    }
  }

  ArchiveValue other(const char* what) const {
    if (others_ == OtherValues::kRefuse) {
      f_.fail("{} is not supported", what);
    }
    return {};
  }

  std::vector<ArchiveValue> items(PickleId id) {
    std::vector<ArchiveValue> out;
    if (v_.items(id).empty()) return out;
    v_.charge(2 * kBlock + v_.items(id).size() * sizeof(ArchiveValue));
    out.reserve(v_.items(id).size());
    for (const PickleId item : v_.items(id)) out.push_back(read(item));
    return out;
  }

  ArchiveValue dict(PickleId id) {
    const auto items = v_.items(id);
    std::vector<ArchiveEntry> entries;
    if (items.empty()) return ArchiveValue::dict({});
    v_.charge(3 * kBlock +
              items.size() / 2 * (sizeof(ArchiveEntry) + sizeof(uint32_t)));
    entries.reserve(items.size() / 2);
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      const PickleKind kind = v_.kind(items[i]);
      if (kind != PickleKind::Text && kind != PickleKind::Int) {
        f_.fail("a key: expected a string or an int, got {}", kind_name(kind));
      }
      entries.push_back({read(items[i]), read(items[i + 1])});
    }
    try {
      return ArchiveValue::dict(std::move(entries));
    } catch (const ValueError& e) {
      f_.fail("{}", e.message());
    }
  }

  // The bytes of a member, once for all of its tensors.
  const Storage& storage(uint32_t index) {
    Storage& s = storages_[index];
    if (s) return s;
    const ZipMember& m = file_.storages[index];
    uint8_t* const data = bytes_.data + m.data;
    if (m.deflated || reinterpret_cast<uintptr_t>(data) % kAligned != 0) {
      s = StorageImpl::allocate(m.size, Device(kCPU));
      auto* const to = static_cast<uint8_t*>(s->data());
      if (m.deflated) {
        inflate_member(bytes_.view, m, to);
      } else if (m.size > 0) {
        std::memcpy(to, data, m.size);
      }
      return s;
    }
    using Owner = std::shared_ptr<void>;
    auto owner = std::make_unique<Owner>(bytes_.owner);
    s = StorageImpl::adopt(
        data, m.size, Device(kCPU),
        [](void* context) { delete static_cast<Owner*>(context); },
        owner.get());
    owner.release();
    return s;
  }

  // Any other value of a bool is undefined behaviour in C++.
  void check_bools(uint32_t index, const Storage& s) {
    if (bools_[index]) return;
    const auto* const data = static_cast<const uint8_t*>(s->data());
    const auto* const end = data + s->nbytes();
    const auto* const bad =
        std::find_if(data, end, [](uint8_t b) { return b > 1; });
    if (bad != end) {
      bytes_.view.fail_key(file_.storages[index].name,
                           "element {}: expected a bool of 0 or 1, got {}",
                           bad - data, int{*bad});
    }
    bools_[index] = true;
  }

  Tensor tensor(const TorchTensor& t) {
    read_dims(v_, t.sizes, sizes_);
    read_dims(v_, t.strides, strides_);
    v_.charge(kTensor + kDim * sizes_.size());
    const Storage& s = storage(t.storage);
    if (t.dtype == kBool) check_bools(t.storage, s);
    Tensor out(TensorImpl::make(s, t.dtype, Device(kCPU),
                                DispatchKeySet::dense(kCPU), sizes_, strides_,
                                t.offset));
    if (t.requires_grad) out.requires_grad_();
    return out;
  }

  const OwnedBytes& bytes_;
  OtherValues others_;
  const TorchFile& file_;
  const Pickle& v_;
  const FileView& f_;
  std::vector<Storage> storages_;  // by member, like the next
  std::vector<bool> bools_;        // whether all bytes are bools
  std::vector<ArchiveValue> made_;
  std::vector<uint32_t> place_;  // of each id, among made_
  int depth_ = 0;
  std::vector<int64_t> sizes_, strides_;
};

}  // namespace

OwnedBytes map_bytes(const char* op, const std::string& path) {
  const auto file = MappedFile::open(op, path);
  return {{op, path, file->data(), file->size()}, file->data(), file};
}

OwnedBytes copy_bytes(const char* op, const void* data, size_t size) {
  const auto copy =
      std::make_shared<Tensor>(empty({static_cast<int64_t>(size)}, kByte));
  auto* const to = static_cast<uint8_t*>(copy->raw_data());
  if (size > 0) std::memcpy(to, data, size);
  return {{op, "memory", to, size}, to, copy};
}

ArchiveValue read_torch(const OwnedBytes& bytes, std::vector<ZipMember> members,
                        OtherValues others) {
  const auto file = parse_torch(bytes.view, std::move(members));
  return TreeReader(bytes, *file, others).read(file->root);
}

ArchiveValue read_torch(const OwnedBytes& bytes, OtherValues others) {
  const FileView& f = bytes.view;
  const std::string_view start =
      f.text(0, std::min<uint64_t>(f.size, kLegacy.size()), "");
  if (start == kLegacy) {
    f.fail(
        "files of PyTorch before 1.6 are not supported; expected one that a "
        "later torch.save wrote");
  }
  if (!start.starts_with(kZip)) {
    f.fail("expected an archive of PyTorch, a zip");
  }
  return read_torch(bytes, read_zip(f), others);
}

}  // namespace sy::io

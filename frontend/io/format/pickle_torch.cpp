#include "frontend/io/format/pickle_torch.h"

#include <algorithm>

#include "c10/tensor/tensor_impl.h"
#include "frontend/io/format/pickle_torch_globals.h"

namespace sy::io {

namespace {

using Kind = Pickle::Kind;
using Items = std::span<const PickleId>;

constexpr std::string_view kPickle = "/data.pkl";
// The bytes that a deflated pickle may have, for each of the archive's and in
// any archive.
constexpr uint64_t kInflatedPerByte = 32, kInflatedAlways = uint64_t{4} << 20;

// The number of a storage's value: the member, and the dtype of its elements.
uint64_t number_of(uint32_t member, ScalarType dtype) {
  return uint64_t{member} << 8 | static_cast<uint64_t>(dtype);
}

// Makes descriptions of the tensors that a pickle asks for.
class TorchHandler final : public PickleHandler {
 public:
  // `prefix` are the characters in front of a storage's key.
  TorchHandler(TorchFile& out, size_t prefix)
      : out_(out), v_(out.values), f_(v_.file()), prefix_(prefix) {}

  uint64_t global(uint64_t at, std::string_view module,
                  std::string_view name) override {
    const uint64_t number = find_torch_global(module, name);
    const TorchGlobal& g = torch_global(number);
    if (g.role == TorchRole::Refused) {
      f_.fail_at(at, "global {}.{}: {} are not supported", g.module, g.name,
                 g.kind);
    }
    if (g.role == TorchRole::Unknown) {
      f_.fail_at(at, "global {}.{} is not supported", in_quotes(module),
                 in_quotes(name));
    }
    return number;
  }

  PickleId call(uint64_t at, PickleId function, PickleId tuple) override {
    at_ = at;
    const TorchGlobal& g = torch_global(v_.number(function));
    const Items a = v_.items(tuple);
    switch (g.role) {
      case TorchRole::OrderedDict:
        expect_count(g, a, 0, 0);
        return v_.add_dict();
      case TorchRole::Size:
        expect_count(g, a, 1, 1);
        return expect(a[0], Kind::Tuple, g.name);
      case TorchRole::Device:
        expect_count(g, a, 1, 2);
        return a.size() == 1 ? a[0] : tuple;
      case TorchRole::BuildList:
        expect_count(g, a, 1, 1);
        return expect(a[0], Kind::List, g.name);
      case TorchRole::RestoreTag: expect_count(g, a, 2, 2); return a[0];
      case TorchRole::RebuildFromType:
        expect_count(g, a, 4, 4);
        expect(a[0], Kind::Global, g.name);
        expect(a[1], Kind::Global, g.name);
        expect(a[2], Kind::Tuple, g.name);
        if (role_of(a[1]) != TorchRole::TensorType) {
          unexpected(g, "torch.Tensor", torch_global(v_.number(a[1])).name);
        }
        return rebuild(torch_global(v_.number(a[0])), v_.items(a[2]));
      default: return rebuild(g, a);
    }
  }

  // ('storage', type, key, device, length)
  PickleId outside(uint64_t at, PickleId id) override {
    at_ = at;
    const Items a = v_.items(expect(id, Kind::Tuple, "BINPERSID"));
    if (a.size() != 5 || v_.kind(a[0]) != Kind::Text ||
        v_.text(a[0]) != "storage" || v_.kind(a[1]) != Kind::Global ||
        role_of(a[1]) != TorchRole::Storage) {
      f_.fail_at(at,
                 "BINPERSID: expected ('storage', type, key, device, length)");
    }
    const ScalarType dtype = torch_global(v_.number(a[1])).dtype;
    const std::string_view key =
        v_.text(expect(a[2], Kind::Text, "a storage's key"));
    const int64_t length =
        v_.integer(expect(a[4], Kind::Int, "a storage's length"));
    const uint32_t member = find(key);
    const uint64_t size = out_.storages[member].size;
    const uint64_t item =
        dtype == ScalarType::Undefined ? 1 : element_size(dtype);
    uint64_t bytes = 0;
    if (length < 0 ||
        __builtin_mul_overflow(static_cast<uint64_t>(length), item, &bytes) ||
        bytes != size) {
      f_.fail_at(at,
                 "storage {}: expected {} elements of {} bytes, got {} "
                 "bytes",
                 in_quotes(key), length, item, size);
    }
    return v_.add_made(number_of(member, dtype), kTorchStorage);
  }

  void make(uint64_t at, PickleId type) override {
    const TorchGlobal& g = torch_global(v_.number(type));
    if (g.role == TorchRole::Class) return;
    f_.fail_at(at, "NEWOBJ: expected a module, got {}.{}", g.module, g.name);
  }

  // State dicts carry the versions of their modules so.
  void dict_state(uint64_t, PickleId, PickleId) override {}

  void set_members(std::vector<ZipMember> members) {
    std::sort(members.begin(), members.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    out_.storages = std::move(members);
  }

 private:
  TorchRole role_of(PickleId global) const {
    return torch_global(v_.number(global)).role;
  }

  PickleId expect(PickleId id, Kind kind, const char* what) const {
    if (v_.kind(id) == kind) return id;
    f_.fail_at(at_, "{}: expected {}, got {}", what, kind_name(kind),
               kind_name(v_.kind(id)));
  }
  [[noreturn]] void unexpected(const TorchGlobal& g, const char* expected,
                               std::string_view got) const {
    f_.fail_at(at_, "{}: expected {}, got {}", g.name, expected, got);
  }
  void expect_count(const TorchGlobal& g, Items a, size_t least,
                    size_t most) const {
    if (a.size() >= least && a.size() <= most) return;
    f_.fail_at(at_, "{}: expected {} to {} arguments, got {}", g.name, least,
               most, a.size());
  }

  PickleId rebuild(const TorchGlobal& g, Items a) {
    switch (g.role) {
      case TorchRole::RebuildTensor:
        expect_count(g, a, 4, 4);
        return tensor(g, a, false, ScalarType::Undefined);
      case TorchRole::RebuildTensor2:
        expect_count(g, a, 6, 7);
        if (a.size() == 7) check_metadata(g, a[6]);
        return tensor(g, a, flag(g, a[4]), ScalarType::Undefined);
      case TorchRole::RebuildTensor3: {
        expect_count(g, a, 7, 8);
        if (a.size() == 8) check_metadata(g, a[7]);
        if (v_.kind(a[6]) != Kind::Global || role_of(a[6]) != TorchRole::Word) {
          unexpected(g, "a dtype", kind_name(v_.kind(a[6])));
        }
        return tensor(g, a, flag(g, a[4]), torch_global(v_.number(a[6])).dtype);
      }
      case TorchRole::RebuildParameter: {
        expect_count(g, a, 3, 4);
        if (v_.kind(a[0]) != Kind::Made || v_.tag(a[0]) != kTorchTensor) {
          unexpected(g, "a tensor", kind_name(v_.kind(a[0])));
        }
        TorchTensor t = out_.tensors[v_.number(a[0])];
        t.requires_grad = flag(g, a[1]);
        return add(t);
      }
      default:
        f_.fail_at(at_, "REDUCE: expected a function, got {}.{}", g.module,
                   g.name);
    }
  }

  bool flag(const TorchGlobal& g, PickleId id) const {
    return v_.boolean(expect(id, Kind::Bool, g.name));
  }

  // {'conj': True}, {'neg': True}: the elements are not those of the storage.
  void check_metadata(const TorchGlobal& g, PickleId id) const {
    for (const PickleId item : v_.items(expect(id, Kind::Dict, g.name))) {
      if (item == Pickle::kTrue) {
        f_.fail_at(at_,
                   "{}: lazily conjugated or negated tensors are not "
                   "supported",
                   g.name);
      }
    }
  }

  // (storage, offset, sizes, strides, ...)
  PickleId tensor(const TorchGlobal& g, Items a, bool requires_grad,
                  ScalarType dtype) {
    if (v_.kind(a[0]) != Kind::Made || v_.tag(a[0]) != kTorchStorage) {
      unexpected(g, "a storage", kind_name(v_.kind(a[0])));
    }
    TorchTensor t;
    t.storage = static_cast<uint32_t>(v_.number(a[0]) >> 8);
    t.dtype = static_cast<ScalarType>(v_.number(a[0]) & 255);
    if (dtype != ScalarType::Undefined) t.dtype = dtype;
    if (t.dtype == ScalarType::Undefined) t.dtype = kByte;
    t.requires_grad = requires_grad;
    t.offset = v_.integer(expect(a[1], Kind::Int, g.name));
    t.sizes = expect(a[2], Kind::Tuple, g.name);
    t.strides = expect(a[3], Kind::Tuple, g.name);
    if (requires_grad && !is_floating_type(t.dtype)) {
      f_.fail_at(at_,
                 "{}: expected floating elements of a tensor with a "
                 "gradient, got {}",
                 g.name, dtype_name(t.dtype));
    }
    check_place(g, t);
    return add(t);
  }

  // The elements lie in the storage.
  void check_place(const TorchGlobal& g, const TorchTensor& t) const {
    const Items sizes = v_.items(t.sizes), strides = v_.items(t.strides);
    if (sizes.size() != strides.size() || sizes.size() > TensorImpl::kMaxDims) {
      f_.fail_at(at_,
                 "{}: expected as many strides as sizes, at most {}, got "
                 "{} and {}",
                 g.name, int{TensorImpl::kMaxDims}, sizes.size(),
                 strides.size());
    }
    int64_t last = t.offset, numel = 1;
    bool overflow = false, none = false;
    for (size_t d = 0; d < sizes.size(); ++d) {
      const int64_t size = v_.integer(expect(sizes[d], Kind::Int, g.name));
      const int64_t stride = v_.integer(expect(strides[d], Kind::Int, g.name));
      if (size < 0 || stride < 0) {
        f_.fail_at(at_,
                   "{}: dim {}: expected a size and a stride of at least "
                   "0, got {} and {}",
                   g.name, d, size, stride);
      }
      none |= size == 0;
      int64_t step = 0;
      overflow |= __builtin_mul_overflow(numel, size, &numel);
      overflow |=
          __builtin_mul_overflow(std::max<int64_t>(size - 1, 0), stride, &step);
      overflow |= __builtin_add_overflow(last, step, &last);
    }
    const ZipMember& member = out_.storages[t.storage];
    const uint64_t item = element_size(t.dtype);
    const uint64_t room = member.size / item;
    if (none) {
      // A product that overflowed before its 0 is of no storage.
      if (!overflow && t.offset >= 0 && static_cast<uint64_t>(t.offset) <= room)
        return;
    } else if (!overflow && t.offset >= 0 &&
               static_cast<uint64_t>(last) < room &&
               numel <= INT64_MAX / static_cast<int64_t>(item)) {
      return;
    }
    f_.fail_at(at_,
               "{}: the elements from {} on do not lie in storage {} of "
               "{} elements",
               g.name, t.offset, in_quotes(member.name.substr(prefix_)), room);
  }

  PickleId add(const TorchTensor& t) {
    v_.charge(2 * sizeof t);
    out_.tensors.push_back(t);
    return v_.add_made(out_.tensors.size() - 1, kTorchTensor);
  }

  // The member of a storage.
  uint32_t find(std::string_view key) const {
    const auto at =
        std::lower_bound(out_.storages.begin(), out_.storages.end(), key,
                         [&](const ZipMember& m, std::string_view k) {
                           return std::string_view(m.name).substr(prefix_) < k;
                         });
    if (at == out_.storages.end() ||
        std::string_view(at->name).substr(prefix_) != key) {
      f_.fail_at(at_,
                 "storage {}: expected its bytes in the archive, found "
                 "none",
                 in_quotes(key));
    }
    return static_cast<uint32_t>(at - out_.storages.begin());
  }

  TorchFile& out_;
  Pickle& v_;
  const FileView& f_;
  size_t prefix_;
  uint64_t at_ = 0;  // of the opcode
};

// NAME/data.pkl, in no other folder.
bool is_pickle(const ZipMember& m) {
  return m.name.ends_with(kPickle) &&
         m.name.find('/') == m.name.size() - kPickle.size();
}

void check_byteorder(const FileView& file, const ZipMember& m) {
  if (m.deflated) file.fail_key(m.name, "expected a stored member");
  const std::string_view order = file.text(m.data, m.size, "byteorder");
  if (order != "little") {
    file.fail_key(m.name, "expected 'little', {} is not supported",
                  in_quotes(order));
  }
}

}  // namespace

bool is_torch_archive(const std::vector<ZipMember>& members) {
  return std::any_of(members.begin(), members.end(), is_pickle);
}

std::unique_ptr<TorchFile> parse_torch(const FileView& file,
                                       std::vector<ZipMember> members) {
  const auto found = std::find_if(members.begin(), members.end(), is_pickle);
  if (found == members.end() ||
      std::count_if(members.begin(), members.end(), is_pickle) > 1) {
    file.fail("expected an archive of PyTorch, with one member NAME{}",
              kPickle);
  }
  const ZipMember pickle = *found;
  const std::string name =
      pickle.name.substr(0, pickle.name.size() - kPickle.size());
  const std::string storages = name + "/data/";
  std::vector<ZipMember> own;
  for (ZipMember& m : members) {
    if (m.name == name + "/byteorder") check_byteorder(file, m);
    if (m.name.starts_with(storages)) own.push_back(std::move(m));
  }

  std::vector<uint8_t> inflated;
  const uint8_t* bytes = file.data + pickle.data;
  if (pickle.deflated) {
    if (pickle.size > kInflatedAlways + kInflatedPerByte * file.size) {
      file.fail_key(pickle.name,
                    "expected at most {} bytes when inflated, {} for each of "
                    "the file's, got {}",
                    kInflatedAlways + kInflatedPerByte * file.size,
                    kInflatedPerByte, pickle.size);
    }
    inflated.resize(pickle.size);
    inflate_member(file, pickle, inflated.data());
    bytes = inflated.data();
  } else {
    check_stored(file, pickle);
  }
  auto out = std::make_unique<TorchFile>(
      str("{}: {}", file.path, in_quotes(pickle.name)), file.op, bytes,
      pickle.size, std::move(inflated), file.size);
  TorchHandler handler(*out, storages.size());
  handler.set_members(std::move(own));
  out->root = read_pickle(out->values, handler);
  return out;
}

void read_dims(const Pickle& values, PickleId tuple,
               std::vector<int64_t>& out) {
  out.clear();
  for (const PickleId id : values.items(tuple)) {
    out.push_back(values.integer(id));
  }
}

}  // namespace sy::io

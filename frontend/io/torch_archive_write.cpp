#include <unistd.h>

#include <functional>
#include <map>
#include <ostream>
#include <set>

#include "c10/process/environment.h"
#include "frontend/io/format/mapped_file.h"
#include "frontend/io/format/pickle_torch.h"
#include "frontend/io/tensor_bytes.h"
#include "frontend/io/torch_archive.h"
#include "frontend/io/torch_write.h"

namespace sy::serialize {

namespace {

constexpr const char* kOp = "save_to";

std::string quoted(std::string_view key) { return io::in_quotes(key); }

// The class of a module, and the file of its attributes.
struct ClassName {
  std::string module = "__torch__";
  std::string file = "code/__torch__.py";
};
ClassName class_name(int number) {
  if (number == 0) return {};
  const int mangled = number - 1;
  return {str("__torch__.___torch_mangle_{}", mangled),
          str("code/__torch__/___torch_mangle_{}.py", mangled)};
}

// The type of a list in libtorch's language, and the function that makes the
// list from its items.
struct ListKind {
  const char* type;
  const char* builder;  // nullptr: by a tag of the type
};
ListKind list_kind(const Value& v) {
  switch (v.tag()) {
    case Value::Tag::IntList: return {"List[int]", "build_intlist"};
    case Value::Tag::DoubleList: return {"List[float]", "build_doublelist"};
    case Value::Tag::BoolList: return {"List[bool]", "build_boollist"};
    case Value::Tag::TensorList: return {"List[Tensor]", "build_tensorlist"};
    case Value::Tag::StringList: return {"List[str]", nullptr};
    default: return {nullptr, nullptr};
  }
}
const char* type_name(const Value& v) {
  switch (v.tag()) {
    case Value::Tag::None: return "NoneType";
    case Value::Tag::Bool: return "bool";
    case Value::Tag::Int: return "int";
    case Value::Tag::Double: return "float";
    case Value::Tag::String: return "str";
    case Value::Tag::Tensor: return "Tensor";
    default: return list_kind(v).type;
  }
}

}  // namespace

struct OutputArchive::Module {
  enum Role : uint8_t { kParameter, kBuffer, kAttribute };
  struct Entry {
    std::string key = {};
    Value value = {};
    Role role = kAttribute;
    // An archive or a tuple, if it is one.
    std::shared_ptr<Module> child = nullptr;
    std::optional<std::vector<Value>> tuple = std::nullopt;
  };

  // The entry's key is set to `key`.
  void add(std::string_view key, Entry entry) {
    constexpr const char* kWrite = "OutputArchive";
    bool plain = !key.empty();
    for (const char c : key) {
      plain &= static_cast<uint8_t>(c) >= ' ' && c != '"' && c != '\\' &&
               c != '\x7f';
    }
    SY_CHECK(plain, Value,
             "[{}] key: expected characters other than quotes, backslashes and "
             "control characters, got {}",
             kWrite, quoted(key));
    const auto [at, added] =
        places.try_emplace(std::string(key), entries.size());
    SY_CHECK(added, Value, "[{}] key: expected each once, got {} twice", kWrite,
             quoted(key));
    entry.key = at->first;
    entries.push_back(std::move(entry));
  }

  // Whether the other is this one or below it.
  bool holds(const Module* other) const {
    std::set<const Module*> seen = {this};
    for (std::vector<const Module*> open = {this}; !open.empty();) {
      const Module* const m = open.back();
      open.pop_back();
      if (m == other) return true;
      for (const Entry& e : m->entries) {
        if (e.child && seen.insert(e.child.get()).second) {
          open.push_back(e.child.get());
        }
      }
    }
    return false;
  }

  std::vector<Entry> entries;
  std::map<std::string, size_t, std::less<>> places;
};

namespace {

using Module = OutputArchive::Module;

class ModuleWriter {
 public:
  ModuleWriter() : out_(kOp) {}

  void save(const Module& root, const std::string& path) {
    announce(root, "", 1);
    write(root);
    out_.member("constants.pkl", std::string("\x80\x02).", 4));
    out_.save(path);
  }

 private:
  void announce(const Module& m, const std::string& path, int depth) {
    SY_CHECK(depth <= io::kDeepestTree, Value,
             "[{}] {}: expected archives in archives to a depth of {}, got "
             "more",
             kOp, quoted(path), io::kDeepestTree);
    for (const Module::Entry& e : m.entries) {
      const std::string name = path.empty() ? e.key : path + "." + e.key;
      if (e.child) {
        announce(*e.child, name, depth + 1);
        continue;
      }
      const auto tell = [&](const TensorBase& t) {
        out_.announce(name, Tensor(t));
      };
      for_each_tensor(e.value, tell);
      if (!e.tuple) continue;
      for (const Value& v : *e.tuple) for_each_tensor(v, tell);
    }
  }

  // An object of a class of its own, and the file that describes the class.
  // Returns the class.
  std::string write(const Module& m) {
    const ClassName name = class_name(classes_++);
    io::PickleWriter& p = out_.pickle();
    p.global(name.module, "Module");
    p.object();
    p.empty_dict();
    if (!m.entries.empty()) p.mark();
    std::string parameters, buffers, types;
    for (const Module::Entry& e : m.entries) {
      const std::string key = str("\"{}\"", e.key);
      if (e.role == Module::kParameter) parameters += key + ", ";
      if (e.role == Module::kBuffer) buffers += key + ", ";
      out_.text("key", e.key);
      std::string type;
      if (e.child) {
        type = write(*e.child);
      } else if (e.tuple) {
        type = tuple(*e.tuple);
      } else {
        type = type_name(e.value);
        value(e.value);
      }
      types += str("  __annotations__[{}] = {}\n", key, type);
    }
    if (!m.entries.empty()) p.end_dict();
    p.build();
    out_.member(name.file,
                str("class Module(Module):\n  __parameters__ = [{}]\n  "
                    "__buffers__ = [{}]\n  __annotations__ = []\n{}",
                    parameters, buffers, types));
    return name.module + ".Module";
  }

  void value(const Value& v) {
    io::PickleWriter& p = out_.pickle();
    switch (v.tag()) {
      case Value::Tag::None: p.none(); return;
      case Value::Tag::Bool: p.boolean(v.to_bool()); return;
      case Value::Tag::Int: p.integer(v.to_int()); return;
      case Value::Tag::Double: p.real(v.to_double()); return;
      case Value::Tag::String:
        out_.text("a string", v.to_string_view());
        return;
      case Value::Tag::Tensor: tensor(v.to_tensor()); return;
      default: list(v);
    }
  }

  // Returns its type.
  std::string tuple(const std::vector<Value>& items) {
    std::string types;
    out_.pickle().mark();
    for (const Value& v : items) {
      types += str("{}{}", types.empty() ? "" : ", ", type_name(v));
      value(v);
    }
    out_.pickle().end_tuple();
    return str("Tuple[{}]", types.empty() ? "()" : types);
  }

  void tensor(const TensorBase& base) {
    const Tensor t(base);
    out_.tensor(t, t.requires_grad());
  }

  void list(const Value& v) {
    io::PickleWriter& p = out_.pickle();
    const ListKind kind = list_kind(v);
    p.global("torch.jit._pickle",
             kind.builder != nullptr ? kind.builder : "restore_type_tag");
    p.mark();
    p.empty_list();
    p.mark();
    switch (v.tag()) {
      case Value::Tag::IntList:
        for (const int64_t i : v.to_int_list()) p.integer(i);
        break;
      case Value::Tag::DoubleList:
        for (const double d : v.to_double_list()) p.real(d);
        break;
      case Value::Tag::BoolList:
        for (const bool b : v.to_bool_list()) p.boolean(b);
        break;
      case Value::Tag::TensorList:
        for (const TensorBase& t : v.to_tensor_list()) tensor(t);
        break;
      default:
        for (const std::string& s : v.to_string_list()) {
          out_.text("a string", s);
        }
    }
    p.end_list();
    if (kind.builder == nullptr) p.text(kind.type);
    p.end_tuple();
    p.call();
  }

  io::TorchWriter out_;
  int classes_ = 0;
};

// A folder of its own, gone in the end with the one file in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const char* const base = environment("TMPDIR");
    path_ = str("{}/switchyard-XXXXXX", base != nullptr ? base : "/tmp");
    if (::mkdtemp(path_.data()) == nullptr) {
      io::FileView{kOp, path_}.fail("cannot create a folder");
    }
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    ::unlink(file().c_str());
    ::rmdir(path_.c_str());
  }
  std::string file() const { return path_ + "/archive.pt"; }

 private:
  std::string path_;
};

void check_kind(std::string_view key, const Value& value) {
  SY_CHECK(type_name(value) != nullptr, Type,
           "[OutputArchive] {}: expected None, a number, a string, a tensor or "
           "a list of one of these, got {}",
           quoted(key), tag_name(value.tag()));
}

}  // namespace

OutputArchive::OutputArchive() : module_(std::make_shared<Module>()) {}
OutputArchive::OutputArchive(OutputArchive&&) noexcept = default;
OutputArchive& OutputArchive::operator=(OutputArchive&&) noexcept = default;
OutputArchive::~OutputArchive() = default;

void OutputArchive::write(std::string_view key, const Tensor& tensor,
                          bool is_buffer) {
  io::check_savable("OutputArchive", quoted(key), tensor);
  module_->add(key, {.value = TensorBase(tensor),
                     .role = is_buffer ? Module::kBuffer : Module::kParameter});
}

void OutputArchive::write(std::string_view key, const Value& value) {
  check_kind(key, value);
  module_->add(key, {.value = value});
}

void OutputArchive::write_tuple(std::string_view key,
                                std::vector<Value> items) {
  for (const Value& v : items) check_kind(key, v);
  module_->add(key, {.tuple = std::move(items)});
}

void OutputArchive::write(std::string_view key, OutputArchive& nested) {
  SY_CHECK(!nested.module_->holds(module_.get()), Value,
           "[OutputArchive] {}: expected an archive that does not hold this "
           "one",
           quoted(key));
  module_->add(key, {.child = nested.module_});
}

void OutputArchive::save_to(const std::string& path) const {
  ModuleWriter().save(*module_, path);
}

void OutputArchive::save_to(std::ostream& out) const {
  const TemporaryFolder folder;
  save_to(folder.file());
  const auto bytes = io::MappedFile::open(kOp, folder.file());
  out.write(reinterpret_cast<const char*>(bytes->data()),
            static_cast<std::streamsize>(bytes->size()));
  if (!out) io::FileView{kOp, "stream"}.fail("cannot write");
}

OutputArchive archive_of(const Tensor& tensor) {
  OutputArchive out;
  out.write("0", tensor);
  return out;
}

OutputArchive archive_of(const std::vector<Tensor>& tensors) {
  OutputArchive out;
  for (size_t i = 0; i < tensors.size(); ++i) {
    out.write(std::to_string(i), tensors[i]);
  }
  return out;
}

}  // namespace sy::serialize

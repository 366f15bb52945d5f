#pragma once

#include <concepts>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c10/tensor/value.h"
#include "frontend/io/file_error.h"
#include "frontend/io/torch_value.h"

// libtorch's archives, which torch::save and torch::load write and read: a tree
// of modules with tensors and other attributes by name.

namespace sy {

namespace serialize {

// The archive that save() writes to. An archive is a module of the file, and
// the archives in it are its children. For one thread.
class SY_API OutputArchive {
 public:
  OutputArchive();
  OutputArchive(OutputArchive&&) noexcept;
  OutputArchive& operator=(OutputArchive&&) noexcept;
  ~OutputArchive();

  // Each key stands once. These throw ValueError for one that is there, that is
  // empty, or has quotes, backslashes or control characters.
  //
  // The archive keeps the tensor; its elements are read by save_to(). libtorch
  // finds it among the parameters of a module, or among its buffers.
  void write(std::string_view key, const Tensor& tensor,
             bool is_buffer = false);
  // None, a bool, an int, a double, a string, or a list of ints, doubles,
  // bools, strings or tensors. Throws TypeError for other kinds.
  void write(std::string_view key, const Value& value);
  void write(std::string_view key, std::string_view text) {
    write(key, Value(text));
  }
  void write(std::string_view key, const char* text) {
    write(key, Value(text));
  }
  // A tuple of such values.
  void write_tuple(std::string_view key, std::vector<Value> items);
  // The nested archive is shared: what is written to it later is saved as
  // well. Throws ValueError if it is this one or holds it.
  void write(std::string_view key, OutputArchive& nested);

  // Writes the file. Nobody sees a half-written one. Throws FileError;
  // ValueError for archives that are nested deeper than 200.
  void save_to(const std::string& path) const;
  // Throws FileError also if the stream fails.
  void save_to(std::ostream& out) const;

  struct Module;  // of torch_archive_write.cpp

 private:
  std::shared_ptr<Module> module_;
};

// The archive that load() reads from: a module of a file. Tensors are on the
// CPU and over the mapped file (see read_torch_file), or copied to the device
// that load_from() was given. Copies share the file's values. Thread-safe but
// for the tensors.
class SY_API InputArchive {
 public:
  InputArchive() = default;

  // These replace what the archive held. Bytes and streams are copied. Throw
  // FileError for what is no archive, see read_torch_file. Python's files of a
  // dict are read as well.
  void load_from(const std::string& path,
                 std::optional<Device> device = std::nullopt);
  void load_from(std::istream& in, std::optional<Device> device = std::nullopt);
  void load_from(const char* data, size_t size,
                 std::optional<Device> device = std::nullopt);

  // False, and nothing is changed, if there is no such key or if its value is
  // of another kind. A tensor that is defined keeps its identity and whether it
  // requires a gradient: elements are copied into it if sizes and dtype agree,
  // otherwise it takes over memory, sizes and dtype of the file's.
  // `is_buffer` has no meaning; libtorch has it.
  bool try_read(std::string_view key, Tensor& tensor, bool is_buffer = false);
  bool try_read(std::string_view key, InputArchive& archive);
  // A list or a tuple of items of one kind is a list.
  bool try_read(std::string_view key, Value& value);
  // The items of a tuple or of a list, of whatever kinds.
  bool try_read(std::string_view key, std::vector<Value>& items);
  bool try_read(std::string_view key, int64_t& value);
  bool try_read(std::string_view key, double& value);
  bool try_read(std::string_view key, bool& value);
  bool try_read(std::string_view key, std::string& value);
  // The same, but throws ValueError that names the key and its path.
  template <class T>
  void read(std::string_view key, T& to) {
    if (!try_read(key, to)) missing(key);
  }
  void read(std::string_view key, Tensor& tensor, bool is_buffer) {
    if (!try_read(key, tensor, is_buffer)) missing(key);
  }

  // The keys, in the order of the file.
  std::vector<std::string> keys() const;

 private:
  void set(ArchiveValue value, std::optional<Device> device);
  const ArchiveValue* find(std::string_view key) const;
  [[noreturn]] void missing(std::string_view key) const;

  ArchiveValue value_;
  std::optional<Device> device_;
  std::string path_;  // in the file, for messages
};

}  // namespace serialize

// A class with these two, or a pointer or holder to one, goes to save() and
// load().
template <class T>
concept SavedByMember = requires(const T& t, serialize::OutputArchive& out) {
  t.save(out);
};
template <class T>
concept SavedByPointer =
    !SavedByMember<T> && requires(const T& t, serialize::OutputArchive& out) {
  t->save(out);
};
template <class T>
concept LoadedByMember = requires(T& t, serialize::InputArchive& in) {
  t.load(in);
};
template <class T>
concept LoadedByPointer =
    !LoadedByMember<T> && requires(T & t, serialize::InputArchive& in) {
  t->load(in);
};

// save(value, path) and save(value, stream); load(value, path), load(value,
// stream), load(value, data, size), each with a device at the end if wanted.
// The files are those of torch::save and torch::load. They throw what save_to,
// load_from and read throw.
namespace serialize {
SY_API OutputArchive archive_of(const Tensor& tensor);
SY_API OutputArchive archive_of(const std::vector<Tensor>& tensors);
SY_API void read_into(Tensor& tensor, InputArchive& archive);
SY_API void read_into(std::vector<Tensor>& tensors, InputArchive& archive);
}  // namespace serialize

template <class... To>
void save(const Tensor& tensor, To&&... to) {
  serialize::archive_of(tensor).save_to(std::forward<To>(to)...);
}
template <class... To>
void save(const std::vector<Tensor>& tensors, To&&... to) {
  serialize::archive_of(tensors).save_to(std::forward<To>(to)...);
}
template <class T, class... To>
requires SavedByMember<T> || SavedByPointer<T>
void save(const T& value, To&&... to) {
  serialize::OutputArchive archive;
  if constexpr (SavedByMember<T>) {
    value.save(archive);
  } else {
    value->save(archive);
  }
  archive.save_to(std::forward<To>(to)...);
}

template <class... From>
void load(Tensor& tensor, From&&... from) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<From>(from)...);
  serialize::read_into(tensor, archive);
}
// Appends the tensors of the file, as libtorch does.
template <class... From>
void load(std::vector<Tensor>& tensors, From&&... from) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<From>(from)...);
  serialize::read_into(tensors, archive);
}
template <class T, class... From>
requires LoadedByMember<T> || LoadedByPointer<T>
void load(T& value, From&&... from) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<From>(from)...);
  if constexpr (LoadedByMember<T>) {
    value.load(archive);
  } else {
    value->load(archive);
  }
}

}  // namespace sy

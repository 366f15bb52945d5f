#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "frontend/io/format/file_view.h"

// Python's pickles, protocols 2 to 5 (PEP 307, 3154, 574; Lib/pickletools.py
// describes the opcodes). Reading makes values and runs nothing. A
// PickleHandler says what the classes and functions of a pickle mean.

namespace sy::io {

// A value of a pickle: its place in Pickle::nodes().
using PickleId = uint32_t;

// The values of a pickle. They refer to each other by id, so that a value that
// stands in many places, or in itself, is there once. Borrows the file's bytes.
class Pickle {
 public:
  enum class Kind : uint8_t {
    None,
    Bool,
    Int,   // of 64 bits
    Long,  // an integer of more bits
    Float,
    Text,
    List,
    Tuple,
    Dict,
    Global,  // a class or function; number() is the handler's
    Object,  // of a class; its state is a Dict, or none
    Made,    // by the handler; number() and tag() are its own
  };

  // The values of a file that is the pickle, or of one of `whole` bytes that
  // the pickle is a deflated part of.
  explicit Pickle(const FileView& file) : Pickle(file, file.size) {}
  Pickle(const FileView& file, uint64_t whole);

  // Counts memory that a value takes, here or in the reader of the pickle: few
  // bytes can name very much. Throws FileError beyond a small multiple of the
  // file.
  void charge(uint64_t bytes) const {
    if (bytes > left_) too_large();
    left_ -= bytes;
  }

  Kind kind(PickleId id) const { return nodes_[id].kind; }
  // Each holds for its kinds alone.
  bool boolean(PickleId id) const { return nodes_[id].integer != 0; }
  int64_t integer(PickleId id) const { return nodes_[id].integer; }
  double real(PickleId id) const { return nodes_[id].real; }
  std::string_view text(PickleId id) const;
  // The items of a list or tuple; the keys and values of a dict in turn.
  std::span<const PickleId> items(PickleId id) const;
  uint64_t number(PickleId id) const {
    return static_cast<uint64_t>(nodes_[id].integer);
  }
  uint32_t tag(PickleId id) const { return nodes_[id].count; }
  // The Dict of an object. Returns kNone if it has none.
  PickleId state(PickleId id) const { return nodes_[id].count; }

  size_t size() const { return nodes_.size(); }
  const FileView& file() const { return file_; }

  static constexpr PickleId kNone = 0, kFalse = 1, kTrue = 2, kEmptyTuple = 3;

  // For readers.
  PickleId add_integer(int64_t v) { return add(Kind::Int, v); }
  PickleId add_real(double v);
  PickleId add_text(Kind kind, uint64_t at, uint64_t size);
  PickleId add_tuple(std::span<const PickleId> items);
  PickleId add_list() { return add(Kind::List, -1); }
  PickleId add_dict() { return add(Kind::Dict, -1); }
  PickleId add_global(uint64_t number) {
    return add(Kind::Global, static_cast<int64_t>(number));
  }
  PickleId add_object() { return add(Kind::Object, 0); }
  PickleId add_made(uint64_t number, uint32_t tag) {
    return add(Kind::Made, static_cast<int64_t>(number), tag);
  }
  void append(PickleId list_or_dict, std::span<const PickleId> items);
  void set_state(PickleId object, PickleId dict) {
    nodes_[object].count = dict;
  }

 private:
  // 16 bytes, as a file has a value in each of its bytes at worst.
  struct Node {
    union {
      int64_t integer;  // also where a text, or the items, are
      double real;
    };
    uint32_t count;  // of characters, or of a tuple's items
    Kind kind;
  };
  PickleId add(Kind kind, int64_t integer, uint32_t count = 0) {
    charge(sizeof(Node));
    nodes_.push_back({{integer}, count, kind});
    return static_cast<PickleId>(nodes_.size() - 1);
  }

  [[noreturn]] void too_large() const;

  FileView file_;
  uint64_t most_;
  mutable uint64_t left_;
  std::vector<Node> nodes_;
  std::vector<PickleId> tuples_;  // their items
  std::vector<std::vector<PickleId>> growing_;
};

// Gives the classes and functions of a pickle their meaning. `at` is the
// opcode's byte. Each function throws FileError for what it does not know.
class PickleHandler {
 public:
  virtual ~PickleHandler();
  // The number of a class or function.
  virtual uint64_t global(uint64_t at, std::string_view module,
                          std::string_view name) = 0;
  // The result of calling a function with a tuple.
  virtual PickleId call(uint64_t at, PickleId function, PickleId tuple) = 0;
  // The value that stands for an object outside of the pickle.
  virtual PickleId outside(uint64_t at, PickleId id) = 0;
  // Throws unless objects of the class may be made, without arguments.
  virtual void make(uint64_t at, PickleId global) = 0;
  // A dict was given a state, in addition to its entries.
  virtual void dict_state(uint64_t at, PickleId dict, PickleId state) = 0;
};

// Reads the file as one pickle and returns its value. Throws FileError, which
// names the opcode or the global, and its byte. Takes time and memory in
// proportion to the file, whatever it claims (see Pickle::charge).
PickleId read_pickle(Pickle& values, PickleHandler& handler);

// "an int", "a list", for messages.
const char* kind_name(Pickle::Kind kind);

}  // namespace sy::io

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/io/format/file_view.h"

// A JSON text as a tree, for texts whose form depends on what they say. A value
// takes 32 bytes, and its text is at least two: the tree of a text is at most
// 16 times as large.

namespace sy::exporting {

class JsonTree;

// A value of a tree, which it borrows. The functions throw FileError with the
// place of the value if it is not what they are for.
class JsonValue {
 public:
  enum class Kind : uint8_t { Null, Bool, Int, Float, String, Array, Object };

  Kind kind() const;
  bool is_null() const { return kind() == Kind::Null; }

  bool to_bool() const;
  int64_t to_int() const;
  // Also an integer, and the strings "Infinity", "-Infinity" and "NaN".
  double to_double() const;
  std::string_view to_string() const;

  // The items of an array, or the members of an object in their order.
  std::vector<JsonValue> items() const;
  size_t size() const;
  std::string_view key() const;  // of a member

  // The member of an object: the last of that name.
  std::optional<JsonValue> find(std::string_view key) const;
  JsonValue operator[](std::string_view key) const;
  // The only member, for objects that say by it which kind they are.
  JsonValue only_member() const;

  template <class... A>
  [[noreturn]] void fail(FormatOf<A...> text, const A&... arguments) const {
    fail_with(str(text, arguments...));
  }

 private:
  friend class JsonTree;
  JsonValue(const JsonTree* tree, uint32_t cell) : tree_(tree), cell_(cell) {}
  void expect(Kind kind) const;
  [[noreturn]] void fail_with(const std::string& what) const;

  const JsonTree* tree_;
  uint32_t cell_;
};

class JsonTree {
 public:
  // The tree of bytes [begin, end) of the file, which must outlive it. Throws
  // FileError if they are not JSON, for values that lie in more than 500
  // others, and for 2 GiB of text.
  JsonTree(const io::FileView& file, uint64_t begin, uint64_t end);

  JsonValue root() const { return {this, 0}; }

 private:
  friend class JsonValue;
  class Builder;

  struct Text {
    uint32_t begin = 0, size = 0;  // in texts_
  };
  struct Cell {
    JsonValue::Kind kind;
    uint32_t at;        // after its beginning or end, from begin_
    uint32_t next = 0;  // the next value of the same array or object
    Text key;
    union {
      int64_t integer;
      double real;
      Text text;
      struct {
        uint32_t first, count;  // of an array or an object
      } in;
    };
  };

  std::string_view text(Text t) const {
    return std::string_view(texts_).substr(t.begin, t.size);
  }

  io::FileView file_;
  uint64_t begin_;
  std::vector<Cell> cells_;
  std::string texts_;
};

}  // namespace sy::exporting

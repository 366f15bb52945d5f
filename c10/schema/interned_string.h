#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "c10/macros.h"

namespace sy {

// A string that the process stores once, for ever: eight bytes, compared by
// address. Signatures use few distinct names (`self`, `dim`, `out`), so this
// costs less than separate strings. Not for unbounded text from outside.
// Thread-safe: making one takes a lock, all else takes none.
class SY_API InternedString {
 public:
  constexpr InternedString() = default;
  InternedString(std::string_view text);
  InternedString(const char* text) : InternedString(std::string_view(text)) {}

  std::string_view view() const {
    return rep_ ? std::string_view(rep_->text(), rep_->size)
                : std::string_view();
  }
  operator std::string_view() const { return view(); }
  // Terminated by a zero; lives as long as the process.
  const char* c_str() const { return rep_ ? rep_->text() : ""; }
  bool empty() const { return rep_ == nullptr; }
  std::size_t size() const { return rep_ ? rep_->size : 0; }
  std::size_t hash() const { return rep_ ? rep_->hash : 0; }

  friend bool operator==(InternedString a, InternedString b) {
    return a.rep_ == b.rep_;
  }
  friend bool operator==(InternedString a, std::string_view b) {
    return a.view() == b;
  }
  friend bool operator==(InternedString a, const char* b) {
    return a.view() == std::string_view(b);
  }

  struct Rep {
    std::uint32_t size;
    std::uint32_t hash;
    const char* text() const { return reinterpret_cast<const char*>(this + 1); }
  };

 private:
  const Rep* rep_ = nullptr;
};

}  // namespace sy

template <>
struct std::hash<sy::InternedString> {
  std::size_t operator()(sy::InternedString s) const { return s.hash(); }
};

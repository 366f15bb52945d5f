#pragma once

#include <cstdint>

namespace sy {

// A set of alias names: letters a to z, and `*` for anything at all.
class AliasSet {
 public:
  constexpr AliasSet() = default;
  static constexpr AliasSet of(char letter) {
    return AliasSet(1u << (letter == '*' ? kWildcardBit : letter - 'a'));
  }
  static constexpr AliasSet from_bits(std::uint32_t bits) {
    return AliasSet(bits);
  }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool is_wildcard() const { return bits_ >> kWildcardBit & 1; }
  constexpr bool intersects(AliasSet other) const {
    return bits_ & other.bits_;
  }
  constexpr bool contains(AliasSet other) const {
    return (other.bits_ & ~bits_) == 0;
  }
  // Whether there are two or more names in it.
  constexpr bool has_several() const { return bits_ & (bits_ - 1); }
  // The raw letters, bit 0 for `a`; bit 26 is `*`.
  constexpr std::uint32_t bits() const { return bits_; }

  friend constexpr AliasSet operator|(AliasSet a, AliasSet b) {
    return AliasSet(a.bits_ | b.bits_);
  }
  friend constexpr AliasSet operator-(AliasSet a, AliasSet b) {
    return AliasSet(a.bits_ & ~b.bits_);
  }
  friend constexpr bool operator==(AliasSet, AliasSet) = default;

 private:
  static constexpr int kWildcardBit = 26;
  constexpr explicit AliasSet(std::uint32_t bits) : bits_(bits) {}

  std::uint32_t bits_ = 0;
};

// The annotation in `Tensor(a! -> a|b)`: the sets that a value belongs to
// before and after the call, and whether the call writes to it. It converts to
// false if there is no annotation.
class AliasInfo {
 public:
  constexpr AliasInfo() = default;
  constexpr AliasInfo(AliasSet before, bool is_write, AliasSet after = {})
      : before_(before.bits()), is_write_(is_write), after_(after.bits()) {}

  constexpr explicit operator bool() const { return before_ != 0; }
  constexpr bool is_write() const { return is_write_; }
  constexpr AliasSet before() const { return AliasSet::from_bits(before_); }
  // Equal to before() if there is no `->`.
  constexpr AliasSet after() const {
    return AliasSet::from_bits(after_ ? after_ : before_);
  }
  constexpr bool has_after() const { return after_ != 0; }

  friend constexpr bool operator==(AliasInfo, AliasInfo) = default;

 private:
  std::uint32_t before_ : 31 = 0;
  std::uint32_t is_write_ : 1 = 0;
  std::uint32_t after_ = 0;
};

}  // namespace sy

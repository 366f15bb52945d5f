#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Damage of a shared object, where a loader can see it. Parts that it cannot
// see stay as they are: Note [What a loader can promise] in
// c10/plugin/elf_dynamic.h.

namespace sy::test {

class Damage {
 public:
  // The bytes of a sound library that has sections.
  explicit Damage(std::string good);

  struct Part {
    std::string name;           // of the section: ".dynsym"
    std::vector<size_t> bytes;  // where they lie in the file
  };
  // The headers, and tables that the dynamic loader reads.
  const std::vector<Part>& parts() const { return parts_; }

  // The file with the damage of a number: bits, bytes, words, zeros, copies
  // within a part, one to three of them; or cut off. `part` is the first one
  // that was changed.
  std::string make(uint64_t number, std::string& part) const;

 private:
  class Change;
  std::string good_;
  std::vector<Part> parts_;
};

struct DamageCounts {
  unsigned loaded = 0, refused = 0;
  std::map<std::string, unsigned> parts;  // how often each was the first one
  std::vector<std::string> signals;       // "number 7: .dynsym: signal 11"
};

// Makes what `count` numbers from `first` on make of the library, and tries
// each in a process of its own; `loads_and_runs` says whether it was loaded and
// works.
DamageCounts load_damaged(const std::string& library, const std::string& folder,
                          uint64_t first, uint64_t count,
                          bool (*loads_and_runs)(const std::string& path));

}  // namespace sy::test

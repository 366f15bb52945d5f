#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "c10/plugin/elf_dynamic.h"
#include "c10/process/error.h"

namespace sy {

namespace {

constexpr uint16_t kHidden = 0x8000;
constexpr uint16_t kLocal = 0, kBase = 1;

// The versions that a file defines and needs, by the numbers which its symbols
// have.
class Versions {
 public:
  explicit Versions(const ElfTables& t) : t_(t) {}

  std::string problem() {
    if (!read_defined() || !read_needed()) return "its versions are damaged";
    if (t_.versions.empty()) {
      return defined_.size() + needed_.size() == 0
                 ? ""
                 : "its symbols have no versions";
    }
    if (t_.versions.size() < t_.symbols.size()) {
      return "its symbols have no versions";
    }
    for (size_t i = 0; i < t_.symbols.size(); ++i) {
      if (!is_known(i)) return str("symbol {} has no version", i);
    }
    return names_problem();
  }

 private:
  const char* name(uint32_t at) const {
    return at < t_.names.size() ? t_.names.c_str() + at : nullptr;
  }

  uint64_t count(int64_t tag) const {
    const Elf64_Dyn* const e = find_entry(t_.entries, tag);
    return e == nullptr ? 0 : e->d_un.d_val;
  }

  bool is_needed(const char* library) const {
    return std::any_of(
        t_.entries.begin(), t_.entries.end(), [&](const Elf64_Dyn& e) {
          return e.d_tag == DT_NEEDED &&
                 std::strcmp(t_.names.c_str() + e.d_un.d_val, library) == 0;
        });
  }

  bool read_defined() {
    const uint64_t n = count(DT_VERDEFNUM);
    if (t_.defined_versions.empty()) return true;
    uint64_t at = 0;
    for (uint64_t i = 0;; ++i) {
      Elf64_Verdef def{};
      Elf64_Verdaux aux{};
      if (i == n || !read_at(t_.defined_versions, at, def) ||
          !read_at(t_.defined_versions, at + def.vd_aux, aux)) {
        return false;
      }
      const char* const text = name(aux.vda_name);
      if (def.vd_version != VER_DEF_CURRENT || def.vd_cnt == 0 ||
          text == nullptr || def.vd_hash != hash_of(text) ||
          def.vd_ndx == kLocal || (def.vd_ndx & kHidden) != 0 ||
          !defined_.insert(def.vd_ndx).second) {
        return false;
      }
      if (def.vd_next == 0) return i + 1 == n;
      at += def.vd_next;
    }
  }

  bool read_needed() {
    const uint64_t n = count(DT_VERNEEDNUM);
    if (t_.needed_versions.empty()) return true;
    uint64_t at = 0;
    for (uint64_t i = 0;; ++i) {
      Elf64_Verneed need{};
      if (i == n || !read_at(t_.needed_versions, at, need)) return false;
      const char* const library = name(need.vn_file);
      if (need.vn_version != VER_NEED_CURRENT || library == nullptr ||
          !is_needed(library) || !read_of_library(need, at + need.vn_aux)) {
        return false;
      }
      if (need.vn_next == 0) return i + 1 == n;
      at += need.vn_next;
    }
  }

  bool read_of_library(const Elf64_Verneed& need, uint64_t at) {
    for (uint16_t i = 0;; ++i) {
      Elf64_Vernaux aux{};
      if (i == need.vn_cnt || !read_at(t_.needed_versions, at, aux)) {
        return false;
      }
      const char* const text = name(aux.vna_name);
      const uint16_t number = aux.vna_other & uint16_t(~kHidden);
      if (text == nullptr || aux.vna_hash != hash_of(text) ||
          (aux.vna_flags & ~VER_FLG_WEAK) != 0 || number <= kBase ||
          defined_.contains(number) || !needed_.insert(number).second) {
        return false;
      }
      texts_.insert(text);
      if (aux.vna_next == 0) return i + 1 == need.vn_cnt;
      at += aux.vna_next;
    }
  }

  uint16_t number_of(size_t i) const {
    return t_.versions[i] & uint16_t(~kHidden);
  }

  // A name is of one symbol, unless they have different versions.
  std::string names_problem() const {
    std::map<std::string_view, std::set<uint16_t>> seen;
    for (size_t i = 1; i < t_.symbols.size(); ++i) {
      const std::string_view text = name(t_.symbols[i].st_name);
      if (text.empty()) continue;
      std::set<uint16_t>& numbers = seen[text];
      const bool again = !numbers.insert(number_of(i)).second ||
                         (numbers.size() > 1 && *numbers.begin() <= kBase);
      // A library that defines a version defines a symbol of its name.
      const bool needed = t_.symbols[i].st_shndx == SHN_UNDEF;
      if (again || (needed && texts_.contains(text))) {
        return str("symbol {} has the name of another one", i);
      }
    }
    return "";
  }

  bool is_known(size_t i) const {
    const uint16_t number = number_of(i);
    if (number == kLocal || number == kBase) {
      return (t_.versions[i] & kHidden) == 0;
    }
    const bool here = t_.symbols[i].st_shndx != SHN_UNDEF;
    return (here ? defined_ : needed_).contains(number);
  }

  const ElfTables& t_;
  std::set<uint16_t> defined_, needed_;
  std::set<std::string_view> texts_;  // of the versions that are needed
};

}  // namespace

std::string version_problem(const ElfTables& t) {
  return Versions(t).problem();
}

}  // namespace sy

#include <algorithm>

#include "c10/plugin/elf_dynamic.h"

namespace sy {

ElfFunctions::ElfFunctions(const ElfTables& t) : t_(t) {
  // Version 1, and how its numbers are written: of 32 bits, with a sign.
  unsigned char head[4] = {};
  if (!read_at(t.frame_index, 0, head) || !read_at(t.frame_index, 8, count_) ||
      std::memcmp(head, "\1\x1b\3\x3b", 4) != 0 ||
      count_ > (t.frame_index.size() - 12) / sizeof(Entry)) {
    count_ = 0;
  }
}

bool ElfFunctions::is_inside(uint64_t address) const {
  const auto i = entry_before(address);
  return i && start_of(*i) != address && address < end_of(*i);
}

bool ElfFunctions::is_start(uint64_t address) const {
  if (!runs(address) || is_inside(address)) return false;
  return t_.all_symbols.empty() || is_known(address);
}

bool ElfFunctions::is_first(uint64_t address) const {
  const bool begins_section =
      std::any_of(t_.sections.begin(), t_.sections.end(), [&](const auto& s) {
        return (s.sh_flags & SHF_EXECINSTR) != 0 && s.sh_addr == address;
      });
  return runs(address) && (begins_section || is_known(address));
}

bool ElfFunctions::is_known(uint64_t address) const {
  const auto i = entry_before(address);
  if (i && start_of(*i) == address) return true;
  const auto begins = [&](const Elf64_Sym& s) {
    return s.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s.st_info) <= STT_FUNC &&
           s.st_value == address;
  };
  return std::any_of(t_.symbols.begin(), t_.symbols.end(), begins) ||
         std::any_of(t_.all_symbols.begin(), t_.all_symbols.end(), begins);
}

// The stubs by which functions of other libraries are called do not count.
bool ElfFunctions::runs(uint64_t address) const {
  const auto is_stub = [&](const Elf64_Shdr& s) {
    return s.sh_name < t_.section_names.size() &&
           std::string_view(t_.section_names.c_str() + s.sh_name)
               .starts_with(".plt") &&
           address - s.sh_addr < s.sh_size;
  };
  return std::any_of(t_.segments.begin(), t_.segments.end(),
                     [&](const auto& s) {
                       return s.p_type == PT_LOAD && (s.p_flags & PF_X) != 0 &&
                              address - s.p_vaddr < s.p_filesz;
                     }) &&
         std::none_of(t_.sections.begin(), t_.sections.end(), is_stub);
}

// The last one that starts there or before.
std::optional<uint32_t> ElfFunctions::entry_before(uint64_t address) const {
  uint32_t first = 0, after = count_;
  while (first < after) {
    const uint32_t middle = first + (after - first) / 2;
    if (start_of(middle) <= address) {
      first = middle + 1;
    } else {
      after = middle;
    }
  }
  if (first == 0) return std::nullopt;
  return first - 1;
}

ElfFunctions::Entry ElfFunctions::entry(uint64_t i) const {
  Entry e{};
  read_at(t_.frame_index, 12 + sizeof e * i, e);
  return e;
}

uint64_t ElfFunctions::start_of(uint64_t i) const {
  return t_.frame_index_at + static_cast<uint64_t>(int64_t{entry(i).start});
}

// The end of function i; its start, if nothing says how long it is.
uint64_t ElfFunctions::end_of(uint64_t i) const {
  const uint64_t at = t_.frame_index_at +
                      static_cast<uint64_t>(int64_t{entry(i).frame}) -
                      t_.frames_at;
  const uint64_t start = start_of(i);
  struct {
    int32_t start;  // counted from here
    uint32_t length;
  } frame{};
  if (!read_at(t_.frames, at + 8, frame)) return start;
  const uint64_t end = start + frame.length;
  // Frames of another form show as functions over each other.
  const bool is_apart =
      i + 1 == count_ ? runs(end - 1) : end <= start_of(i + 1);
  const bool is_same =
      t_.frames_at + at + 8 + static_cast<uint64_t>(int64_t{frame.start}) ==
      start;
  return is_apart && is_same ? end : start;
}

}  // namespace sy

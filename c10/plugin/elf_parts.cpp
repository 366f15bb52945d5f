#include <algorithm>
#include <bit>

#include "c10/plugin/elf_dynamic.h"
#include "c10/process/error.h"

namespace sy {

namespace {

constexpr uint64_t kPage = 4096;

bool is_loaded(const Elf64_Shdr& s) {
  return (s.sh_flags & SHF_ALLOC) != 0 && s.sh_size != 0;
}

bool begins_section(const ElfTables& t, const Elf64_Phdr& p) {
  return std::any_of(t.sections.begin(), t.sections.end(), [&](const auto& s) {
    return is_loaded(s) && s.sh_addr == p.p_vaddr && s.sh_size == p.p_memsz;
  });
}

// The bounds of the variables of threads, in the file and in memory.
struct ThreadData {
  uint64_t begin = ~uint64_t{0}, filled = 0, end = 0, align = 1;

  explicit ThreadData(const ElfTables& t) {
    for (const Elf64_Shdr& s : t.sections) {
      if (!is_loaded(s) || (s.sh_flags & SHF_TLS) == 0) continue;
      begin = std::min(begin, s.sh_addr);
      end = std::max(end, s.sh_addr + s.sh_size);
      align = std::max(align, s.sh_addralign);
      if (s.sh_type != SHT_NOBITS) filled = std::max(filled, end);
    }
  }
  bool is_in(const Elf64_Phdr& p) const {
    const uint64_t in_file = filled > begin ? filled - begin : 0;
    return p.p_vaddr == begin && p.p_filesz == in_file &&
           std::has_single_bit(p.p_align) && p.p_align == align &&
           p.p_memsz >= end - begin && p.p_memsz - (end - begin) < p.p_align;
  }
};

// Memory that is written once has no variables in it. The dynamic loader
// protects whole pages.
bool is_written_once(const ElfTables& t, const Elf64_Phdr& p) {
  const uint64_t end = (p.p_vaddr + p.p_memsz) / kPage * kPage;
  return std::none_of(t.sections.begin(), t.sections.end(), [&](const auto& s) {
    if (!is_loaded(s) || s.sh_name >= t.section_names.size()) return false;
    const std::string_view name = t.section_names.c_str() + s.sh_name;
    return (name == ".data" || name == ".bss") && end > s.sh_addr;
  });
}

bool is_part(const ElfTables& t, const Elf64_Phdr& p) {
  switch (p.p_type) {
    case PT_TLS: return ThreadData(t).is_in(p);
    case PT_DYNAMIC:
    case PT_GNU_EH_FRAME: return begins_section(t, p);
    case PT_GNU_RELRO: return is_written_once(t, p);
    case PT_PHDR: return p.p_offset == t.headers_at;
    default: return true;
  }
}

}  // namespace

std::string part_problem(const ElfTables& t) {
  for (size_t i = 0; i < t.segments.size(); ++i) {
    if (t.segments[i].p_memsz != 0 && !is_part(t, t.segments[i])) {
      return str("segment {} is not of its sections", i);
    }
  }
  const auto parts = std::count_if(
      t.segments.begin(), t.segments.end(),
      [](const auto& p) { return p.p_type == PT_TLS && p.p_memsz != 0; });
  const bool any =
      std::any_of(t.sections.begin(), t.sections.end(), [](const auto& s) {
        return is_loaded(s) && (s.sh_flags & SHF_TLS) != 0;
      });
  return parts == (any ? 1 : 0) ? "" : "there is not one segment for threads";
}

}  // namespace sy

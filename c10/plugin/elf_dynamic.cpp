#include "c10/plugin/elf_dynamic.h"

#include <algorithm>
#include <iterator>

#include "c10/process/error.h"

namespace sy {

namespace {

// Tables that the dynamic loader reads, the entry with their size (0: none),
// the type of their section, and the entry with the size of an element (0:
// none), which is to be `element`.
struct Table {
  int64_t tag, size_tag;
  uint32_t type;
  int64_t element_tag = 0;
  uint64_t element = 0;
};
constexpr Table kTables[] = {
    {DT_STRTAB, DT_STRSZ, SHT_STRTAB},
    {DT_SYMTAB, 0, SHT_DYNSYM, DT_SYMENT, sizeof(Elf64_Sym)},
    {DT_HASH, 0, SHT_HASH},
    {DT_GNU_HASH, 0, SHT_GNU_HASH},
    {DT_VERSYM, 0, SHT_GNU_versym},
    {DT_VERNEED, 0, SHT_GNU_verneed},
    {DT_VERDEF, 0, SHT_GNU_verdef},
    {DT_RELA, DT_RELASZ, SHT_RELA, DT_RELAENT, sizeof(Elf64_Rela)},
    {DT_JMPREL, DT_PLTRELSZ, SHT_RELA, DT_PLTREL, DT_RELA},
    {DT_RELR, DT_RELRSZ, SHT_RELR, DT_RELRENT, sizeof(uint64_t)},
    {DT_INIT_ARRAY, DT_INIT_ARRAYSZ, SHT_INIT_ARRAY},
    {DT_FINI_ARRAY, DT_FINI_ARRAYSZ, SHT_FINI_ARRAY},
};

constexpr int64_t kNames[] = {DT_NEEDED,    DT_SONAME, DT_RPATH,
                              DT_RUNPATH,   DT_AUDIT,  DT_DEPAUDIT,
                              DT_AUXILIARY, DT_FILTER, DT_CONFIG};
// The entries that a library may have several of.
constexpr int64_t kLists[] = {DT_NEEDED, DT_AUXILIARY, DT_FILTER};
// Relocations of another kind than the machine's.
constexpr int64_t kForeign[] = {DT_REL, DT_RELSZ, DT_RELENT};

template <class T, size_t N>
bool is_among(const T (&list)[N], T value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

// Some linkers make a section of relocations for each section that they write.
bool is_table(const std::vector<Elf64_Shdr>& sections, const Table& table,
              uint64_t address, uint64_t size) {
  while (true) {
    const auto at =
        std::find_if(sections.begin(), sections.end(), [&](const auto& s) {
          return s.sh_type == table.type && s.sh_addr == address &&
                 (s.sh_flags & SHF_ALLOC) != 0 && s.sh_size != 0;
        });
    if (at == sections.end()) return false;
    if (table.size_tag == 0 || size == at->sh_size) return true;
    if (table.type != SHT_RELA || size < at->sh_size) return false;
    address += at->sh_size;
    size -= at->sh_size;
  }
}

std::string table_problem(const Table& table,
                          const std::vector<Elf64_Dyn>& entries,
                          const std::vector<Elf64_Shdr>& sections) {
  const Elf64_Dyn* const at = find_entry(entries, table.tag);
  const Elf64_Dyn* const size =
      table.size_tag == 0 ? nullptr : find_entry(entries, table.size_tag);
  const bool empty = size != nullptr && size->d_un.d_val == 0;
  if (empty || (at == nullptr && size == nullptr)) return "";
  if (at == nullptr || (table.size_tag != 0 && size == nullptr) ||
      !is_table(sections, table, at->d_un.d_ptr,
                size != nullptr ? size->d_un.d_val : 0)) {
    return str("dynamic entry {} names no section of its kind", table.tag);
  }
  const Elf64_Dyn* const element =
      table.element_tag == 0 ? nullptr : find_entry(entries, table.element_tag);
  if (table.element_tag != 0 &&
      (element == nullptr || element->d_un.d_val != table.element)) {
    return str("dynamic entry {} is not {}", table.element_tag, table.element);
  }
  return "";
}

// Whether an entry names the section, if it is a table.
bool is_named(const Elf64_Shdr& s, const std::vector<Elf64_Dyn>& entries) {
  if ((s.sh_flags & SHF_ALLOC) == 0 || s.sh_size == 0) return true;
  bool is_table = false;
  for (const Table& table : kTables) {
    if (table.type != s.sh_type) continue;
    is_table = true;
    const Elf64_Dyn* const at = find_entry(entries, table.tag);
    const Elf64_Dyn* const size = find_entry(entries, table.size_tag);
    if (at == nullptr || (table.size_tag != 0 && size == nullptr)) continue;
    const uint64_t before = s.sh_addr - at->d_un.d_ptr;
    if (table.size_tag == 0 ? before == 0 : before < size->d_un.d_val) {
      return true;
    }
  }
  return !is_table;
}

bool is_written(const std::vector<Elf64_Shdr>& sections, uint64_t address) {
  return std::any_of(sections.begin(), sections.end(), [&](const auto& s) {
    return (s.sh_flags & SHF_WRITE) != 0 && address == s.sh_addr;
  });
}

std::string entry_problem(const Elf64_Dyn& e, uint64_t names,
                          const std::vector<Elf64_Shdr>& sections) {
  const int64_t tag = e.d_tag;
  if (is_among(kForeign, tag)) {
    return str("dynamic entry {} is another machine's", tag);
  }
  if (is_among(kNames, tag) && e.d_un.d_val >= names) {
    return str("dynamic entry {} names nothing", tag);
  }
  if (tag == DT_PLTGOT && !is_written(sections, e.d_un.d_ptr)) {
    return str("dynamic entry {} is no section that is written", tag);
  }
  return "";
}

}  // namespace

const Elf64_Dyn* find_entry(const std::vector<Elf64_Dyn>& entries,
                            int64_t tag) {
  const auto at = std::find_if(entries.rbegin(), entries.rend(),
                               [&](const auto& e) { return e.d_tag == tag; });
  return at == entries.rend() ? nullptr : &*at;
}

std::string dynamic_problem(const std::vector<Elf64_Dyn>& entries,
                            const std::vector<Elf64_Shdr>& sections) {
  for (const Elf64_Dyn& e : entries) {
    if (find_entry(entries, e.d_tag) != &e && !is_among(kLists, e.d_tag)) {
      return str("dynamic entry {} is there twice", e.d_tag);
    }
  }
  for (const Table& table : kTables) {
    const std::string why = table_problem(table, entries, sections);
    if (!why.empty()) return why;
  }
  for (size_t i = 0; i < sections.size(); ++i) {
    if (!is_named(sections[i], entries)) {
      return str("no dynamic entry names section {}", i);
    }
  }
  if (!find_entry(entries, DT_STRTAB) || !find_entry(entries, DT_SYMTAB)) {
    return "there is no table of symbols";
  }
  const uint64_t names = find_entry(entries, DT_STRSZ)->d_un.d_val;
  for (const Elf64_Dyn& e : entries) {
    const std::string why = entry_problem(e, names, sections);
    if (!why.empty()) return why;
  }
  return "";
}

}  // namespace sy

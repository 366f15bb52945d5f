#pragma once

#include <elf.h>

#include <string>
#include <vector>

// These check the dynamic segment of a shared object, because the dynamic
// loader does not. They return what is wrong, or "". Internal to c10.

namespace sy {

// Checks the entries, without DT_NULL: every table is a section of its kind,
// every section of these kinds is a table, names lie in the string table, and
// no tag is there twice, except those that form a list.
std::string dynamic_problem(const std::vector<Elf64_Dyn>& entries,
                            const std::vector<Elf64_Shdr>& sections);

// The last entry with that tag; nullptr if there is none.
const Elf64_Dyn* find_entry(const std::vector<Elf64_Dyn>& entries, int64_t tag);

// Checks relocations: each writes to what is loaded, and names one of so many
// symbols. The first `relative` only move addresses.
std::string relocation_problem(const std::vector<Elf64_Rela>& relocations,
                               uint64_t relative, uint64_t symbols,
                               const std::vector<Elf64_Phdr>& segments);

}  // namespace sy

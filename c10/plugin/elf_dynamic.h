#pragma once

#include <elf.h>

#include <string>
#include <vector>

// What is wrong with the dynamic segment of a shared object, which the dynamic
// loader does not check. Internal to c10. "" if nothing is.

namespace sy {

// Of its entries, DT_NULL left out: every table is a section of its kind, every
// section of these kinds a table, names lie in the table of names, and nothing
// is said twice.
std::string dynamic_problem(const std::vector<Elf64_Dyn>& entries,
                            const std::vector<Elf64_Shdr>& sections);

// The last entry of a tag; nullptr if there is none.
const Elf64_Dyn* find_entry(const std::vector<Elf64_Dyn>& entries, int64_t tag);

// Of relocations, the first `relative` of which are to move addresses only:
// they write what is loaded, and name one of so many symbols.
std::string relocation_problem(const std::vector<Elf64_Rela>& relocations,
                               uint64_t relative, uint64_t symbols,
                               const std::vector<Elf64_Phdr>& segments);

}  // namespace sy

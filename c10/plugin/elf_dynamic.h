#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// These check the dynamic segment of a shared object, because the dynamic
// loader does not. They return what is wrong, or "". Internal to c10.
//
// Note [What a loader can promise]: the dynamic loader follows tables, and
// believes them. A file whose tables pass these checks leads it to no address
// outside of the file's own memory, to no name without an end, and to no code
// that begins no function. Much is said twice in such a file: a symbol's name
// and its hash, a library's name and its versions, a slot and its relocation.
// So damage shows as a contradiction. These parts are said once and cannot be
// checked:
//
// - code, and what data has in it before it is loaded;
// - where a symbol lies that is defined, and how large it is;
// - which symbol a relocation is about, and which place in data it writes
//   (also where relocations are packed);
// - which function runs first, where several might.
//
// A file that is damaged there may end the process, or give wrong results.
// test/c10/plugin/damage.h leaves these parts alone, and damages all others.
// Few damages of those are not seen either, some 1 in 100,000: several at once
// that agree, such as another name and another binding of one symbol.

namespace sy {

// The tables of a file, as the dynamic loader reads them; empty if it has none.
struct ElfTables {
  uint64_t headers_at = 0;  // where the segments are described
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Shdr> sections;
  std::string section_names;
  std::vector<Elf64_Dyn> entries;  // without DT_NULL
  std::string names;               // ends in '\0'
  std::vector<Elf64_Sym> symbols;
  uint32_t first_global = 0;  // symbols before it are local
  std::string hash, gnu_hash;
  std::vector<uint16_t> versions;  // of each symbol
  std::string needed_versions, defined_versions;
  std::vector<Elf64_Rela> relocations, calls;  // DT_RELA, DT_JMPREL
  std::vector<uint64_t> packed;                // DT_RELR
  std::vector<Elf64_Sym> all_symbols;  // of .symtab, unless it is stripped
  // The contents of DT_INIT_ARRAY and DT_FINI_ARRAY in the file.
  struct Array {
    uint64_t at;
    std::vector<uint64_t> slots;
  };
  std::vector<Array> first_and_last;
  // .eh_frame_hdr and .eh_frame, and their addresses.
  std::string frame_index, frames;
  uint64_t frame_index_at = 0, frames_at = 0;
};

// False if the bytes do not lie in the text.
template <class T>
bool read_at(std::string_view bytes, uint64_t at, T& out) {
  if (at > bytes.size() || sizeof(T) > bytes.size() - at) return false;
  std::memcpy(&out, bytes.data() + at, sizeof(T));
  return true;
}

// The hash of a name in DT_HASH, and in versions.
inline uint32_t hash_of(const char* name) {
  uint32_t h = 0;
  for (; *name != '\0'; ++name) {
    h = (h << 4) + static_cast<unsigned char>(*name);
    h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
  }
  return h;
}

// Checks the entries, without DT_NULL: every table is a section of its kind,
// every section of these kinds is a table, names lie in the string table, and
// no tag is there twice, except those that form a list.
std::string dynamic_problem(const std::vector<Elf64_Dyn>& entries,
                            const std::vector<Elf64_Shdr>& sections);

// The last entry with that tag; nullptr if there is none.
const Elf64_Dyn* find_entry(const std::vector<Elf64_Dyn>& entries, int64_t tag);

// Finds functions in code, by the table for exceptions, and by symbols. Few
// functions are in neither: those that the C compiler adds to each library.
class ElfFunctions {
 public:
  explicit ElfFunctions(const ElfTables& t);

  // Whether a function may begin there.
  bool is_start(uint64_t address) const;
  // The same of DT_INIT: it may begin a section, too.
  bool is_first(uint64_t address) const;

 private:
  struct Entry {
    int32_t start, frame;  // counted from the table's beginning
  };
  Entry entry(uint64_t i) const;
  std::optional<uint32_t> entry_before(uint64_t address) const;
  uint64_t start_of(uint64_t i) const;
  uint64_t end_of(uint64_t i) const;
  bool runs(uint64_t address) const;
  // Whether it lies in a function, and not where that begins.
  bool is_inside(uint64_t address) const;
  bool is_known(uint64_t address) const;

  const ElfTables& t_;
  uint32_t count_ = 0;
};

// Each segment that describes a part is one section, or those of a kind.
std::string part_problem(const ElfTables& t);
// Each symbol has a name, and lies in its section.
std::string symbol_problem(const ElfTables& t);
// Each symbol that is defined is found by its name, and nothing else is.
std::string hash_problem(const ElfTables& t);
// Each symbol has a version that is defined here, or needed of a library that
// is needed.
std::string version_problem(const ElfTables& t);
// Each relocation writes to memory that may be written, and to none that
// another one writes; it names a symbol, or leads into what is loaded. All that
// is called through a table is relocated.
std::string relocation_problem(const ElfTables& t);

}  // namespace sy

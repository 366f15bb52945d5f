#include "test/c10/plugin/damage.h"

#include <elf.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>

#include "c10/process/error.h"
#include "test/c10/plugin/broken_libraries.h"

namespace sy::test {

namespace {

template <class T>
std::vector<T> table(const std::string& bytes, size_t at, size_t n) {
  std::vector<T> out(n);
  std::memcpy(out.data(), bytes.data() + at, n * sizeof(T));
  return out;
}

bool is_table(const Elf64_Shdr& s) {
  switch (s.sh_type) {
    case SHT_DYNSYM:
    case SHT_DYNAMIC:
    case SHT_HASH:
    case SHT_GNU_HASH:
    case SHT_GNU_versym:
    case SHT_GNU_verneed:
    case SHT_GNU_verdef:
    case SHT_RELA:
    case SHT_NOTE:
    case SHT_STRTAB: return true;
    default: return false;
  }
}

using Sections = std::vector<Elf64_Shdr>;

void add_range(std::vector<size_t>& out, size_t at, size_t n) {
  for (size_t i = 0; i < n; ++i) out.push_back(at + i);
}

// Adds all but the place and the size of a symbol that is defined here.
void add_symbols(std::vector<size_t>& out, const std::string& bytes,
                 const Elf64_Shdr& s) {
  size_t at = s.sh_offset;
  for (const auto& symbol :
       table<Elf64_Sym>(bytes, at, s.sh_size / sizeof(Elf64_Sym))) {
    const bool all = symbol.st_shndx == SHN_UNDEF;
    add_range(out, at, all ? sizeof symbol : offsetof(Elf64_Sym, st_value));
    at += sizeof symbol;
  }
}

// Whether it writes the address of a function that runs first or last.
bool is_in_array(const Elf64_Rela& r, const Sections& sections) {
  return std::any_of(sections.begin(), sections.end(), [&](const auto& s) {
    return (s.sh_type == SHT_INIT_ARRAY || s.sh_type == SHT_FINI_ARRAY) &&
           r.r_offset - s.sh_addr < s.sh_size;
  });
}

// Adds what a relocation does, not which symbol or place it is about.
void add_relocations(std::vector<size_t>& out, const std::string& bytes,
                     const Elf64_Shdr& s, const Sections& sections) {
  size_t at = s.sh_offset;
  for (const auto& r :
       table<Elf64_Rela>(bytes, at, s.sh_size / sizeof(Elf64_Rela))) {
    const uint64_t type = ELF64_R_TYPE(r.r_info);
    const bool is_slot =
        type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT;
    const size_t info = at + offsetof(Elf64_Rela, r_info);
    const size_t addend = at + offsetof(Elf64_Rela, r_addend);
    if (type == R_X86_64_JUMP_SLOT || is_in_array(r, sections)) {
      add_range(out, at, sizeof r.r_offset);
    }
    if (type != R_X86_64_64) add_range(out, info, sizeof(uint32_t));
    if (type == R_X86_64_RELATIVE) add_range(out, info + 4, sizeof(uint32_t));
    if (is_slot) add_range(out, addend, sizeof r.r_addend);
    at += sizeof r;
  }
}

}  // namespace

Damage::Damage(std::string good) : good_(std::move(good)) {
  const auto header = table<Elf64_Ehdr>(good_, 0, 1)[0];
  const Sections sections =
      table<Elf64_Shdr>(good_, header.e_shoff, header.e_shnum);
  const auto add = [&](const char* name, size_t at, size_t n) {
    parts_.push_back({name, {}});
    add_range(parts_.back().bytes, at, n);
  };
  add("header", 0, sizeof header);
  add("segments", header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  add("sections", header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  const char* const names =
      good_.c_str() + sections[header.e_shstrndx].sh_offset;
  for (const Elf64_Shdr& s : sections) {
    if (!is_table(s) || s.sh_size == 0) continue;
    const bool whole = s.sh_type != SHT_RELA && s.sh_type != SHT_DYNSYM;
    add(names + s.sh_name, s.sh_offset, whole ? s.sh_size : 0);
    std::vector<size_t>& bytes = parts_.back().bytes;
    if (s.sh_type == SHT_DYNSYM) add_symbols(bytes, good_, s);
    if (s.sh_type == SHT_RELA) add_relocations(bytes, good_, s, sections);
    if (bytes.empty()) parts_.pop_back();
  }
}

// One change of one part.
class Damage::Change {
 public:
  Change(const Part& part, std::mt19937_64& draw, std::string& bytes)
      : part_(part), draw_(draw), bytes_(bytes) {}

  void make() {
    const size_t at = below(part_.bytes.size());
    switch (below(6)) {
      case 0: set(at, char(get(at) ^ 1 << below(8))); break;
      case 1: set(at, char(draw_())); break;
      case 2: put(at, number(), size_t{4} << below(2)); break;
      case 3: put(at, word(at) + 8 * below(33) - 128, 8); break;
      case 4:
        for (size_t n = 1 + below(64); n > 0; --n) set(at + n - 1, 0);
        break;
      default: put(at, word(below(part_.bytes.size())), 8);
    }
  }

 private:
  uint64_t below(uint64_t n) { return draw_() % n; }
  char get(size_t i) const {
    const size_t at = i < part_.bytes.size() ? part_.bytes[i] : bytes_.size();
    return at < bytes_.size() ? bytes_[at] : '\0';
  }
  void set(size_t i, char value) {
    if (i < part_.bytes.size() && part_.bytes[i] < bytes_.size()) {
      bytes_[part_.bytes[i]] = value;
    }
  }
  // The eight bytes that a place is among.
  uint64_t word(size_t i) const {
    uint64_t out = 0;
    for (size_t k = 0; k < 8; ++k) {
      out |= uint64_t{static_cast<unsigned char>(get(i / 8 * 8 + k))} << 8 * k;
    }
    return out;
  }
  void put(size_t i, uint64_t value, size_t n) {
    for (size_t k = 0; k < n; ++k) set(i / 8 * 8 + k, char(value >> 8 * k));
  }
  uint64_t number() {
    const uint64_t others[] = {bytes_.size(), draw_(),
                               below(2 * bytes_.size() + 1)};
    const size_t n = below(kEdges.size() + std::size(others));
    return n < kEdges.size() ? kEdges.begin()[n] : others[n - kEdges.size()];
  }

  const Part& part_;
  std::mt19937_64& draw_;
  std::string& bytes_;
};

std::string Damage::make(uint64_t number, std::string& part) const {
  std::mt19937_64 draw(number);
  std::string out = good_;
  if (draw() % 64 == 0) {
    part = "end";
    out.resize(draw() % out.size());
    return out;
  }
  const Part& first = parts_[draw() % parts_.size()];
  part = first.name;
  Change(first, draw, out).make();
  for (uint64_t more = draw() % 8; more > 5; --more) {
    Change(parts_[draw() % parts_.size()], draw, out).make();
  }
  return out;
}

DamageCounts load_damaged(const std::string& library, const std::string& folder,
                          uint64_t first, uint64_t count,
                          bool (*loads_and_runs)(const std::string& path)) {
  const Damage damage(read_bytes(library));
  const std::string path = folder + "/libdamaged.so";
  DamageCounts out;
  for (uint64_t n = first; n < first + count; ++n) {
    std::string part;
    const std::string bytes = damage.make(n, part);
    ++out.parts[part];
    const int status = try_apart(path, bytes, loads_and_runs);
    if (WIFSIGNALED(status)) {
      out.signals.push_back(
          str("number {}: {}: signal {}", n, part, int{WTERMSIG(status)}));
    } else {
      ++(status == 0 ? out.loaded : out.refused);
    }
  }
  return out;
}

}  // namespace sy::test

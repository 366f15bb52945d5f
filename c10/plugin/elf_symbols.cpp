#include <algorithm>
#include <bit>

#include "c10/plugin/elf_dynamic.h"
#include "c10/process/error.h"

namespace sy {

namespace {

bool lies_in(uint64_t address, uint64_t size, uint64_t begin, uint64_t length) {
  return address >= begin && address - begin <= length &&
         size <= length - (address - begin);
}

bool lies_in_load(const ElfTables& t, uint64_t address) {
  return std::any_of(t.segments.begin(), t.segments.end(), [&](const auto& s) {
    return s.p_type == PT_LOAD && lies_in(address, 0, s.p_vaddr, s.p_memsz);
  });
}

bool lies_in_thread_data(const ElfTables& t, const Elf64_Sym& s) {
  return std::any_of(t.segments.begin(), t.segments.end(), [&](const auto& p) {
    return p.p_type == PT_TLS && lies_in(s.st_value, s.st_size, 0, p.p_memsz);
  });
}

bool has_kind(const Elf64_Sym& s) {
  const int bind = ELF64_ST_BIND(s.st_info), type = ELF64_ST_TYPE(s.st_info);
  return (bind <= STB_WEAK || bind == STB_GNU_UNIQUE) &&
         (type <= STT_TLS || type == STT_GNU_IFUNC) && s.st_other <= 3;
}

// Whether a function is one that chooses another; .symtab says it again.
bool is_chosen(const ElfTables& t, uint64_t address) {
  bool is_there = false;
  for (const Elf64_Sym& s : t.all_symbols) {
    if (s.st_value != address || s.st_shndx == SHN_UNDEF) continue;
    if (ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC) return true;
    is_there = true;
  }
  return !is_there;
}

// Accepts any section: tools that move or drop sections leave the symbols'
// numbers of them.
bool is_defined(const ElfTables& t, const Elf64_Sym& s) {
  const int type = ELF64_ST_TYPE(s.st_info);
  if (s.st_shndx == SHN_ABS) return true;
  if (s.st_shndx >= SHN_LORESERVE) return false;
  if (type == STT_TLS) return lies_in_thread_data(t, s);
  // Ends of sections, such as _end, lie where the linker has rounded them to.
  if (type == STT_NOTYPE && s.st_size == 0) return lies_in_load(t, s.st_value);
  if (type == STT_GNU_IFUNC && !is_chosen(t, s.st_value)) return false;
  const bool runs = type == STT_FUNC || type == STT_GNU_IFUNC;
  return std::any_of(t.sections.begin(), t.sections.end(), [&](const auto& x) {
    return x.sh_type != SHT_NULL &&
           (!runs || (x.sh_flags & SHF_EXECINSTR) != 0) &&
           lies_in(s.st_value, s.st_size, x.sh_addr, x.sh_size);
  });
}

bool is_symbol(const ElfTables& t, size_t i) {
  const Elf64_Sym& s = t.symbols[i];
  if (i == 0) {
    return s.st_name == 0 && s.st_info == 0 && s.st_shndx == SHN_UNDEF;
  }
  const bool local = ELF64_ST_BIND(s.st_info) == STB_LOCAL;
  return s.st_name < t.names.size() && has_kind(s) &&
         local == (i < t.first_global) &&
         (s.st_shndx == SHN_UNDEF ? s.st_other == 0 : is_defined(t, s));
}

uint32_t gnu_hash_of(const char* name) {
  uint32_t h = 5381;
  for (; *name != '\0'; ++name) h = h * 33 + static_cast<unsigned char>(*name);
  return h;
}

// A word of 32 bits; the caller has compared the size.
uint32_t word(const std::string& table, uint64_t i) {
  uint32_t out = 0;
  read_at(table, i * sizeof out, out);
  return out;
}

class GnuHash {
 public:
  explicit GnuHash(const ElfTables& t)
      : t_(t),
        buckets_(word(t.gnu_hash, 0)),
        first_(word(t.gnu_hash, 1)),
        blooms_(word(t.gnu_hash, 2)),
        shift_(word(t.gnu_hash, 3)),
        // These count words of the table.
        first_bucket_(4 + uint64_t{2} * blooms_),
        first_chain_(first_bucket_ + buckets_) {}

  bool is_sound() const {
    const uint64_t words = t_.gnu_hash.size() / 4;
    if (buckets_ == 0 || !std::has_single_bit(blooms_) || shift_ >= 32 ||
        first_chain_ > words) {
      return false;
    }
    uint64_t found = 0;
    for (uint32_t b = 0; b < buckets_; ++b) {
      const uint32_t first = word(t_.gnu_hash, first_bucket_ + b);
      if (first != 0 && !follow(first, b, words, found)) return false;
    }
    // Linkers leave out or round what is not used if nothing is defined.
    return found == 0 ? !defines() : first_ + found == t_.symbols.size();
  }

 private:
  // Each symbol of one chain has a name of this bucket.
  bool follow(uint32_t i, uint32_t bucket, uint64_t words,
              uint64_t& found) const {
    for (;; ++i, ++found) {
      if (i < first_ || i >= t_.symbols.size() ||
          first_chain_ + (i - first_) >= words) {
        return false;
      }
      const Elf64_Sym& s = t_.symbols[i];
      const uint32_t h = gnu_hash_of(t_.names.c_str() + s.st_name);
      const uint32_t in_chain = word(t_.gnu_hash, first_chain_ + i - first_);
      if (s.st_shndx == SHN_UNDEF || h % buckets_ != bucket ||
          (h | 1) != (in_chain | 1) || !is_in_bloom(h)) {
        return false;
      }
      if ((in_chain & 1) != 0) break;
    }
    ++found;
    return true;
  }

  bool is_in_bloom(uint32_t h) const {
    uint64_t bits = 0;
    read_at(t_.gnu_hash, 16 + uint64_t{8} * (h / 64 % blooms_), bits);
    return (bits >> h % 64 & bits >> (h >> shift_) % 64 & 1) != 0;
  }

  bool defines() const {
    return first_ < t_.symbols.size() &&
           std::any_of(
               t_.symbols.begin() + first_, t_.symbols.end(),
               [](const Elf64_Sym& s) { return s.st_shndx != SHN_UNDEF; });
  }

  const ElfTables& t_;
  const uint32_t buckets_, first_, blooms_, shift_;
  const uint64_t first_bucket_, first_chain_;
};

// The older kind: two words, buckets, and for each symbol the next one.
bool is_sound_hash(const ElfTables& t) {
  const uint64_t buckets = word(t.hash, 0), chain = word(t.hash, 1);
  if (buckets == 0 || chain != t.symbols.size() ||
      t.hash.size() / 4 < 2 + buckets + chain) {
    return false;
  }
  std::vector<bool> found(t.symbols.size());
  for (uint64_t b = 0; b < buckets; ++b) {
    for (uint32_t i = word(t.hash, 2 + b); i != 0;
         i = word(t.hash, 2 + buckets + i)) {
      if (i >= chain || found[i] ||
          hash_of(t.names.c_str() + t.symbols[i].st_name) % buckets != b) {
        return false;
      }
      found[i] = true;
    }
  }
  for (size_t i = 1; i < t.symbols.size(); ++i) {
    const Elf64_Sym& s = t.symbols[i];
    const bool global = ELF64_ST_BIND(s.st_info) != STB_LOCAL;
    if (global && s.st_shndx != SHN_UNDEF && !found[i]) return false;
  }
  return true;
}

}  // namespace

std::string symbol_problem(const ElfTables& t) {
  for (size_t i = 0; i < t.symbols.size(); ++i) {
    if (!is_symbol(t, i)) return str("symbol {} is none", i);
  }
  return "";
}

std::string hash_problem(const ElfTables& t) {
  const bool sound = (t.gnu_hash.empty() || GnuHash(t).is_sound()) &&
                     (t.hash.empty() || is_sound_hash(t));
  return sound ? "" : "its symbols are not found by their names";
}

}  // namespace sy

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "c10/plugin/elf_dynamic.h"
#include "c10/process/error.h"

namespace sy {

namespace {

// How a relocation of the machine is made in a shared object. Compilers make no
// others; R_X86_64_SIZE64 is for assembler code.
struct Kind {
  uint32_t type;
  uint64_t size;           // that it writes
  bool symbol, no_symbol;  // it must have one, or must not
  bool bare;               // it adds nothing
};
constexpr Kind kKinds[] = {
    {R_X86_64_64, 8, true, false, false},
    {R_X86_64_GLOB_DAT, 8, true, false, true},
    {R_X86_64_JUMP_SLOT, 8, true, false, true},
    {R_X86_64_RELATIVE, 8, false, true, false},
    {R_X86_64_DTPMOD64, 8, false, false, false},
    {R_X86_64_DTPOFF64, 8, true, false, false},
    {R_X86_64_TPOFF64, 8, false, false, false},
    {R_X86_64_TLSDESC, 16, false, false, false},
    {R_X86_64_IRELATIVE, 8, false, true, false},
};

const Kind* kind_of(const Elf64_Rela& r) {
  const auto* const at = std::find_if(
      std::begin(kKinds), std::end(kKinds),
      [&](const Kind& k) { return k.type == ELF64_R_TYPE(r.r_info); });
  return at == std::end(kKinds) ? nullptr : at;
}

class Relocations {
 public:
  explicit Relocations(const ElfTables& t) : t_(t), functions_(t) {
    const Elf64_Dyn* const flags = find_entry(t.entries, DT_FLAGS);
    const uint64_t bits = flags == nullptr ? 0 : flags->d_un.d_val;
    is_static_ = (bits & DF_STATIC_TLS) != 0;
    writes_code_ = (bits & DF_TEXTREL) != 0 ||
                   find_entry(t.entries, DT_TEXTREL) != nullptr;
    for (const Elf64_Phdr& s : t.segments) {
      if (s.p_type != PT_LOAD) continue;
      lowest_ = std::min(lowest_, s.p_vaddr);
      highest_ = std::max(highest_, s.p_vaddr + s.p_memsz);
    }
  }

  std::string problem() {
    const Elf64_Dyn* const count = find_entry(t_.entries, DT_RELACOUNT);
    const uint64_t relative = count == nullptr ? 0 : count->d_un.d_val;
    if (relative > t_.relocations.size()) {
      return "more relocations are counted than there are";
    }
    for (size_t i = 0; i < t_.relocations.size(); ++i) {
      const Elf64_Rela& r = t_.relocations[i];
      const uint64_t type = ELF64_R_TYPE(r.r_info);
      // The dynamic loader does not look at the kind of those that are counted.
      const bool counted =
          count == nullptr || (type == R_X86_64_RELATIVE) == (i < relative);
      if (!add(r) || !counted || type == R_X86_64_JUMP_SLOT) {
        return str("relocation {} is none", i);
      }
    }
    for (size_t i = 0; i < t_.calls.size(); ++i) {
      const uint64_t type = ELF64_R_TYPE(t_.calls[i].r_info);
      const bool calls = type == R_X86_64_JUMP_SLOT ||
                         type == R_X86_64_IRELATIVE || type == R_X86_64_TLSDESC;
      if (!calls || !add(t_.calls[i])) {
        return str("relocation {} of a call is none", i);
      }
    }
    if (!add_packed()) return "its packed relocations are damaged";
    return problem_of_all();
  }

 private:
  struct Written {
    uint64_t at, size;
    const Elf64_Rela* by;  // nullptr: packed
    bool operator<(const Written& o) const { return at < o.at; }
  };

  bool add(const Elf64_Rela& r) {
    const Kind* const kind = kind_of(r);
    const uint64_t symbol = ELF64_R_SYM(r.r_info);
    if (kind == nullptr || !may_write(r.r_offset, kind->size) ||
        symbol >= std::max<size_t>(t_.symbols.size(), 1) ||
        (kind->symbol && symbol == 0) || (kind->no_symbol && symbol != 0) ||
        (kind->bare && r.r_addend != 0)) {
      return false;
    }
    written_.push_back({r.r_offset, kind->size, &r});
    const auto target = static_cast<uint64_t>(r.r_addend);
    const int type =
        symbol == 0 ? STT_NOTYPE : ELF64_ST_TYPE(t_.symbols[symbol].st_info);
    switch (kind->type) {
      case R_X86_64_RELATIVE: return target >= lowest_ && target <= highest_;
      case R_X86_64_IRELATIVE: return functions_.is_start(target);
      case R_X86_64_JUMP_SLOT:
        return type != STT_OBJECT && type != STT_TLS && type != STT_SECTION;
      case R_X86_64_64: return type != STT_TLS;
      case R_X86_64_GLOB_DAT: return type != STT_TLS && type != STT_SECTION;
      case R_X86_64_TPOFF64:
        if (!is_static_) return false;
        [[fallthrough]];
      default: return symbol == 0 || type == STT_TLS || type == STT_SECTION;
    }
  }

  // An address, and then words whose bits stand for the 63 after it.
  bool add_packed() {
    uint64_t next = 0;
    for (const uint64_t word : t_.packed) {
      if ((word & 1) == 0) {
        if (!may_write(word, 8)) return false;
        written_.push_back({word, 8, nullptr});
        next = word + 8;
        continue;
      }
      if (next == 0) return false;
      for (uint64_t i = 0; i < 63; ++i) {
        if ((word >> (i + 1) & 1) == 0) continue;
        if (!may_write(next + 8 * i, 8)) return false;
        written_.push_back({next + 8 * i, 8, nullptr});
      }
      next += 63 * 8;
    }
    return true;
  }

  bool may_write(uint64_t address, uint64_t size) const {
    const auto holds = [&](uint64_t begin, uint64_t length) {
      return address >= begin && size <= length &&
             address - begin <= length - size;
    };
    return std::any_of(t_.segments.begin(), t_.segments.end(),
                       [&](const auto& s) {
                         return s.p_type == PT_LOAD &&
                                (writes_code_ || (s.p_flags & PF_W) != 0) &&
                                holds(s.p_vaddr, s.p_filesz);
                       });
  }

  std::string problem_of_all() {
    std::sort(written_.begin(), written_.end());
    for (size_t i = 1; i < written_.size(); ++i) {
      if (written_[i].at - written_[i - 1].at < size_before(i)) {
        return "two relocations write the same place";
      }
    }
    for (const Elf64_Shdr& s : t_.sections) {
      if (s.sh_type == SHT_DYNAMIC && is_written_in(s.sh_addr, s.sh_size)) {
        return "a relocation writes the dynamic entries";
      }
    }
    for (const int64_t tag : {DT_INIT, DT_FINI}) {
      const Elf64_Dyn* const e = find_entry(t_.entries, tag);
      if (e != nullptr && !functions_.is_first(e->d_un.d_ptr)) {
        return str("dynamic entry {} is no function", tag);
      }
    }
    for (const ElfTables::Array& a : t_.first_and_last) {
      for (size_t i = 0; i < a.slots.size(); ++i) {
        if (!is_call(a.at + 8 * i, a.slots[i])) {
          return "an entry that runs first or last is no function";
        }
      }
    }
    if (!are_slots()) return "a function that is called has no address";
    if (!is_each_called_once()) return "two calls are of one symbol";
    return "";
  }

  // The bytes that the write before i takes. A variable of threads takes two
  // words: its library, and its place there.
  uint64_t size_before(size_t i) const {
    const auto type = [&](const Written& w) {
      return w.by == nullptr ? 0 : ELF64_R_TYPE(w.by->r_info);
    };
    const bool pair = type(written_[i - 1]) == R_X86_64_DTPMOD64 &&
                      type(written_[i]) != R_X86_64_DTPOFF64;
    return pair ? 16 : written_[i - 1].size;
  }

  std::optional<Written> written_at(uint64_t address) const {
    const auto at = std::lower_bound(written_.begin(), written_.end(),
                                     Written{address, 0, nullptr});
    if (at == written_.end() || at->at != address) return std::nullopt;
    return *at;
  }

  bool is_written_in(uint64_t begin, uint64_t size) const {
    const auto at = std::lower_bound(written_.begin(), written_.end(),
                                     Written{begin, 0, nullptr});
    return at != written_.end() && at->at - begin < size;
  }

  // A slot of what runs first or last, and what the file has there.
  bool is_call(uint64_t slot, uint64_t there) const {
    const auto written = written_at(slot);
    if (!written) return false;
    const Elf64_Rela* const r = written->by;
    const uint64_t type = r == nullptr ? 0 : ELF64_R_TYPE(r->r_info);
    if (r == nullptr || type == R_X86_64_RELATIVE) {
      const uint64_t to =
          r == nullptr ? there : static_cast<uint64_t>(r->r_addend);
      return functions_.is_start(to);
    }
    return type == R_X86_64_64 || type == R_X86_64_IRELATIVE;
  }

  // All calls of a symbol go through one slot.
  bool is_each_called_once() const {
    std::vector<bool> seen(t_.symbols.size());
    return std::none_of(t_.calls.begin(), t_.calls.end(), [&](const auto& r) {
      const uint64_t symbol = ELF64_R_SYM(r.r_info);
      const bool again =
          ELF64_R_TYPE(r.r_info) == R_X86_64_JUMP_SLOT && seen[symbol];
      if (symbol < seen.size()) seen[symbol] = true;
      return again;
    });
  }

  // Calls go through slots that follow each other, after three of the loader.
  bool are_slots() const {
    const Elf64_Dyn* const first = find_entry(t_.entries, DT_PLTGOT);
    std::vector<uint64_t> slots;
    for (const Elf64_Rela& r : t_.calls) {
      if (ELF64_R_TYPE(r.r_info) != R_X86_64_JUMP_SLOT) return true;
      slots.push_back(r.r_offset);
    }
    if (slots.empty()) return true;
    std::sort(slots.begin(), slots.end());
    return first != nullptr && slots.front() == first->d_un.d_ptr + 24 &&
           slots.back() - slots.front() == 8 * (slots.size() - 1) &&
           !is_written_in(first->d_un.d_ptr, 24);
  }

  const ElfTables& t_;
  const ElfFunctions functions_;
  // Its variables of threads lie beside those of the program.
  bool is_static_ = false;
  bool writes_code_ = false;
  uint64_t lowest_ = ~uint64_t{0}, highest_ = 0;
  std::vector<Written> written_;
};

}  // namespace

std::string relocation_problem(const ElfTables& t) {
  return Relocations(t).problem();
}

}  // namespace sy

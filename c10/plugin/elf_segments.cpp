#include "c10/plugin/elf_segments.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "c10/process/error.h"

namespace sy {

namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kMostSegments = 256;
constexpr uint64_t kHighest = uint64_t{1} << 46;  // of addresses

uint64_t end_of(const Elf64_Phdr& s) { return s.p_vaddr + s.p_memsz; }

std::string load_problem(const Elf64_Phdr& s) {
  if (s.p_vaddr >= kHighest || s.p_memsz >= kHighest) {
    return "has no address that there is";
  }
  if (s.p_memsz < s.p_filesz) return "is smaller in memory than in the file";
  if (s.p_align < kPage || !std::has_single_bit(s.p_align) ||
      (s.p_vaddr - s.p_offset) % s.p_align != 0) {
    return "is not aligned";
  }
  if ((s.p_flags & ~uint32_t{PF_R | PF_W | PF_X}) != 0 ||
      (s.p_flags & PF_R) == 0) {
    return "cannot be read";
  }
  return "";
}

// Whether the segment describes a part of what is loaded.
bool is_part(const Elf64_Phdr& s) {
  switch (s.p_type) {
    case PT_DYNAMIC:
    case PT_NOTE:
    case PT_PHDR:
    case PT_GNU_EH_FRAME:
    case PT_GNU_RELRO: return s.p_memsz != 0;
    case PT_TLS: return s.p_filesz != 0;  // else nothing of it is in the file
    default: return false;
  }
}

// Whether a load has these bytes of the file at this address.
bool holds(const Elf64_Phdr& load, uint64_t address, uint64_t size,
           uint64_t offset) {
  return address >= load.p_vaddr && address - load.p_vaddr <= load.p_filesz &&
         size <= load.p_filesz - (address - load.p_vaddr) &&
         offset - load.p_offset == address - load.p_vaddr;
}

class Check {
 public:
  explicit Check(const std::vector<Elf64_Phdr>& segments)
      : segments_(segments) {
    for (const Elf64_Phdr& s : segments) {
      if (s.p_type == PT_LOAD && s.p_memsz != 0) loads_.push_back(s);
    }
  }

  std::string run(const std::vector<Elf64_Shdr>& sections) const {
    if (segments_.size() > kMostSegments) return "there are too many segments";
    if (loads_.empty()) return "nothing of it is loaded";
    if (std::count_if(segments_.begin(), segments_.end(), [](const auto& s) {
          return s.p_type == PT_DYNAMIC && s.p_memsz != 0;
        }) != 1) {
      return "there is not one dynamic segment";
    }
    for (size_t i = 0; i < loads_.size(); ++i) {
      std::string why = load_problem(loads_[i]);
      if (why.empty() && i > 0 && loads_[i].p_vaddr < end_of(loads_[i - 1])) {
        why = "lies over the one before";
      }
      if (!why.empty()) return str("segment {} that is loaded {}", i, why);
    }
    for (size_t i = 0; i < segments_.size(); ++i) {
      if (is_part(segments_[i]) && !is_loaded(segments_[i])) {
        return str("segment {} is no part of what is loaded", i);
      }
    }
    for (size_t i = 0; i < sections.size(); ++i) {
      if (!is_loaded(sections[i])) {
        return str("section {} is no part of what is loaded", i);
      }
    }
    return "";
  }

 private:
  bool is_loaded(const Elf64_Phdr& s) const {
    return std::any_of(loads_.begin(), loads_.end(), [&](const auto& load) {
      const uint32_t writable = load.p_flags & PF_W;
      // The dynamic loader reads no offset of it, and protects whole pages.
      if (s.p_type == PT_GNU_RELRO) {
        const uint64_t room = load.p_memsz + kPage;
        return writable != 0 && s.p_memsz <= room &&
               s.p_vaddr - load.p_vaddr <= room - s.p_memsz;
      }
      return (s.p_type != PT_DYNAMIC || (s.p_flags & PF_W) == writable) &&
             (s.p_type == PT_TLS || s.p_memsz <= load.p_memsz + kPage) &&
             holds(load, s.p_vaddr, s.p_filesz, s.p_offset);
    });
  }

  bool is_loaded(const Elf64_Shdr& s) const {
    const bool in_memory_only = s.sh_type == SHT_NOBITS;
    if ((s.sh_flags & SHF_ALLOC) == 0 || s.sh_size == 0 ||
        (in_memory_only && (s.sh_flags & SHF_TLS) != 0)) {
      return true;
    }
    return std::any_of(loads_.begin(), loads_.end(), [&](const auto& load) {
      const bool fits =
          in_memory_only
              ? s.sh_addr >= load.p_vaddr && s.sh_size <= load.p_memsz &&
                    s.sh_addr - load.p_vaddr <= load.p_memsz - s.sh_size
              : holds(load, s.sh_addr, s.sh_size, s.sh_offset);
      return fits &&
             ((s.sh_flags & SHF_WRITE) == 0 || (load.p_flags & PF_W) != 0) &&
             ((s.sh_flags & SHF_EXECINSTR) == 0 || (load.p_flags & PF_X) != 0);
    });
  }

  const std::vector<Elf64_Phdr>& segments_;
  std::vector<Elf64_Phdr> loads_;
};

}  // namespace

std::string segment_problem(const std::vector<Elf64_Phdr>& segments,
                            const std::vector<Elf64_Shdr>& sections) {
  return Check(segments).run(sections);
}

}  // namespace sy

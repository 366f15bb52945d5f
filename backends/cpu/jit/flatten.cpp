#include "backends/cpu/jit/flatten.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <cstring>
#include <map>

#include "backends/cpu/jit/request.h"

namespace sy::cpu::jit {

namespace {

using Object = llvm::object::ELF64LEObjectFile;
using llvm::object::SectionRef;
namespace elf = llvm::ELF;

// Takes an answer of LLVM about a file that it has just made. Throws nothing.
template <class T>
bool take(llvm::Expected<T> from, T* to, std::string* why) {
  if (from) {
    *to = std::move(*from);
    return true;
  }
  *why = llvm::toString(from.takeError());
  return false;
}

bool is_needed(const SectionRef& s) {
  const llvm::object::ELFSectionRef e(s);
  return (e.getFlags() & elf::SHF_ALLOC) != 0 && s.getSize() != 0 &&
         e.getType() != elf::SHT_X86_64_UNWIND && !e.isBSS();
}

class Flattener {
 public:
  Flattener(const Object& object, std::string* why)
      : object_(object), why_(*why) {}

  bool run(int unit, bool stops, std::string* image) {
    bytes_.resize(sizeof(ImageHeader));
    for (const SectionRef& s : object_.sections()) {
      if (is_needed(s) && !place(s)) return false;
    }
    for (const SectionRef& s : object_.sections()) {
      if (!relocate(s)) return false;
    }
    ImageHeader header;
    header.bytes = static_cast<uint32_t>(bytes_.size());
    header.unit = static_cast<uint16_t>(unit);
    header.stops = stops ? 1 : 0;
    if (!find_entry(&header.entry)) return false;
    std::memcpy(bytes_.data(), &header, sizeof header);
    image->append(bytes_);
    return true;
  }

 private:
  bool place(const SectionRef& s) {
    const auto alignment = static_cast<size_t>(s.getAlignment().value());
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    at_[s.getIndex()] = bytes_.size();
    llvm::StringRef text;
    if (!take(s.getContents(), &text, &why_)) return false;
    bytes_.append(text.data(), text.size());
    return true;
  }

  bool find(const llvm::object::SymbolRef& symbol, uint64_t* place) {
    auto section = object_.section_end();
    uint64_t value = 0;
    if (!take(symbol.getSection(), &section, &why_) ||
        !take(symbol.getValue(), &value, &why_)) {
      return false;
    }
    const auto at = section == object_.section_end()
                        ? at_.end()
                        : at_.find(section->getIndex());
    if (at == at_.end()) {
      llvm::StringRef name;
      if (!take(symbol.getName(), &name, &why_)) return false;
      why_ = "the code needs " + name.str();
      return false;
    }
    *place = at->second + value;
    return true;
  }

  bool relocate(const SectionRef& relocations) {
    auto target = object_.section_end();
    if (!take(relocations.getRelocatedSection(), &target, &why_)) return false;
    if (target == object_.section_end()) return true;
    const auto base = at_.find(target->getIndex());
    if (base == at_.end()) return true;  // the section is not needed
    for (const auto& r : relocations.relocations()) {
      if (r.getType() != elf::R_X86_64_PC32 &&
          r.getType() != elf::R_X86_64_PLT32) {
        why_ =
            "the code has a relocation of type " + std::to_string(r.getType());
        return false;
      }
      int64_t addend = 0;
      uint64_t symbol = 0;
      if (!take(llvm::object::ELFRelocationRef(r).getAddend(), &addend,
                &why_) ||
          !find(*r.getSymbol(), &symbol)) {
        return false;
      }
      const uint64_t place = base->second + r.getOffset();
      const auto distance = static_cast<int32_t>(
          static_cast<int64_t>(symbol) + addend - static_cast<int64_t>(place));
      std::memcpy(bytes_.data() + place, &distance, sizeof distance);
    }
    return true;
  }

  bool find_entry(uint32_t* entry) {
    for (const auto& symbol : object_.symbols()) {
      llvm::StringRef name;
      uint64_t place = 0;
      if (!take(symbol.getName(), &name, &why_)) return false;
      if (name != "kernel") continue;
      if (!find(symbol, &place)) return false;
      *entry = static_cast<uint32_t>(place);
      return true;
    }
    why_ = "there is no kernel";
    return false;
  }

  const Object& object_;
  std::string& why_;
  std::string bytes_;
  std::map<uint64_t, uint64_t> at_;  // section -> place in the image
};

}  // namespace

bool flatten(std::string_view bytes, int unit, bool stops, std::string* image,
             std::string* why) {
  auto object = Object::create(llvm::MemoryBufferRef(
      llvm::StringRef(bytes.data(), bytes.size()), "kernel"));
  if (!object) {
    *why = llvm::toString(object.takeError());
    return false;
  }
  return Flattener(*object, why).run(unit, stops, image);
}

}  // namespace sy::cpu::jit

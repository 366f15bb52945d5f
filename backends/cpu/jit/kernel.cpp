#include "backends/cpu/jit/kernel.h"

#include <sys/mman.h>

#include <cstring>

namespace sy::cpu::jit {

Kernel::~Kernel() { munmap(memory_, bytes_); }

intrusive_ptr<Kernel> Kernel::load(const std::string& image) {
  ImageHeader header;
  if (image.size() < sizeof header) return nullptr;
  std::memcpy(&header, image.data(), sizeof header);
  if (header.magic != ImageHeader::kMagic || header.bytes != image.size() ||
      header.entry >= header.bytes || header.unit == 0 ||
      header.unit > kMostUnit) {
    return nullptr;
  }
  void* const memory = mmap(nullptr, image.size(), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::memcpy(memory, image.data(), image.size());
  if (mprotect(memory, image.size(), PROT_READ | PROT_EXEC) != 0) {
    munmap(memory, image.size());
    return nullptr;
  }
  auto kernel = intrusive_ptr<Kernel>::reclaim(new Kernel);
  kernel->memory_ = memory;
  kernel->bytes_ = image.size();
  kernel->unit_ = header.unit;
  kernel->stops_ = header.stops != 0;
  kernel->fn_ =
      reinterpret_cast<KernelFn>(static_cast<char*>(memory) + header.entry);
  return kernel;
}

}  // namespace sy::cpu::jit

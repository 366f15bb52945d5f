#include "test/backends/cuda/fake/driver/image.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace fake_cuda {

using enum sy::cuda::driver::Result;

sy::cuda::driver::Result classify_image(const void* image, size_t* bytes) {
  constexpr uint16_t kMachineCuda = 190;
  constexpr uint32_t kFatbin = 0xba55ed50, kFatbinWrapper = 0x466243b1;
  if (image == nullptr) return kInvalidValue;
  const auto* text = static_cast<const char*>(image);
  uint32_t magic;
  std::memcpy(&magic, text, sizeof magic);
  if (magic == kFatbin || magic == kFatbinWrapper) return kNoBinaryForGpu;
  // PTX begins with comments or with its version.
  if (text[0] == '/' || text[0] == '.' || text[0] == '\n') {
    return kUnsupportedPtxVersion;
  }
  if (std::memcmp(text, ELFMAG, SELFMAG) != 0) return kInvalidImage;
  Elf64_Ehdr head;
  std::memcpy(&head, text, sizeof head);
  if (head.e_machine == kMachineCuda) return kNoBinaryForGpu;
  if (head.e_machine != EM_X86_64 || head.e_type != ET_DYN ||
      head.e_shoff == 0) {
    return kInvalidImage;
  }
  // The linker puts the table of sections last.
  *bytes = head.e_shoff + size_t{head.e_shnum} * head.e_shentsize;
  return kSuccess;
}

}  // namespace fake_cuda

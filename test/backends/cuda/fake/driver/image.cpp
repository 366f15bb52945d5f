#include "test/backends/cuda/fake/driver/image.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>

#include "test/backends/cuda/fake/driver/settings.h"
#include "test/backends/cuda/fake/fake_cuda_control.h"

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

namespace {

std::string kind_of(const void* image) {
  const auto* text = static_cast<const char*>(image);
  if (std::memcmp(text, ELFMAG, SELFMAG) == 0) {
    Elf64_Ehdr head;
    std::memcpy(&head, text, sizeof head);
    const bool is_new = head.e_ident[EI_ABIVERSION] >= 8;
    return "cubin for sm_" +
           std::to_string(head.e_flags >> (is_new ? 8 : 0) & 0xff);
  }
  const char* const target = std::strstr(text, ".target ");
  if (target == nullptr) return "something else";
  const char* const name = target + std::strlen(".target ");
  return "PTX for " + std::string(name, std::strcspn(name, ", \n"));
}

struct Refused {
  std::mutex mutex;
  std::string text;
};
Refused& refused() {
  static Refused* const r = new Refused;
  return *r;
}

}  // namespace

void note_refused(const void* image) {
  ++counters().refused_images;
  Refused& r = refused();
  const std::lock_guard lock(r.mutex);
  r.text = kind_of(image);
}

}  // namespace fake_cuda

extern "C" const char* fake_cuda_refused_image(void) {
  fake_cuda::Refused& r = fake_cuda::refused();
  const std::lock_guard lock(r.mutex);
  return r.text.c_str();
}

#pragma once

#include <elf.h>

#include <string>
#include <vector>

namespace sy {

// Checks the segments of a shared object, because the dynamic loader does not.
// Loaded segments must be aligned and readable, in order, and apart. Segments
// that describe a part of the object must lie in a loaded one, and so must the
// sections. Returns what is wrong, or "". Internal to c10.
std::string segment_problem(const std::vector<Elf64_Phdr>& segments,
                            const std::vector<Elf64_Shdr>& sections);

}  // namespace sy

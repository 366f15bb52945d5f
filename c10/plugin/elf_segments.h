#pragma once

#include <elf.h>

#include <string>
#include <vector>

namespace sy {

// What is wrong with the segments of a shared object, which the dynamic loader
// does not check. Internal to c10: they lie in the file, in order, apart; what
// they describe lies in one that is loaded; and the sections lie where they
// say. "" if nothing is.
std::string segment_problem(const std::vector<Elf64_Phdr>& segments,
                            const std::vector<Elf64_Shdr>& sections);

}  // namespace sy

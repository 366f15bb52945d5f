#pragma once

#include <string_view>

// Files of tensors, as test/fuzz/targets.h says of its targets.

namespace sy::fuzz {

void safetensors(std::string_view bytes);
void safetensors_index(std::string_view text);
void npy(std::string_view bytes);
void npz(std::string_view bytes);
// A pickle of PyTorch, and an archive around one.
void pickle(std::string_view bytes);
void torch_archive(std::string_view bytes);
// The description of an exported program, and a size in it.
void program_text(std::string_view text);
void size_expression(std::string_view text);

}  // namespace sy::fuzz

#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

// The words of PyTorch's files: keys, dispatch keys, dtypes.

namespace sy::codegen::torch {

// The keys of an entry of native_functions.yaml.
std::vector<std::string_view> native_keys();

// Whether a backend could have that name: `XLA`, `QuantizedCPU`, `AutogradXPU`.
bool is_dispatch_key(std::string_view key);
// Whether it is the name of a backend by itself, which a tree of ours may have.
bool is_backend_key(std::string_view key);
// The dispatch keys that native_functions.yaml may name.
std::span<const std::string_view> native_dispatch_keys();
// Whether kernels of the key may be structured.
bool is_structured_key(std::string_view key);
// The keys of a `dispatch:` in derivatives.yaml; without "Default".
std::span<const std::string_view> autograd_keys();

std::span<const std::string_view> ufunc_keys();
// Names of dtypes and of classes of them.
std::span<const std::string_view> ufunc_dtypes();

bool is_python_keyword(std::string_view word);

}  // namespace sy::codegen::torch

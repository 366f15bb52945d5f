#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostics.h"
#include "lang/location.h"

// Backends as their YAML describes them: backends/NAME/backend.yaml of those in
// a source tree, NAME.yaml of those outside. Plain data.

namespace sy::model {

class Model;
struct Overload;

// An engine runs all operators of a kind from their descriptions, so that none
// of them needs a kernel of its own.
enum class EngineKind : std::uint8_t { kPointwise, kReduce, kScan, kView };
inline constexpr int kEngines = 4;
// "pointwise", as `engines:` names it.
std::string_view to_string(EngineKind e);

// The tensors that kernels take; without `dtypes:` and `layouts:` all.
struct Claims {
  bool any = false;                 // either was said
  std::vector<std::string> dtypes;  // "float32"; empty: all
  bool strided = true;
};
// Dtypes that claims may name; the place of each is its number.
std::span<const std::string_view> claimed_dtypes();

// One of `supported:`.
struct SupportedKernel {
  lang::Text name;  // "add.Tensor"
  std::optional<Claims> claims;
};

struct Backend {
  std::string path;    // as in messages and banners
  std::string folder;  // "backends/cpu": what its headers are included by
  lang::Text key;      // of dispatch: "CPU"
  lang::Text ns;       // of its functions: "sy::cpu"
  // `device:` the name of its devices, and the function that returns their
  // DeviceInterface. Without a function something else registers them.
  lang::Text device;
  lang::Text interface;
  std::array<bool, kEngines> engines{};  // those that it brings, by number
  // `engine_calls:` whether it has an instance of the kernels of its own, which
  // calls its engines directly. Else all backends share one.
  bool direct = false;
  // `structured:` whether a kernel under `dispatch:` of an operator with
  // `shape:` fills results that are made for it. If not, the backend has no
  // data: the results are all, and nothing is called.
  bool fills = true;
  // `fallback:` whether operators without a kernel run on the CPU.
  bool falls_back = true;
  // `plugin:` whether a backend in the tree is a library of its own. The others
  // are linked into the library, which knows them by their descriptions.
  bool plugin = false;
  std::vector<SupportedKernel> supported;
  std::vector<lang::Text> autograd;  // operators with gradients of their own
  Claims claims;                     // of kernels without their own

  // Whether `supported:` or `autograd:` has the operator, "add.Tensor".
  bool names(std::string_view op) const;
  bool has_engine(EngineKind e) const {
    return engines[static_cast<std::size_t>(e)];
  }
  // "cpu" of sy::cpu: how generated code of the namespace names it.
  std::string inner_namespace() const;
};

// Whether the text of a file describes a backend: it is a map that begins with
// `backend:`.
bool is_backend_file(std::string_view text);
// Whether it has keys that only descriptions of ours have, and not the files of
// torch_xla.
bool is_own_backend_file(std::string_view text);

// Reads a description. All its errors are reported; operators are not looked
// up. `file` is its name in messages.
Backend read_backend(std::string_view text, std::string_view file,
                     lang::Diagnostics& diagnostics);
// Reads the descriptions of files. Two of one key or device are errors too.
std::vector<Backend> read_backends(std::span<const std::string> paths,
                                   lang::Diagnostics& diagnostics);
// Reports two descriptions of one key or device.
void check_backends(std::span<const Backend> backends,
                    lang::Diagnostics& diagnostics);

// Whether the key stands for all backends: CompositeExplicitAutograd and such.
bool is_alias_key(std::string_view key);
// "npu", "sy::npu"
bool is_namespace(std::string_view name);

// Refuses a key that is not a plugin's to take: the library's own backends, and
// keys of no backend.
void check_plugin_key(const lang::Text& key, lang::Diagnostics& diagnostics);

// The keys that `dispatch:` may name: those of the backends, and the aliases.
std::vector<std::string_view> dispatch_keys(std::span<const Backend> backends);

// The operators that a description names.
struct NamedKernels {
  // The overloads by the namespace of the operators.
  using Overloads = std::map<std::string, std::vector<const Overload*>>;

  Overloads supported;
  Overloads autograd;
  std::map<const Overload*, Claims> own_claims;

  bool has(const Overload* o) const;
};
// Reports names that are unknown, listed twice, or also under `dispatch:`.
NamedKernels named_kernels(const Model& model, const Backend& backend,
                           lang::Diagnostics& diagnostics);

}  // namespace sy::model

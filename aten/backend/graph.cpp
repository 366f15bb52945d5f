#include "aten/backend/graph.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>

#include "c10/process/error.h"
#include "c10/process/fork.h"

namespace sy::graph {

namespace {

struct Registry {
  ForkMutex mutex;
  std::map<std::string, std::shared_ptr<Compiler>, std::less<>> compilers;
};
Registry& registry() {
  static auto* r = new Registry;  // leaked: what they made may run at the end
  return *r;
}

// How plans of the lazy backend run by themselves.
constexpr std::string_view kOwn[] = {"jit", "interpret", "debug"};

bool is_name(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

}  // namespace

Graph::~Graph() = default;
Executable::~Executable() = default;
std::string Executable::text() const { return ""; }
Compiler::~Compiler() = default;

size_t bytes_of(const Layout& layout) {
  size_t n = element_size(layout.dtype);
  for (const int64_t s : layout.sizes) n *= static_cast<size_t>(s);
  return n;
}

Tensor tensor_in(const Storage& memory, const Layout& layout) {
  const Device device = memory->device();
  return Tensor(TensorImpl::make(memory, layout.dtype, device,
                                 DispatchKeySet::dense(device.type()),
                                 layout.sizes, layout.strides, layout.offset));
}

void add_compiler(std::string_view name, std::shared_ptr<Compiler> compiler) {
  SY_CHECK(is_name(name), Value,
           "[add_compiler] name: expected letters, digits, '_' and '-', got "
           "'{}'",
           name);
  SY_CHECK(compiler != nullptr, Value, "[add_compiler] compiler: got nullptr");
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const bool own =
      std::find(std::begin(kOwn), std::end(kOwn), name) != std::end(kOwn);
  const bool added =
      !own && r.compilers.emplace(name, std::move(compiler)).second;
  SY_CHECK(added, Value, "[add_compiler] name: there is a '{}' already", name);
}

std::shared_ptr<Compiler> find_compiler(std::string_view name) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto at = r.compilers.find(name);
  return at == r.compilers.end() ? nullptr : at->second;
}

std::vector<std::string> compiler_names() {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  std::vector<std::string> names(std::begin(kOwn), std::end(kOwn));
  for (const auto& [name, c] : r.compilers) names.push_back(name);
  return names;
}

}  // namespace sy::graph

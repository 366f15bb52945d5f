#include "backends/cuda/compile/module.h"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/cuda/compile/images.h"
#include "backends/cuda/compile/record.h"
#include "backends/cuda/compile/unit.h"
#include "backends/cuda/runtime/context.h"
#include "c10/process/error.h"

namespace sy::cuda {

namespace {

// ---- units that are loaded

struct LoadedUnit {
  std::mutex mutex;
  driver::Module module = nullptr;
  std::string error;  // why it never will be
};

// Leaked: kernels may run until the process ends.
struct Units {
  std::mutex mutex;
  std::map<std::pair<int, Hash>, std::unique_ptr<LoadedUnit>> loaded;
};
Units& units() {
  static auto* const u = new Units;
  return *u;
}

driver::Module module_of(int device, std::string_view source,
                         ArrayRef<Define> defines, std::string_view kernel) {
  const Unit unit = carried_unit(source, defines);
  const Hash key = key_of(unit);
  record_carried(key, source, defines);
  LoadedUnit* u;
  {
    const std::lock_guard lock(units().mutex);
    auto& slot = units().loaded[{device, key}];
    if (slot == nullptr) slot = std::make_unique<LoadedUnit>();
    u = slot.get();
  }
  const std::lock_guard lock(u->mutex);
  if (u->module != nullptr) return u->module;
  if (u->error.empty()) {
    if (load_baked(device, key, &u->module) ||
        load_kept(device, key, &u->module)) {
      return u->module;
    }
    std::string why;
    if (compile_and_load(device, unit, {key}, &u->module, &why)) {
      return u->module;
    }
    u->error = str("[cuda] {}: cannot compile {}: {}", kernel, unit.name, why);
    if (!why_not_compiled(device).empty()) {
      u->error += "; " + why_not_baked(device);
    }
  }
  throw Error(u->error);
}

// ---- kernels that are known

struct Known {
  uint64_t hash;
  int device;
  std::string source, name;
  std::vector<std::pair<std::string, std::string>> defines;
  Function function;
  const Known* next;

  bool is(int d, std::string_view s, std::string_view n,
          ArrayRef<Define> list) const {
    if (d != device || s != source || n != name ||
        list.size() != defines.size()) {
      return false;
    }
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i].name != defines[i].first ||
          list[i].value != defines[i].second) {
        return false;
      }
    }
    return true;
  }
};

// Chains of entries that are never changed or removed: readers take no lock.
struct Table {
  std::mutex adding;
  std::array<std::atomic<const Known*>, 1024> chains{};
};
Table& table() {
  static auto* const t = new Table;
  return *t;
}

const Known* find(uint64_t hash, int device, std::string_view source,
                  std::string_view name, ArrayRef<Define> defines) {
  const Known* k = table().chains[hash % 1024].load(std::memory_order_acquire);
  for (; k != nullptr; k = k->next) {
    if (k->hash == hash && k->is(device, source, name, defines)) return k;
  }
  return nullptr;
}

const Known& add(uint64_t hash, int device, std::string_view source,
                 std::string_view name, ArrayRef<Define> defines) {
  // use_device() comes before any lock: it says what is wrong with a device or
  // a forked process.
  use_device(device);
  auto fresh = std::make_unique<Known>();
  fresh->hash = hash;
  fresh->device = device;
  fresh->source = source;
  fresh->name = name;
  for (const Define& d : defines) fresh->defines.emplace_back(d.name, d.value);
  const driver::Module module = module_of(device, source, defines, name);
  const driver::Result r = driver::api().module_function(
      &fresh->function.handle, module, fresh->name.c_str());
  SY_CHECK(r != driver::kNotFound, Error, "[cuda] {} has no kernel {}", source,
           name);
  driver::check(r, "cuModuleGetFunction");
  fresh->function.name = fresh->name.c_str();

  Table& t = table();
  const std::lock_guard lock(t.adding);
  if (const Known* const k = find(hash, device, source, name, defines)) {
    return *k;
  }
  auto& chain = t.chains[hash % 1024];
  fresh->next = chain.load(std::memory_order_relaxed);
  chain.store(fresh.get(), std::memory_order_release);
  return *fresh.release();
}

}  // namespace

const Function& kernel(int device, std::string_view source,
                       std::string_view name, ArrayRef<Define> defines) {
  Hasher h;
  h.add(static_cast<uint64_t>(device)).add(source).add(name);
  for (const Define& d : defines) h.add(d.name).add(d.value);
  const uint64_t hash = h.end().a;
  const Known* const k = find(hash, device, source, name, defines);
  return (k != nullptr ? *k : add(hash, device, source, name, defines))
      .function;
}

}  // namespace sy::cuda

#include <cstring>

#include "backends/lazy/backend_gen.h"
#include "backends/lazy/graph.h"
#include "backends/lazy/inner_stream.h"
#include "backends/lazy/text.h"
#include "c10/device/backend.h"
#include "c10/device/backend_service.h"
#include "c10/plugin/library.h"

namespace sy::lazy {

namespace {

// Memory that somebody asked for is that of the inner device.
class LazyDevice final : public DeviceInterface {
 public:
  Allocator& allocator(int) override {
    const Device d = inner_device();
    return d.is_cpu() ? cpu_allocator()
                      : device_interface(d.type()).allocator(index());
  }
  void copy_from_host(void* to, const void* from, size_t n, int) override {
    if (on_host()) {
      std::memcpy(to, from, n);
    } else {
      const InnerStream stream;
      inner().copy_from_host(to, from, n, index());
    }
  }
  void copy_to_host(void* to, const void* from, size_t n, int) override {
    if (on_host()) {
      std::memcpy(to, from, n);
    } else {
      const InnerStream stream;
      inner().copy_to_host(to, from, n, index());
    }
  }
  void copy_on_device(void* to, const void* from, size_t n, int) override {
    if (on_host()) {
      std::memmove(to, from, n);
    } else {
      const InnerStream stream;
      inner().copy_on_device(to, from, n, index());
    }
  }
  bool host_accessible() const noexcept override {
    return on_host() || inner().host_accessible();
  }
  bool properties(int, DeviceProperties* p) override {
    const std::string name = "lazy on " + inner_device().str();
    std::strncpy(p->name, name.c_str(), sizeof p->name - 1);
    return true;
  }

 private:
  static bool on_host() { return inner_device().is_cpu(); }
  static DeviceInterface& inner() {
    return device_interface(inner_device().type());
  }
  static int index() { return std::max(inner_device().index(), 0); }
};

// Names the calls that an unload() would lose.
class Holders final : public HolderReport {
 public:
  std::string describe() const override {
    const std::lock_guard lock(graph_mutex());
    const auto roots = recorded_roots();
    return roots.empty() ? ""
                         : "recorded and held by tensors: " + nodes_text(roots);
  }
};
Holders holders;

SY_BACKEND(Lazy, m) { m.service(BackendService::kHolders, &holders); }

}  // namespace

DeviceInterface& devices() {
  static auto* d = new LazyDevice;  // leaked: storages may outlive the library
  return *d;
}

}  // namespace sy::lazy

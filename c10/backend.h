#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "c10/allocator.h"
#include "c10/device.h"
#include "c10/intrusive_ptr.h"

namespace sy {

class StorageImpl;      // c10/storage.h
class StreamInterface;  // c10/stream.h

// What a device is. Unknown numbers are 0.
struct DeviceProperties {
  char name[64] = {};        // "Sample 3000"
  int64_t total_memory = 0;  // bytes
  int32_t compute_units = 0;
  int32_t version[2] = {};  // of the hardware or its driver
  int64_t reserved[8] = {};
};

// Bytes of a device's memory, whoever uses it.
struct MemoryInfo {
  int64_t free = 0;
  int64_t total = 0;
};

// What a backend tells the library about its devices, beyond its kernels. Copy
// functions take raw bytes; the library orders them against kernels by
// synchronize(). Implementations are safe from several threads. Virtual
// functions are only ever added in the reserved places.
class SY_API DeviceInterface {
 public:
  virtual ~DeviceInterface();
  virtual int device_count() const noexcept { return 1; }
  virtual Allocator& allocator(int index) = 0;
  // Host <-> device, and within a device. The host's memory may be reused when
  // the call returns; what kernels have begun is done before.
  virtual void copy_from_host(void* dst, const void* src, size_t bytes,
                              int index) = 0;
  virtual void copy_to_host(void* dst, const void* src, size_t bytes,
                            int index) = 0;
  virtual void copy_on_device(void* dst, const void* src, size_t bytes,
                              int index) = 0;
  virtual void synchronize(int) {}
  // Whether the host may read and write the memory directly.
  virtual bool host_accessible() const noexcept { return false; }
  // Of a backend whose kernels run after the call that started them; nullptr:
  // they have run when it returns. synchronize() then waits for all streams of
  // the device and throws the first error of a kernel.
  virtual StreamInterface* streams() noexcept { return nullptr; }
  // False: nothing is known of the device but its name.
  virtual bool properties(int, DeviceProperties*) { return false; }
  // From one device of the backend to another, ordered as copy_on_device is;
  // false: not possible, the copy goes by way of the host.
  virtual bool copy_across(void*, int, const void*, int, size_t) {
    return false;
  }
  // Pinned memory: of the host, which reads and writes it as its own, and that
  // all devices of the backend copy from and to directly. nullptr: none.
  virtual Allocator* pinned_allocator() noexcept { return nullptr; }
  // Puts a copy between pinned memory and the device into the stream of this
  // thread and returns. It begins `dst_first` and `src_first` bytes into the
  // storages and holds both until it is done. False: nothing was begun, the
  // caller copies and waits.
  virtual bool begin_copy(const intrusive_ptr<StorageImpl>& /*dst*/,
                          size_t /*dst_first*/,
                          const intrusive_ptr<StorageImpl>& /*src*/,
                          size_t /*src_first*/, size_t /*bytes*/,
                          int /*index*/) {
    return false;
  }
  // Another device became the current one of this thread (device_guard.h):
  // what it starts from now on goes there. Called at a change alone; a thread
  // begins at 0.
  virtual void set_device(int) noexcept {}
  // False: not known. Then it is made up of properties() and allocator().
  virtual bool memory_info(int, MemoryInfo*) { return false; }

 protected:
  DeviceInterface() = default;

 private:
  virtual void* reserved0() { return nullptr; }
  virtual void* reserved1() { return nullptr; }
  virtual void* reserved2() { return nullptr; }
  virtual void* reserved3() { return nullptr; }
  virtual void* reserved4() { return nullptr; }
  virtual void* reserved5() { return nullptr; }
  virtual void* reserved6() { return nullptr; }
  virtual void* reserved7() { return nullptr; }
};

struct BackendInfo {
  DeviceType type;
  std::string key;             // of dispatch keys: "CPU", "Npu"
  std::string device;          // of devices: "cpu", "npu"
  DeviceInterface* interface;  // nullptr for Meta and while unloaded
  bool present;  // a loaded library brings it; CPU and Meta always are
};

// The backends with a number, present or not, by number: those with a fixed
// one, then those registered so far. Thread-safe.
SY_API std::vector<BackendInfo> backends();
// Number of numbers given out (the fixed ones included).
SY_API int backend_count() noexcept;
// Names by number; "?" for a number not given out.
SY_API std::string backend_key_name(DeviceType t);
SY_API std::string backend_device_name(DeviceType t);
// The interface; throws ValueError if the backend is not present.
SY_API DeviceInterface& device_interface(DeviceType t);
// nullptr for Meta, and if the backend is not present.
SY_API DeviceInterface* loaded_interface(DeviceType t) noexcept;
// How to get the backend: "no library of this backend is loaded; …", empty if
// it is present.
SY_API std::string why_not_loaded(DeviceType t);

namespace detail {
// Whether kernels of the backend run under a DeviceCall (device_guard.h): it
// has several devices, or streams.
bool has_device_calls(DeviceType t) noexcept;
// For library commit (c10/plugin/library.cpp). The same key name always gets
// the same number; at most kMaxBackends. Throws RegistrationError.
SY_API DeviceType register_backend(std::string_view key,
                                   std::string_view device,
                                   DeviceInterface* interface);
SY_API void unregister_backend(DeviceType t) noexcept;
}  // namespace detail

}  // namespace sy

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "c10/device/device.h"
#include "c10/memory/allocator.h"
#include "c10/tensor/intrusive_ptr.h"

namespace sy {

class StorageImpl;      // c10/tensor/storage.h
class StreamInterface;  // c10/device/stream.h

// Describes a device. Unknown numbers are 0.
struct DeviceProperties {
  char name[64] = {};        // "Sample 3000"
  int64_t total_memory = 0;  // bytes
  int32_t compute_units = 0;
  int32_t version[2] = {};  // of the hardware or its driver
  int64_t reserved[8] = {};
};

// The memory of a device in bytes, whichever program uses it.
struct MemoryInfo {
  int64_t free = 0;
  int64_t total = 0;
};

// Describes the devices of a backend to the library; a backend implements it
// beside its kernels. Copy functions take raw bytes. The library calls
// synchronize() to order them with kernels. Implementations must be
// thread-safe. New virtual functions only ever take the reserved places.
class SY_API DeviceInterface {
 public:
  virtual ~DeviceInterface();
  virtual int device_count() const noexcept { return 1; }
  virtual Allocator& allocator(int index) = 0;
  // Copies between host and device, and within a device, after the kernels that
  // were started before. The caller may reuse the host's memory when the call
  // returns.
  virtual void copy_from_host(void* dst, const void* src, size_t bytes,
                              int index) = 0;
  virtual void copy_to_host(void* dst, const void* src, size_t bytes,
                            int index) = 0;
  virtual void copy_on_device(void* dst, const void* src, size_t bytes,
                              int index) = 0;
  virtual void synchronize(int) {}
  // Whether the host may read and write the memory directly.
  virtual bool host_accessible() const noexcept { return false; }
  // nullptr: kernels have run when their call returns. Else kernels run after
  // the call that started them, and synchronize() waits for all streams of the
  // device, then throws the first error of a kernel.
  virtual StreamInterface* streams() noexcept { return nullptr; }
  // Fills in the properties. False: only the name of the device is known.
  virtual bool properties(int, DeviceProperties*) { return false; }
  // Copies from one device of the backend to another, ordered with kernels as
  // copy_on_device is. The arguments are the destination and its device, the
  // source and its device, and the number of bytes. False: this is not
  // possible, and the copy goes through the host.
  virtual bool copy_across(void*, int, const void*, int, size_t) {
    return false;
  }
  // Allocates pinned memory: host memory that the host uses as its own, and
  // that all devices of the backend copy from and to directly. nullptr: there
  // is none.
  virtual Allocator* pinned_allocator() noexcept { return nullptr; }
  // Puts a copy between pinned memory and the device into the current stream of
  // this thread, and returns. The copy begins `dst_first` and `src_first` bytes
  // into the storages, and holds both until it is done. False: nothing was
  // begun; the caller copies and waits.
  virtual bool begin_copy(const intrusive_ptr<StorageImpl>& /*dst*/,
                          size_t /*dst_first*/,
                          const intrusive_ptr<StorageImpl>& /*src*/,
                          size_t /*src_first*/, size_t /*bytes*/,
                          int /*index*/) {
    return false;
  }
  // Called when another device becomes the current one of this thread
  // (device_guard.h): work that the thread starts from now on goes to it. Not
  // called if the device stays the same. A thread begins with device 0.
  virtual void set_device(int) noexcept {}
  // Fills in the memory of a device. False: it is not known, and the library
  // takes it from properties() and allocator().
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
  std::string key;             // in dispatch keys: "CPU", "Npu"
  std::string device;          // in devices: "cpu", "npu"
  DeviceInterface* interface;  // nullptr for Meta and while unloaded
  bool present;  // a loaded library provides it; always for CPU and Meta
};

// All backends with a number, present or not, in the order of numbers: those
// with a fixed number, then those registered so far. Thread-safe.
SY_API std::vector<BackendInfo> backends();
// How many numbers are given out, the fixed ones included.
SY_API int backend_count() noexcept;
// The names of a backend; "?" if no backend has the number.
SY_API std::string backend_key_name(DeviceType t);
SY_API std::string backend_device_name(DeviceType t);
// Throws ValueError if the backend is not present, and for Meta.
SY_API DeviceInterface& device_interface(DeviceType t);
// nullptr for Meta, and if the backend is not present.
SY_API DeviceInterface* loaded_interface(DeviceType t) noexcept;
// Why the backend is not present, and what to do: "no library of this backend
// is loaded; …". Empty if it is present.
SY_API std::string why_not_loaded(DeviceType t);

namespace detail {
// Whether kernels of the backend run under a DeviceCall (device_guard.h): true
// if it has several devices, or streams.
bool has_device_calls(DeviceType t) noexcept;
// For the commit of libraries (c10/dispatch/registry.cpp). A key name always
// gets the same number. Throws RegistrationError, also beyond kMaxBackends
// backends.
SY_API DeviceType register_backend(std::string_view key,
                                   std::string_view device,
                                   DeviceInterface* interface);
SY_API void unregister_backend(DeviceType t) noexcept;
}  // namespace detail

}  // namespace sy

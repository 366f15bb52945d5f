#include "tools/sy/device/red_zones.h"

#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "c10/device/backend.h"
#include "c10/process/error.h"
#include "tools/sy/cases/tensors.h"

namespace sy::tools {

namespace {

// The bytes in front of a block, which stays aligned, and behind it.
constexpr size_t kFront = 64, kBehind = 256;
constexpr int kPattern = 0xff;  // NaN in every floating dtype

class ZonedAllocator final : public Allocator {
 public:
  ZonedAllocator(DeviceInterface& device, int index)
      : device_(device), inner_(device.allocator(index)), index_(index) {}

  void* allocate(size_t n) override {
    if (n == 0) return inner_.allocate(0);
    return mark(inner_.allocate(kFront + n + kBehind), n);
  }
  void* allocate_on(size_t n, uint64_t stream) override {
    if (n == 0) return inner_.allocate_on(0, stream);
    return mark(inner_.allocate_on(kFront + n + kBehind, stream), n);
  }
  void deallocate(void* data, size_t n) noexcept override {
    const std::lock_guard lock(mutex_);
    const auto it = blocks_.find(data);
    if (it == blocks_.end()) return inner_.deallocate(data, n);
    check(data, it->second);
    blocks_.erase(it);
    inner_.deallocate(static_cast<char*>(data) - kFront, kFront + n + kBehind);
  }
  MemoryStats stats() const noexcept override { return inner_.stats(); }
  void reset_peak() noexcept override { inner_.reset_peak(); }
  void trim() noexcept override { inner_.trim(); }
  void set_limit(int64_t n) noexcept override { inner_.set_limit(n); }
  void note_use(const void* data, int device, uint64_t stream,
                uint64_t ticket) noexcept override {
    inner_.note_use(data, device, stream, ticket);
  }

  int64_t bytes() {
    const std::lock_guard lock(mutex_);
    int64_t out = 0;
    for (const auto& [data, n] : blocks_) out += static_cast<int64_t>(n);
    return out;
  }

  std::string broken() {
    const std::lock_guard lock(mutex_);
    for (const auto& [data, n] : blocks_) check(data, n);
    return std::exchange(broken_, "");
  }

 private:
  // Element memory begins behind the front zone.
  void* mark(void* all, size_t n) {
    const std::string pattern(kFront + n + kBehind,
                              static_cast<char>(kPattern));
    device_.copy_from_host(all, pattern.data(), pattern.size(), index_);
    void* const data = static_cast<char*>(all) + kFront;
    const std::lock_guard lock(mutex_);
    blocks_[data] = n;
    return data;
  }
  void check(void* data, size_t n) noexcept {
    char* const begin = static_cast<char*>(data);
    const int64_t before = changed(begin - kFront, kFront);
    if (before >= 0) {
      broken_ = str("byte {} before a block of {} bytes was written",
                    static_cast<int64_t>(kFront) - before, n);
    }
    const int64_t behind = changed(begin + n, kBehind);
    if (behind >= 0) {
      broken_ =
          str("byte {} behind a block of {} bytes was written", behind, n);
    }
  }
  // The first byte of a zone that was changed; -1 if none was. Lays it anew.
  int64_t changed(char* zone, size_t n) noexcept {
    char want[kBehind], got[kBehind];
    std::memset(want, kPattern, n);
    device_.copy_to_host(got, zone, n, index_);
    if (std::memcmp(want, got, n) == 0) return -1;
    int64_t at = 0;
    while (want[at] == got[at]) ++at;
    device_.copy_from_host(zone, want, n, index_);
    return at;
  }

  DeviceInterface& device_;
  Allocator& inner_;
  int index_;
  std::mutex mutex_;
  std::map<void*, size_t> blocks_;
  std::string broken_;
};

// The device itself, but for where its memory comes from.
class ZonedDevice final : public DeviceInterface {
 public:
  ZonedDevice(DeviceInterface& inner, int index)
      : inner_(inner), index_(index), zoned_(inner, index) {}

  int device_count() const noexcept override { return inner_.device_count(); }
  Allocator& allocator(int index) override {
    return index == index_ ? zoned_ : inner_.allocator(index);
  }
  void copy_from_host(void* to, const void* from, size_t n, int i) override {
    inner_.copy_from_host(to, from, n, i);
  }
  void copy_to_host(void* to, const void* from, size_t n, int i) override {
    inner_.copy_to_host(to, from, n, i);
  }
  void copy_on_device(void* to, const void* from, size_t n, int i) override {
    inner_.copy_on_device(to, from, n, i);
  }
  void synchronize(int i) override { inner_.synchronize(i); }
  bool host_accessible() const noexcept override {
    return inner_.host_accessible();
  }
  bool properties(int i, DeviceProperties* p) override {
    return inner_.properties(i, p);
  }
  bool copy_across(void* to, int to_index, const void* from, int from_index,
                   size_t n) override {
    return inner_.copy_across(to, to_index, from, from_index, n);
  }
  Allocator* pinned_allocator() noexcept override {
    return inner_.pinned_allocator();
  }
  bool begin_copy(const intrusive_ptr<StorageImpl>& dst, size_t dst_first,
                  const intrusive_ptr<StorageImpl>& src, size_t src_first,
                  size_t bytes, int i) override {
    return inner_.begin_copy(dst, dst_first, src, src_first, bytes, i);
  }
  void set_device(int i) noexcept override { inner_.set_device(i); }
  bool memory_info(int i, MemoryInfo* m) override {
    return inner_.memory_info(i, m);
  }

  std::string broken() { return zoned_.broken(); }
  int64_t bytes() { return zoned_.bytes(); }

 private:
  DeviceInterface& inner_;
  int index_;
  ZonedAllocator zoned_;
};

// Lives as long as the process, as blocks may.
ZonedDevice* zoned = nullptr;

}  // namespace

bool lay_red_zones(Device device) {
  DeviceInterface* const inner = loaded_interface(device.type());
  if (zoned != nullptr || inner == nullptr || inner->streams() != nullptr) {
    return false;
  }
  const std::string key = backend_key_name(device.type());
  const std::string name = backend_device_name(device.type());
  zoned = new ZonedDevice(*inner, device.has_index() ? device.index() : 0);
  detail::unregister_backend(device.type());
  detail::register_backend(key, name, zoned);
  return true;
}

std::string broken_zone() { return zoned == nullptr ? "" : zoned->broken(); }

int64_t bytes_in_zones() { return zoned == nullptr ? 0 : zoned->bytes(); }

}  // namespace sy::tools

#include "c10/memory/pinned_memory.h"

#include <gtest/gtest.h>

#include "c10/plugin/library.h"
#include "test/c10/expect_error.h"
#include "test/conformance/host_device.h"

namespace sy {
namespace {

HostDevice one, two;

SY_BACKEND(One, m) { m.device("one", &one); }
SY_BACKEND(Two, m) { m.device("two", &two); }

TEST(PinningBackend, SaysWhichAreThere) {
  SY_EXPECT_ERROR(pinning_backend("empty", std::nullopt), ValueError,
                  "[empty] pin_memory: expected a device that pins memory, got "
                  "none; no backend is loaded beside the CPU");
  init();
  SY_EXPECT_ERROR(pinning_backend("empty", std::nullopt), ValueError,
                  "none of the loaded backends ('one', 'two') pins memory");
  SY_EXPECT_ERROR(pinning_backend("pin_memory", Device("two")), ValueError,
                  "[pin_memory] device: expected one that pins memory, got "
                  "'two'");
  SY_EXPECT_ERROR(StorageImpl::allocate_pinned(8, Device("two").type()),
                  ValueError, "'two' pins no memory of the host");
}

TEST(PinningBackend, OtherStoragesAreNotPinned) {
  init();
  char bytes[8];
  for (const Storage& s :
       {StorageImpl::allocate(8, Device(kCPU)),
        StorageImpl::allocate(1 << 20, Device(kCPU)),
        StorageImpl::allocate(8, Device("one:0")),
        StorageImpl::without_data(8, Device(kMeta)),
        StorageImpl::adopt(bytes, 8, Device(kCPU), nullptr, nullptr)}) {
    EXPECT_FALSE(s->is_pinned());
    EXPECT_FALSE(is_pinned(*s, std::nullopt));
    EXPECT_FALSE(is_pinned(*s, Device("one")));
  }
}

}  // namespace
}  // namespace sy

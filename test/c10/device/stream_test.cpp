#include "c10/device/stream.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "c10/plugin/library.h"
#include "test/c10/expect_error.h"
#include "test/conformance/host_device.h"

namespace sy {
namespace {

// Streams that do nothing until they are waited for.
class LazyStreams final : public StreamInterface {
 public:
  uint64_t create_stream(int) override { return ++last_; }
  void destroy_stream(int, uint64_t) noexcept override { ++destroyed; }
  uint64_t current_stream(int device) const noexcept override {
    return current_[device];
  }
  void set_current_stream(int device, uint64_t s) noexcept override {
    current_[device] = s;
  }
  bool is_stream_done(int, uint64_t s) const override {
    return pending.count(s) == 0;
  }
  void synchronize_stream(int, uint64_t s) override {
    pending.erase(s);
    if (!fails) return;
    fails = false;
    throw ValueError("[add.Tensor] the device says no");
  }
  uint64_t record_event(int, uint64_t s) override { return 100 + s; }
  void destroy_event(int, uint64_t) noexcept override { ++destroyed; }
  bool is_event_done(int device, uint64_t e) const override {
    return is_stream_done(device, e - 100);
  }
  void synchronize_event(int device, uint64_t e) override {
    synchronize_stream(device, e - 100);
  }
  void wait_event(int, uint64_t s, uint64_t e) override { waits[s] = e; }

  std::map<uint64_t, bool> pending;
  std::map<uint64_t, uint64_t> waits;
  int destroyed = 0;
  bool fails = false;

 private:
  uint64_t last_ = 0;
  uint64_t current_[2] = {};
};

class TwoDevices final : public HostDevice {
 public:
  int device_count() const noexcept override { return 2; }
  StreamInterface* streams() noexcept override { return &lazy; }
  bool properties(int index, DeviceProperties* out) override {
    std::snprintf(out->name, sizeof out->name, "Two %d", index);
    out->compute_units = 4;
    return true;
  }
  LazyStreams lazy;
};

TwoDevices two;
HostDevice plain;

SY_BACKEND(Two, m) { m.device("two", &two); }
SY_BACKEND(Plain, m) { m.device("plain", &plain); }

class StreamTest : public ::testing::Test {
 protected:
  void SetUp() override { init(); }
};

TEST_F(StreamTest, DevicesWithoutStreamsHaveOneThatIsDone) {
  const Stream s = Stream::current(Device("plain"));
  EXPECT_EQ(s.id(), 0u);
  EXPECT_TRUE(s.is_done());
  s.synchronize();
  const Event e = s.record();
  EXPECT_TRUE(e.is_done());
  e.synchronize();
  s.wait(e);
  const StreamGuard guard(s);
  EXPECT_EQ(Stream::current(Device("plain")), s);
  SY_EXPECT_ERROR(Stream::make(Device("plain:0")), NotImplementedError,
                  "'plain' has no streams");
  EXPECT_EQ(Stream::current(Device(kCPU)).id(), 0u);
}

TEST_F(StreamTest, AGuardLeavesTheStreamBeforeIt) {
  const Device device("two:1");
  const Stream a = Stream::make(device), b = Stream::make(device);
  EXPECT_FALSE(a == b);
  {
    const StreamGuard outer(a);
    EXPECT_EQ(Stream::current(device), a);
    {
      const StreamGuard inner(b);
      EXPECT_EQ(Stream::current(device), b);
    }
    EXPECT_EQ(Stream::current(device), a);
    EXPECT_EQ(Stream::current(Device("two:0")).id(), 0u);
  }
  EXPECT_EQ(Stream::current(device).id(), 0u);
}

TEST_F(StreamTest, EventsOrderTwoStreams) {
  const Stream a = Stream::make(Device("two")), b = Stream::make(Device("two"));
  two.lazy.pending[a.id()] = true;
  const Event e = a.record();
  EXPECT_FALSE(a.is_done());
  EXPECT_FALSE(e.is_done());
  b.wait(e);
  EXPECT_EQ(two.lazy.waits[b.id()], 100 + a.id());
  e.synchronize();
  EXPECT_TRUE(e.is_done());
  SY_EXPECT_ERROR(Stream::current(Device("plain")).wait(e), ValueError,
                  "expected one of 'plain', got one of two:0");
}

TEST_F(StreamTest, ErrorsOfKernelsArriveOnce) {
  const Stream s = Stream::make(Device("two"));
  two.lazy.fails = true;
  SY_EXPECT_ERROR(s.synchronize(), ValueError, "[add.Tensor]");
  s.synchronize();
}

TEST_F(StreamTest, AreDestroyedWithTheirLastHandle) {
  const int before = two.lazy.destroyed;
  {
    const Stream s = Stream::make(Device("two"));
    const Stream copy = s;
    const Event e = copy.record();
    const StreamGuard guard(s);
    { const Stream current = Stream::current(Device("two")); }
    EXPECT_EQ(two.lazy.destroyed, before);
  }
  EXPECT_EQ(two.lazy.destroyed, before + 2);
}

TEST_F(StreamTest, DevicesSayWhatTheyAre) {
  EXPECT_EQ(device_count("two"), 2);
  EXPECT_EQ(device_count("plain"), 1);
  EXPECT_STREQ(device_properties(Device("two:1")).name, "Two 1");
  EXPECT_EQ(device_properties(Device("two")).compute_units, 4);
  EXPECT_STREQ(device_properties(Device("plain")).name, "plain");
  SY_EXPECT_ERROR(device_properties(Device("two:2")), ValueError,
                  "expected 'two' with an index in [0, 1], got two:2");
  SY_EXPECT_ERROR(Stream::make(Device("two:2")), ValueError, "[0, 1]");
}

}  // namespace
}  // namespace sy

#include <chrono>

#include "test/backends/cuda/fake/driver_fixture.h"

namespace {

using namespace fake_cuda;
using driver::Event;
using driver::Stream;
using enum driver::Result;

class StreamsTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    add_one = load(kFillSource, "add_one");
    out = allocate(4096);
    ASSERT_EQ(api().stream_create(&second, driver::kNonBlocking, -2), kSuccess);
    ASSERT_EQ(api().event_create(&event, 0), kSuccess);
    ASSERT_EQ(api().fill(out, 0, 4096, stream), kSuccess);
    ASSERT_EQ(api().stream_synchronize(stream), kSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(api().event_destroy(event), kSuccess);
    EXPECT_EQ(api().stream_destroy(second), kSuccess);
    DriverTest::TearDown();
  }
  // Adds one to each of 8 numbers.
  void add(Stream on) {
    FillParams p{{}, 8, 0, reinterpret_cast<int*>(out)};
    EXPECT_EQ(launch(add_one, 1, 32, &p, 0, on), kSuccess);
  }
  driver::Function add_one;
  DevicePointer out;
  Stream second;
  Event event;
};

TEST_F(StreamsTest, WorkRunsLaterAndInOrder) {
  Paused paused;
  for (int i = 0; i < 10; ++i) add(stream);
  EXPECT_EQ(api().stream_query(stream), kNotReady);
  EXPECT_EQ(api().stream_query(second), kSuccess);
  paused.end();
  EXPECT_EQ(api().stream_synchronize(stream), kSuccess);
  EXPECT_EQ(api().stream_query(stream), kSuccess);
  EXPECT_EQ(read<int>(out, 1), std::vector<int>{10});
}

TEST_F(StreamsTest, EventsOrderStreams) {
  EXPECT_EQ(api().event_query(event), kSuccess);  // never recorded
  control().slow(2000);
  for (int i = 0; i < 3; ++i) {
    add(stream);
    ASSERT_EQ(api().event_record(event, stream), kSuccess);
    ASSERT_EQ(api().stream_wait(second, event, 0), kSuccess);
    ASSERT_EQ(api().copy_on_device(out + 64 + 4 * i, out, 4, second), kSuccess);
    ASSERT_EQ(api().event_record(event, second), kSuccess);
    ASSERT_EQ(api().stream_wait(stream, event, 0), kSuccess);
  }
  EXPECT_EQ(api().event_query(event), kNotReady);
  ASSERT_EQ(api().event_synchronize(event), kSuccess);
  EXPECT_EQ(api().event_query(event), kSuccess);
  EXPECT_EQ(read<int>(out + 64, 3), (std::vector<int>{1, 2, 3}));
}

TEST_F(StreamsTest, AWaitIsForWhatWasRecordedThen) {
  Paused paused;
  ASSERT_EQ(api().event_record(event, stream), kSuccess);
  ASSERT_EQ(api().stream_wait(second, event, 0), kSuccess);
  // A later record of the event does not hold `second` up.
  Event other;
  ASSERT_EQ(api().event_create(&other, 0), kSuccess);
  ASSERT_EQ(api().stream_wait(stream, other, 0), kSuccess);
  ASSERT_EQ(api().event_record(event, stream), kSuccess);
  ASSERT_EQ(api().event_destroy(other), kSuccess);
  paused.end();
  EXPECT_EQ(api().stream_synchronize(second), kSuccess);
  EXPECT_EQ(api().stream_synchronize(stream), kSuccess);
}

TEST_F(StreamsTest, TimeBetweenEvents) {
  Event end, without_time;
  ASSERT_EQ(api().event_create(&end, 0), kSuccess);
  ASSERT_EQ(api().event_create(&without_time, driver::kEventWithoutTime),
            kSuccess);
  float ms = -1;
  EXPECT_EQ(api().event_elapsed(&ms, event, end), kInvalidHandle);
  control().slow(3000);
  ASSERT_EQ(api().event_record(event, stream), kSuccess);
  add(stream);
  ASSERT_EQ(api().event_record(end, stream), kSuccess);
  ASSERT_EQ(api().event_record(without_time, stream), kSuccess);
  EXPECT_EQ(api().event_elapsed(&ms, event, end), kNotReady);
  ASSERT_EQ(api().stream_synchronize(stream), kSuccess);
  ASSERT_EQ(api().event_elapsed(&ms, event, end), kSuccess);
  EXPECT_GE(ms, 6.f);
  EXPECT_LT(ms, 6000.f);
  EXPECT_EQ(api().event_elapsed(&ms, event, without_time), kInvalidHandle);
  EXPECT_EQ(api().event_destroy(end), kSuccess);
  EXPECT_EQ(api().event_destroy(without_time), kSuccess);
}

TEST_F(StreamsTest, TheNullStreamWaitsForBlockingStreamsAndTheyForIt) {
  Stream blocking;
  ASSERT_EQ(api().stream_create(&blocking, 0, 0), kSuccess);
  control().slow(1000);
  add(blocking);
  ASSERT_EQ(api().copy_on_device(out + 64, out, 4, nullptr), kSuccess);
  add(blocking);
  ASSERT_EQ(api().copy_on_device(out + 68, out, 4, blocking), kSuccess);
  ASSERT_EQ(api().context_synchronize(), kSuccess);
  EXPECT_EQ(read<int>(out + 64, 2), (std::vector<int>{1, 2}));
  EXPECT_EQ(api().stream_destroy(blocking), kSuccess);
}

TEST_F(StreamsTest, ADestroyedStreamFinishes) {
  Stream gone;
  ASSERT_EQ(api().stream_create(&gone, driver::kNonBlocking, 0), kSuccess);
  Paused paused;
  add(gone);
  add(gone);
  EXPECT_EQ(api().stream_destroy(gone), kSuccess);
  EXPECT_EQ(api().stream_query(gone), kInvalidHandle);
  paused.end();
  EXPECT_EQ(api().context_synchronize(), kSuccess);
  EXPECT_EQ(read<int>(out, 1), std::vector<int>{2});
}

TEST_F(StreamsTest, PrioritiesAreClamped) {
  int least, greatest, priority;
  ASSERT_EQ(api().priority_range(&least, &greatest), kSuccess);
  EXPECT_EQ(least, 0);
  EXPECT_EQ(greatest, -5);
  ASSERT_EQ(api().stream_priority(second, &priority), kSuccess);
  EXPECT_EQ(priority, -2);
  Stream high;
  ASSERT_EQ(api().stream_create(&high, 0, -100), kSuccess);
  ASSERT_EQ(api().stream_priority(high, &priority), kSuccess);
  EXPECT_EQ(priority, -5);
  EXPECT_EQ(api().stream_destroy(high), kSuccess);
}

TEST_F(StreamsTest, HandlesOfOtherContexts) {
  driver::Context of = nullptr;
  ASSERT_EQ(api().context_set(contexts[1]), kSuccess);
  ASSERT_EQ(api().stream_context(second, &of), kSuccess);
  EXPECT_EQ(of, contexts[0]);
  Stream other;
  ASSERT_EQ(api().stream_create(&other, driver::kNonBlocking, 0), kSuccess);
  // An event is recorded on its own device; any stream waits for it.
  EXPECT_EQ(api().event_record(event, other), kInvalidHandle);
  EXPECT_EQ(api().event_record(event, second), kSuccess);
  EXPECT_EQ(api().stream_wait(other, event, 0), kSuccess);
  EXPECT_EQ(api().stream_synchronize(other), kSuccess);
  EXPECT_EQ(api().stream_destroy(other), kSuccess);
}

TEST_F(StreamsTest, PinnedCopiesRunLaterAndOthersDoNot) {
  void* pinned;
  ASSERT_EQ(api().host_allocate(&pinned, 64, 0), kSuccess);
  int* const host = static_cast<int*>(pinned);
  int pageable = 3;
  {
    Paused paused;
    host[0] = 1;
    ASSERT_EQ(api().copy_from_host(out, host, 4, stream), kSuccess);
    ASSERT_EQ(api().copy_from_host(out + 4, &pageable, 4, stream), kSuccess);
    // The first is read when the stream gets there.
    host[0] = 2;
    pageable = 4;
    host[1] = 0;
    ASSERT_EQ(api().copy_to_host(host + 1, out, 8, stream), kSuccess);
    EXPECT_EQ(host[1], 0);
  }
  ASSERT_EQ(api().stream_synchronize(stream), kSuccess);
  EXPECT_EQ(host[1], 2);
  EXPECT_EQ(host[2], 3);
  ASSERT_EQ(api().copy_to_host(&pageable, out, 4, stream), kSuccess);
  EXPECT_EQ(pageable, 2);
  EXPECT_EQ(api().host_free(pinned), kSuccess);
}

}  // namespace

#include "c10/device/graph.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <vector>

#include "c10/memory/block_uses.h"
#include "c10/plugin/library.h"
#include "c10/tensor/tensor_base.h"
#include "test/c10/expect_error.h"
#include "test/conformance/host_device.h"

// The abilities of streams beyond running work: names of the device's own
// library, priorities, times, graphs, tickets.

namespace sy {
namespace {

// Streams whose work is done when it enters, unless a graph is recorded.
class Streams final : public StreamInterface {
 public:
  using Work = std::vector<std::function<void()>>;

  void put(std::function<void()> f) {
    const uint64_t s = current_;
    if (recording.count(s) != 0) {
      recording[s].push_back(std::move(f));
    } else {
      f();
      ++tickets[s];
    }
  }

  uint64_t create_stream(int) override { return ++last_; }
  void destroy_stream(int, uint64_t s) noexcept override {
    destroyed.push_back(s);
  }
  uint64_t current_stream(int) const noexcept override { return current_; }
  void set_current_stream(int, uint64_t s) noexcept override { current_ = s; }
  bool is_stream_done(int, uint64_t) const override { return true; }
  void synchronize_stream(int, uint64_t s) override {
    SY_CHECK(recording.count(s) == 0, Error, "it records a graph");
  }
  uint64_t record_event(int, uint64_t) override { return ++last_; }
  void destroy_event(int, uint64_t e) noexcept override {
    destroyed.push_back(e);
  }
  bool is_event_done(int, uint64_t) const override { return true; }
  void synchronize_event(int, uint64_t) override {}
  void wait_event(int, uint64_t, uint64_t) override {}

  uint64_t last_ticket(int, uint64_t s) const noexcept override {
    return tickets.count(s) == 0 ? 0 : tickets.at(s);
  }
  uint64_t completed_ticket(int, uint64_t s) const noexcept override {
    return done.count(s) == 0 ? 0 : done.at(s);
  }
  void priorities(int, int* least, int* most) const noexcept override {
    *least = 0;
    *most = -3;
  }
  uint64_t create_stream_of(int device, int priority) override {
    const uint64_t s = create_stream(device);
    of_priority[s] = priority;
    return s;
  }
  int stream_priority(int, uint64_t s) const noexcept override {
    return of_priority.count(s) == 0 ? 0 : of_priority.at(s);
  }
  void* native_stream(int, uint64_t s) override {
    return reinterpret_cast<void*>(0x1000 + s);
  }
  void* native_event(int, uint64_t e) override {
    return reinterpret_cast<void*>(0x2000 + e);
  }
  bool adopt_stream(int, void* native, uint64_t* s) override {
    *s = ++last_;
    adopted[*s] = native;
    return true;
  }
  uint64_t record_timed_event(int device, uint64_t s) override {
    const uint64_t e = record_event(device, s);
    times[e] = ++clock;
    return e;
  }
  double elapsed(int, uint64_t a, uint64_t b) override {
    return times[b] - times[a];
  }
  bool begin_capture(int, uint64_t s) override {
    recording[s];
    return true;
  }
  uint64_t end_capture(int, uint64_t s) override {
    graphs[++last_] = recording[s];
    recording.erase(s);
    return last_;
  }
  void abort_capture(int, uint64_t s) noexcept override { recording.erase(s); }
  bool is_capturing(int, uint64_t s) const noexcept override {
    return recording.count(s) != 0;
  }
  uint64_t instantiate_graph(int, uint64_t g) override {
    graphs[++last_] = graphs.at(g);
    return last_;
  }
  void launch_graph(int, uint64_t x, uint64_t s) override {
    launched_on = s;
    for (const auto& f : graphs.at(x)) f();
  }
  void destroy_executable(int, uint64_t x) noexcept override {
    graphs.erase(x);
    destroyed.push_back(x);
  }
  void destroy_graph(int, uint64_t g) noexcept override {
    graphs.erase(g);
    destroyed.push_back(g);
  }

  std::map<uint64_t, Work> recording, graphs;
  std::map<uint64_t, uint64_t> tickets, done;
  std::map<uint64_t, int> of_priority;
  std::map<uint64_t, void*> adopted;
  std::map<uint64_t, double> times;
  std::vector<uint64_t> destroyed;
  uint64_t launched_on = 0;
  double clock = 0;

 private:
  uint64_t last_ = 0;
  uint64_t current_ = 0;
};

// Keeps what is stamped.
class Later final : public HostDevice {
 public:
  StreamInterface* streams() noexcept override { return &queue; }
  void note_use(const void* data, int device, uint64_t stream,
                uint64_t ticket) noexcept override {
    uses[data].add(device, stream, ticket);
  }
  Streams queue;
  std::map<const void*, BlockUses> uses;
};

// Streams and nothing that may be left out.
class PlainStreams final : public StreamInterface {
 public:
  uint64_t create_stream(int) override { return 1; }
  void destroy_stream(int, uint64_t) noexcept override {}
  uint64_t current_stream(int) const noexcept override { return 0; }
  void set_current_stream(int, uint64_t) noexcept override {}
  bool is_stream_done(int, uint64_t) const override { return true; }
  void synchronize_stream(int, uint64_t) override {}
  uint64_t record_event(int, uint64_t) override { return 1; }
  void destroy_event(int, uint64_t) noexcept override {}
  bool is_event_done(int, uint64_t) const override { return true; }
  void synchronize_event(int, uint64_t) override {}
  void wait_event(int, uint64_t, uint64_t) override {}
};

class Plain final : public HostDevice {
 public:
  StreamInterface* streams() noexcept override { return &queue; }
  PlainStreams queue;
};

Later later;
Plain plain;

}  // namespace
}  // namespace sy

SY_BACKEND(Later, m) { m.device("later", &sy::later); }
SY_BACKEND(Plain, m) { m.device("plain", &sy::plain); }

namespace sy {
namespace {

class GraphTest : public ::testing::Test {
 protected:
  void SetUp() override { init(); }
};

TEST_F(GraphTest, RunsWhatWasRecordedAsOftenAsItIsLaunched) {
  const Stream stream = Stream::make("later");
  int runs = 0;
  {
    const Graph graph = Graph::capture(stream, [&] {
      EXPECT_TRUE(stream.is_capturing());
      EXPECT_EQ(Stream::current("later"), stream);
      later.queue.put([&] { ++runs; });
    });
    EXPECT_FALSE(stream.is_capturing());
    EXPECT_EQ(runs, 0);
    graph.launch(stream);
    const Graph copy = graph;
    copy.launch();
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(later.queue.launched_on, 0u) << "the current stream";
    EXPECT_EQ(later.queue.graphs.size(), 2u);
    SY_EXPECT_ERROR(graph.launch(Stream::current("plain")), ValueError,
                    "[Graph.launch] stream: expected one of later:0");
  }
  EXPECT_TRUE(later.queue.graphs.empty()) << "it ends with its last handle";
}

TEST_F(GraphTest, ABodyThatFailsLeavesNoRecording) {
  const Stream stream = Stream::make("later");
  SY_EXPECT_ERROR(Graph::capture(stream, [&] { stream.synchronize(); }), Error,
                  "it records a graph");
  EXPECT_FALSE(stream.is_capturing());
  EXPECT_EQ(Stream::current("later").id(), 0u);
  SY_EXPECT_ERROR(
      Graph::capture(stream, [&] { Graph::capture(stream, [] {}); }), Error,
      "it records a graph already");
  SY_EXPECT_ERROR(Graph::capture(Stream::make("plain"), [] {}),
                  NotImplementedError, "device 'plain' records no graphs");
}

TEST_F(GraphTest, StreamsHaveNamesPrioritiesAndTimes) {
  const PriorityRange range = stream_priorities("later");
  EXPECT_EQ(range.least, 0);
  EXPECT_EQ(range.most, -3);
  EXPECT_EQ(Stream::make("later", -2).priority(), -2);
  EXPECT_EQ(Stream::make("later", -9).priority(), -3) << "the nearest";
  EXPECT_EQ(Stream::make("plain", -1).priority(), 0);

  const Stream stream = Stream::make("later");
  EXPECT_EQ(stream.native_handle(),
            reinterpret_cast<void*>(0x1000 + stream.id()));
  EXPECT_EQ(Stream::make("plain").native_handle(), nullptr);
  void* const theirs = reinterpret_cast<void*>(0x77);
  {
    const Stream other = Stream::from_native("later", theirs);
    EXPECT_EQ(later.queue.adopted[other.id()], theirs);
    later.queue.destroyed.clear();
  }
  EXPECT_EQ(later.queue.destroyed.size(), 1u) << "it is forgotten";
  SY_EXPECT_ERROR(Stream::from_native("plain", theirs), NotImplementedError,
                  "device 'plain' takes no streams that others made");

  const Event from = stream.record(EventTime::kNoted);
  const Event to = stream.record(EventTime::kNoted);
  EXPECT_EQ(from.elapsed(to), 1.0);
  EXPECT_NE(from.native_handle(), to.native_handle());
  SY_EXPECT_ERROR(from.elapsed(stream.record()), ValueError,
                  "[Event.elapsed] later: expected an event with its time");
  SY_EXPECT_ERROR(Stream::make("plain").record(EventTime::kNoted),
                  NotImplementedError, "notes no times");
}

TEST_F(GraphTest, AUseOfMemoryReachesItsAllocator) {
  const TensorBase t(make_tensor({4}, kFloat, "later"));
  const TensorBase host(make_tensor({4096}, kFloat, kCPU));
  const void* const data = t.storage()->data();
  note_use(*t.storage(), 0, 5, 1);
  note_use(*host.storage(), 0, 5, 1);  // whose allocator needs none
  BlockUses& uses = later.uses.at(data);
  EXPECT_TRUE(uses.only_in(0, 5));
  EXPECT_FALSE(uses.only_in(0, 6));
  EXPECT_FALSE(uses.settle(later.queue));
  note_use(*t.storage(), 0, 5, 3);
  note_use(*t.storage(), 0, 6, 1);
  EXPECT_FALSE(uses.only_in(0, 5));
  later.queue.done[6] = 1;
  EXPECT_FALSE(uses.settle(later.queue));
  EXPECT_TRUE(uses.only_in(0, 5)) << "the work of the other is done";
  later.queue.done[5] = 2;
  EXPECT_FALSE(uses.settle(later.queue));
  later.queue.done[5] = 3;
  EXPECT_TRUE(uses.settle(later.queue));
}

}  // namespace
}  // namespace sy

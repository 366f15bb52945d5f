#include "graphs.h"

#include <limits>

#include "check.h"
#include "model.h"
#include "streams.h"

namespace host {

using sy::Device;
using sy::Event;
using sy::EventTime;
using sy::Graph;
using sy::Stream;
using sy::StreamGuard;
using sy::Tensor;

namespace {

// The bytes that neither the program nor anybody else may use.
int64_t kept_bytes(Device device) {
  sy::trim_memory(device);
  return sy::memory_stats(device).cached;
}

}  // namespace

void graphs_run_again(Device device) {
  const std::string name = device.str();
  const Tensor x = noise({32}, 41), y = noise({32}, 42);
  const Tensor a = x.to(device), b = y.to(device);
  const auto expected = [](const Tensor& p, const Tensor& q) {
    return p.add(q).mul(p).relu();
  };
  const Stream stream = Stream::make(device);
  const int64_t kept_before = kept_bytes(device);
  Tensor out;
  {
    // The results in between are freed while the graph is recorded.
    const Graph graph =
        Graph::capture(stream, [&] { out = a.add(b).mul(a).relu(); });
    check(stream.is_done(), name + ": what a graph records does not run");
    graph.launch(stream);
    stream.synchronize();
    check_close(out, expected(x, y), name + ": a graph runs");
    a.copy_(y);
    const Tensor others[] = {b.add(b), b.mul(b), b.relu()};
    graph.launch();
    Stream::current(device).synchronize();
    check_close(out, expected(y, y), name + ": and again with other numbers");
    check_close(others[0], y.add(y), name + ": which leaves others alone");
    check_close(others[1], y.mul(y), name + ": as it does these");
    check(kept_bytes(device) > kept_before, name + ": it keeps its memory");
  }
  check(kept_bytes(device) == kept_before, name + ": until it ends");

  check_throws<sy::Error>(
      name + ": reading while a graph is recorded is an error",
      [&] { Graph::capture(stream, [&] { a.add(b).cpu(); }); },
      {"[", "] waits for a stream that records a graph"});
  {
    const StreamGuard guard(stream);
    check_close(a.add(b), y.add(y), name + ": the stream works as before");
  }
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor bad = sy::tensor({1.0, inf}, sy::kFloat).to(device);
  const Graph fails = Graph::capture(stream, [&] { check_finite(bad); });
  fails.launch(stream);
  check_throws<sy::ValueError>(
      name + ": an error in a graph names the operator",
      [&] { stream.synchronize(); }, {"check_finite] self", "inf"});
}

void streams_have_names_and_times(Device device) {
  const std::string name = device.str();
  const Stream stream = Stream::make(device, -1);
  check(stream.priority() == -1, name + ": a stream of a priority");
  check(Stream::make(device, -100).priority() ==
            sy::stream_priorities(device).most,
        name + ": which has an end");
  const Tensor x = noise({16}, 43), there = x.to(device);
  {
    const Stream same = Stream::from_native(device, stream.native_handle());
    check(!(same == stream), name + ": a stream of a native one");
    Tensor sum;
    {
      const StreamGuard guard(stream);
      sleep_on(there);
    }
    {
      const StreamGuard guard(same);
      sum = there.add(there);
      check(!same.is_done(), name + ": works behind it");
    }
    same.synchronize();
    check(stream.is_done(), name + ": and so waits for it");
    check_close(sum, x.add(x), name + ": and is right");
  }
  const Event from = stream.record(EventTime::kNoted);
  {
    const StreamGuard guard(stream);
    sleep_on(there);
  }
  const Event to = stream.record(EventTime::kNoted);
  check(from.elapsed(to) >= 50, name + ": events note times");
  check(from.native_handle() != to.native_handle(), name + ": and have names");
  const sy::MemoryInfo memory = sy::memory_info(device);
  check(memory.free > 0 && memory.free < memory.total,
        name + ": memory that is free");
}

void memory_is_used_again_in_order(Device device) {
  const std::string name = device.str();
  const Tensor x = noise({1000}, 44), there = x.to(device);
  const Stream slow = Stream::make(device), fast = Stream::make(device);
  const void* freed = nullptr;
  Tensor same, other;
  {
    const StreamGuard guard(slow);
    sleep_on(there);
    {
      const Tensor gone = there.add(there);
      freed = gone.data_ptr();
    }
    same = there.mul(there);
    check(same.data_ptr() == freed,
          name + ": memory is used again at once in its own stream");
    {
      const Tensor gone = there.add(there);
      freed = gone.data_ptr();
    }
  }
  {
    const StreamGuard guard(fast);
    other = there.relu();
    check(other.data_ptr() != freed && !slow.is_done(),
          name + ": and by others when its work is done");
  }
  check_close(other, x.relu(), name + ": the fast one is right");
  check_close(same, x.mul(x), name + ": and the slow one");
}

}  // namespace host

#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "c10/device/stream.h"

// A graph is work of a stream that is recorded once and launched many times:
// one call puts all of it into a stream. Each launch reads and writes the
// memory of the tensors that the recording used, so fill inputs in place:
//
//   const auto g = sy::Graph::capture(stream, [&] { y = model(x); });
//   x.copy_(batch);
//   g.launch();  // y holds the answer once the current stream is done

namespace sy {

// Copies share one graph. The graph keeps the memory that its work uses.
class SY_API Graph {
 public:
  // Records the work that `body` puts into `stream`, which is the current
  // stream meanwhile. The work does not run: if the body reads a result on the
  // host, the recording ends with Error. Throws Error if the stream records a
  // graph already, NotImplementedError if the backend records none, and what
  // the body throws.
  template <class F>
  static Graph capture(const Stream& stream, F&& body) {
    return capture(
        stream,
        [](void* f) { (*static_cast<std::remove_reference_t<F>*>(f))(); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

  Device device() const { return graph_->device(); }
  // Puts the whole graph into the stream, as one piece of work. Throws
  // ValueError for a stream of another device.
  void launch(const Stream& stream) const;
  // Launches into the current stream of the graph's device.
  void launch() const;

 private:
  static Graph capture(const Stream& stream, void (*body)(void*),
                       void* context);
  Graph(detail::QueueHandle graph, detail::QueueHandle executable)
      : graph_(std::move(graph)), executable_(std::move(executable)) {}
  detail::QueueHandle graph_;
  detail::QueueHandle executable_;
};

}  // namespace sy

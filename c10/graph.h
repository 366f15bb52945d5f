#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "c10/stream.h"

// Work of a stream that is recorded once and launched many times: one call puts
// all of it into a stream. Each launch reads and writes the memory of the
// tensors that were there when it was recorded, so fill inputs in place:
//
//   const auto g = sy::Graph::capture(stream, [&] { y = model(x); });
//   x.copy_(batch);
//   g.launch();  // y holds the answer once the current stream is done

namespace sy {

// Copies are the same graph. Memory that the graph uses stays with it.
class SY_API Graph {
 public:
  // Records what `body`, with `stream` as the current one, puts into it. What
  // the body reads of the results on the host ends the recording with Error:
  // nothing has run. Throws NotImplementedError if the backend records none,
  // and what the body throws.
  template <class F>
  static Graph capture(const Stream& stream, F&& body) {
    return capture(
        stream,
        [](void* f) { (*static_cast<std::remove_reference_t<F>*>(f))(); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

  Device device() const { return graph_->device(); }
  // Puts all of it into the stream, as one piece of work.
  void launch(const Stream& stream) const;
  // Into the current stream of the graph's device.
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

#include "c10/device/graph.h"

#include "c10/device/backend.h"
#include "c10/process/error.h"

namespace sy {

namespace {

using Kind = detail::QueueObject::Kind;

// Ends the recording of a body that throws.
class Capture {
 public:
  Capture(StreamInterface& streams, int device, uint64_t stream)
      : streams_(&streams), device_(device), stream_(stream) {}
  ~Capture() {
    if (!ended_) streams_->abort_capture(device_, stream_);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  uint64_t end() {
    ended_ = true;
    return streams_->end_capture(device_, stream_);
  }

 private:
  StreamInterface* streams_;
  int device_;
  uint64_t stream_;
  bool ended_ = false;
};

}  // namespace

Graph Graph::capture(const Stream& stream, void (*body)(void*), void* context) {
  const Device device = stream.device();
  StreamInterface* const s = device_interface(device.type()).streams();
  SY_CHECK(s == nullptr || !s->is_capturing(device.index(), stream.id()), Error,
           "[Graph.capture] stream: it records a graph already");
  SY_CHECK(s != nullptr && s->begin_capture(device.index(), stream.id()),
           NotImplemented, "device '{}' records no graphs",
           backend_device_name(device.type()));
  Capture capture(*s, device.index(), stream.id());
  {
    const StreamGuard guard(stream);
    body(context);
  }
  auto graph =
      make_intrusive<detail::QueueObject>(Kind::kGraph, device, capture.end());
  auto executable = make_intrusive<detail::QueueObject>(
      Kind::kExecutable, device,
      s->instantiate_graph(device.index(), graph->id()));
  return Graph(std::move(graph), std::move(executable));
}

void Graph::launch(const Stream& stream) const {
  SY_CHECK(stream.device() == device(), Value,
           "[Graph.launch] stream: expected one of {}, got one of {}", device(),
           stream.device());
  StreamInterface* const s = device_interface(device().type()).streams();
  s->launch_graph(device().index(), executable_->id(), stream.id());
}

void Graph::launch() const { launch(Stream::current(device())); }

}  // namespace sy

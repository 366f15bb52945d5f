#pragma once

#include <cstdint>

namespace sy {
class StreamInterface;
}

namespace sy::lazy {

// Graphs, and copies of values, go to stream 0 of the inner device, whichever
// thread starts them: each reads what others have computed. Until the end of
// the scope the calls of this thread go there. Work that is in the thread's own
// stream comes before, work that enters it later comes after. Does nothing
// where the inner device has no streams.
class InnerStream {
 public:
  InnerStream();
  ~InnerStream();
  InnerStream(const InnerStream&) = delete;
  InnerStream& operator=(const InnerStream&) = delete;

 private:
  void wait(uint64_t stream, uint64_t other);

  StreamInterface* streams_;
  int device_ = 0;
  uint64_t before_ = 0;
};

// Waits for what is in that stream, and throws the first error of a kernel.
void wait_for_inner_stream();

}  // namespace sy::lazy

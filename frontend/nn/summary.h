#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/nn/module.h"

namespace sy::nn {

// The modules of a model, and what one call of it takes.
struct SY_API Summary {
  struct Row {
    std::string path;  // "" for the model itself
    std::string type;
    std::vector<std::string> outputs;  // sizes; none: it was not called
    int64_t calls = 0;
    // The counts include the modules below. A tensor counts once.
    int64_t parameters = 0;
    int64_t trained = 0;  // those that require a gradient
    int64_t bytes = 0;    // of parameters and buffers
    // The operations of products, convolutions, attention and recurrent layers:
    // two for each multiplication and addition. Pointwise calls do not count,
    // as in PyTorch's counter.
    int64_t flops = 0;
  };
  std::vector<Row> rows;  // a module before those below it

  // A table for people.
  std::string table() const;
};
SY_API std::ostream& operator<<(std::ostream& stream, const Summary& summary);

namespace detail {

// Watches one call of a model by this thread.
class SY_API SummaryRun {
 public:
  explicit SummaryRun(Module& model);
  ~SummaryRun();
  SummaryRun(const SummaryRun&) = delete;
  SummaryRun& operator=(const SummaryRun&) = delete;
  Summary finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detail

// Calls a model once without gradients, in the mode it is in, and says what
// happened: summary(net, randn({1, 3, 224, 224})). Modules that are called as
// module->forward(x) have no outputs of their own. On device meta it computes
// nothing. Throws what the call throws.
template <class M, class... A>
Summary summary(const std::shared_ptr<M>& model, const A&... inputs) {
  detail::SummaryRun run(*model);
  call_module(*model, inputs...);
  return run.finish();
}
template <class M, class... A>
Summary summary(const ModuleHolder<M>& model, const A&... inputs) {
  return summary(model.ptr(), inputs...);
}

}  // namespace sy::nn

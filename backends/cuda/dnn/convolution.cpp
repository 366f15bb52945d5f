#include "backends/cuda/dnn/convolution.h"

#include <atomic>

#include "aten/engine/view.h"
#include "backends/cuda/copy.h"
#include "backends/cuda/dnn/problem.h"
#include "backends/cuda/runtime/library_work.h"
#include "c10/process/error.h"

namespace sy::cuda::dnn {

namespace {

// The library's kernels count larger tensors in more than 32 bits, if they can.
constexpr int64_t kMostElements = (int64_t{1} << 31) - 1;

std::atomic<int64_t> call_count{0};

bool is_taken(const Convolution& c) {
  switch (c.x.scalar_type()) {
    case kFloat:
    case kDouble:
    case kHalf:
    case kBFloat16: break;
    default: return false;
  }
  const auto fits = [](const Tensor& t) {
    return t.numel() > 0 && t.numel() <= kMostElements;
  };
  return fits(c.x) && fits(c.w) && fits(c.y) &&
         c.y.numel() * c.g.row() >= least_work();
}

Tensor new_tensor(const Tensor& like, const Dims& strides) {
  const Tensor t = empty_on(like.device(), like.sizes(), like.dtype());
  t.impl()->set_sizes_and_strides(like.sizes(), strides, 0);
  return t;
}

// A call as work in a stream. It keeps the answer, as our own kernels may serve
// in its stead.
struct Call {
  const Library& library;
  const Plan& plan;
  Data data;
  mutable Result result = kDone;
  mutable std::string why = {};

  static int run(const void* argument, void* stream) {
    const auto& c = *static_cast<const Call*>(argument);
    c.result = execute(c.library, c.plan, c.data, stream, &c.why);
    return c.result;
  }
};

class Convolver {
 public:
  Convolver(const Library& library, const Convolution& c,
            ConvolutionPart result)
      : library_(library), c_(c), result_(result) {}

  bool run() {
    const Order order = order_of(c_, result_);
    return run_in(order) ||
           run_in(order == Order::kLast ? Order::kFirst : Order::kLast);
  }

 private:
  bool run_in(Order order) {
    const Views views = views_of(c_, order), dense = dense_views(c_, order);
    const Problem p = problem_of(c_, result_, views);
    if (try_plan(p, views)) return true;
    const Problem other = problem_of(c_, result_, dense);
    return other != p && try_plan(other, dense);
  }

  bool try_plan(const Problem& problem, const Views& views) {
    const Plan& plan = plan_of(library_, problem);
    if (!plan.works) return false;
    const Tensor x = placed(c_.x, views.x), w = placed(c_.w, views.w),
                 y = placed(c_.y, views.y);
    const Convolution c = {c_.g, x, w, y, {}};
    if (!start(problem, plan, c)) return false;
    const Tensor &wanted = c_.made(result_), &made = c.made(result_);
    if (made.raw_data() != wanted.raw_data()) copy_strided(wanted, made);
    return true;
  }

  // The tensor itself, or another one in its place.
  Tensor placed(const Tensor& t, const View& view) const {
    if (!view.is_other) return t;
    const Tensor other = new_tensor(t, view.strides);
    if (&t != &c_.made(result_)) copy_strided(other, t);
    return other;
  }

  bool start(const Problem& problem, const Plan& plan, const Convolution& c) {
    const int device = c.x.device().index();
    const Tensor room =
        plan.workspace == 0 ? Tensor() : room_of(device, plan.workspace);
    const Call call = {library_,
                       plan,
                       {c.x.raw_data(), c.w.raw_data(), c.y.raw_data(),
                        room.defined() ? room.raw_data() : nullptr}};
    // Later work in the stream soon tells that this is done.
    const LibraryWork work = {"cuDNN's convolution", library_.api->error_text,
                              /*lasting=*/false};
    try {
      enqueue_library(device, work, Call::run, &call, room, {&c.x, &c.w, &c.y});
    } catch (const Error&) {
      if (call.result == kDone) throw;
      give_up(library_, problem, call.why);
      return false;
    }
    call_count.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  const Library& library_;
  const Convolution& c_;
  const ConvolutionPart result_;
};

void add_bias(const Tensor& result, const Tensor& bias) {
  Dims sizes(result.sizes()), strides(result.sizes());
  for (size_t d = 0; d < result.sizes().size(); ++d) {
    if (d != 1) sizes[d] = 1;
    strides[d] = d == 1 ? bias.strides()[0] : 0;
  }
  result.add_(alias_without_view(bias, sizes, strides, bias.storage_offset()));
}

}  // namespace

bool convolve(const Convolution& convolution, ConvolutionPart result) {
  if (!is_taken(convolution)) return false;
  const Library library = dnn::library(convolution.x.device().index());
  if (!library || !Convolver(library, convolution, result).run()) return false;
  if (convolution.bias.defined()) {
    add_bias(convolution.made(result), convolution.bias);
  }
  return true;
}

int64_t& least_work() noexcept {
  static int64_t work = int64_t{1} << 17;
  return work;
}

int64_t calls() noexcept { return call_count.load(std::memory_order_relaxed); }

}  // namespace sy::cuda::dnn

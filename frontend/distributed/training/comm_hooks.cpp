#include "frontend/distributed/training/comm_hooks.h"

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/copy_cast.h"

namespace sy::distributed {

CommHook allreduce_hook() {
  return make_comm_hook([](GradBucket& b) {
    return b.group().allreduce(b.buffer(), ReduceOp::AVG, kAsync);
  });
}

namespace {

// Divides first: a sum over ranks would overflow sooner.
CommHook compress_hook(ScalarType dtype) {
  return [dtype](GradBucket& b) -> std::function<void()> {
    const Tensor buffer = b.buffer();
    const Tensor sent = buffer.div(b.group().size()).to(dtype);
    const Work work = b.group().allreduce(sent, ReduceOp::SUM, kAsync);
    return [=] {
      work.wait();
      buffer.copy_(sent);
    };
  };
}

}  // namespace

CommHook bf16_compress_hook() { return compress_hook(kBFloat16); }
CommHook fp16_compress_hook() { return compress_hook(kHalf); }

}  // namespace sy::distributed

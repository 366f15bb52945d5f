#include "frontend/distributed/operators/collectives_pending.h"

#include <string>
#include <utility>

#include "aten/backend/pending.h"
#include "c10/dispatch/thread_state.h"

namespace sy::distributed {

namespace {

// Keeps what `work` writes until the storage of the pending tensor has it.
class Result final : public StoragePayload {
 public:
  Result(Tensor out, Work work)
      : StoragePayload(out.device().type()),
        out_(std::move(out)),
        work_(std::move(work)),
        text_(work_.describe()) {}

  void materialize(StorageImpl& storage) override {
    {
      // The calls that it makes are not those of the program.
      const PlainModes modes;
      work_.wait();
    }
    if (storage.nbytes() != 0) storage.take_memory(out_.storage());
  }
  const char* describe() const noexcept override { return text_.c_str(); }

 private:
  const Tensor out_;
  const Work work_;
  const std::string text_;
};

}  // namespace

Tensor pending_result(Tensor out, const Work& work) {
  const bool is_recorded =
      out.numel() != 0 && out.storage()->data_acquire() == nullptr;
  if (is_recorded || work.is_success()) {
    work.wait();
    return out;
  }
  return pending_tensor(out.sizes(), out.scalar_type(), out.device(),
                        make_intrusive<Result>(out, work));
}

}  // namespace sy::distributed

#include "aten/engine/copy.h"
#include "aten/ops/factory.h"
#include "backends/lazy/capture.h"
#include "backends/lazy/constants.h"
#include "backends/lazy/graph.h"
#include "backends/lazy/inner_stream.h"
#include "backends/lazy/record.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/error.h"

// The operators that write a tensor: they give the storage another value.

namespace sy::lazy {

namespace {

using Recorded = intrusive_ptr<LazyNode>;

constexpr program::Result kInput{0, false};
program::Program identity() {
  program::Program p;
  p.n_inputs = 1;
  p.n_registers = 1;
  p.results = &kInput;
  return p;
}

const OperatorEntry& copy_entry() {
  const ForkSection section;
  static const OperatorEntry& e =
      Dispatcher::singleton().find_or_throw("aten::copy_").entry();
  return e;
}

// A value that lies as `dst` does, with the elements of `src`.
Recorded record_cast(Operand src, const TensorBase& dst) {
  static const program::Program program = identity();
  auto node = make_intrusive<LazyNode>(LazyNode::kPointwise, &copy_entry());
  node->program = &program;
  node->compute = src.layout().dtype;
  node->made.emplace_back(ValueLayout(dst.dtype(), dst.sizes(), dst.strides()));
  node->add_operand(std::move(src));
  return node;
}

// The value of the storage of `dst`, which calls see, with other elements where
// `dst` lies.
Recorded record_write(Operand src, const TensorBase& dst) {
  Operand base;
  int64_t first = 0;  // of the value, in the storage
  if (Capture* const capture = Capture::current()) {
    const Capture::ValuePart part = capture->value_of(dst);
    base.node = part.value->node;
    base.result = part.value->result;
    first = part.offset;
  } else {
    LazyValue* const value = value_of(*dst.storage());
    base.node = value != nullptr ? value->node : value_of_memory(dst);
    base.result = value != nullptr ? value->result : uint16_t{0};
  }
  auto node = make_intrusive<LazyNode>(LazyNode::kWrite, nullptr);
  const ValueLayout& l = base.layout();
  node->made.emplace_back(l);
  node->window = std::make_unique<ValueLayout>(
      dst.dtype(), dst.sizes(), dst.strides(), dst.storage_offset() - first);
  node->add_operand(std::move(base));
  node->add_operand(std::move(src));
  return node;
}

}  // namespace

void copy_to_lazy(const TensorBase& dst, const TensorBase& src) {
  if (dst.numel() == 0) return;
  StorageImpl& s = *dst.storage();
  std::unique_lock lock(graph_mutex());
  Operand from = operand_of(src);
  if (is_exposed(s)) {
    // Somebody has a pointer to it, and expects to see the elements there.
    lock.unlock();
    compute(ArrayRef<Operand>(&from, 1), Cause::kPointer, &copy_entry());
    const InnerStream stream;
    return copy_between(dst, from.tensor());
  }
  end_piece_to_see(dst);
  const bool whole = is_whole(dst);
  if (whole && !from.part && from.layout().is_of(*dst.impl())) {
    return give_value(dst, from.node, from.result);
  }
  const bool same_dtype = from.layout().dtype == dst.dtype();
  const bool by_program = whole && (same_dtype || dst.dtype() != kBool);
  const Recorded node = by_program ? record_cast(std::move(from), dst)
                                   : record_write(std::move(from), dst);
  add_recorded(node);
  give_value(dst, node, 0);
  lock.unlock();
  run_if_too_large("aten::copy_");
}

Tensor copy_from(const Tensor& self, const Tensor& dst, bool non_blocking) {
  check_copied_sizes("_copy_from", "self", dst, self);
  if (Capture* const capture = Capture::current()) {
    if (capture->takes(dst) && capture->takes(self)) {
      copy_to_lazy(dst, self);
    } else {
      capture->add_break(
          str("a copy from {} to {}", self.device(), dst.device()));
      capture->flush();
      const PlainModes modes;
      copy_tensor(dst, self, non_blocking);
    }
    return dst;
  }
  if (is_lazy(dst)) {
    copy_to_lazy(dst, self);
    return dst;
  }
  Operand from;
  {
    const std::lock_guard lock(graph_mutex());
    from = operand_of(self);
  }
  compute(ArrayRef<Operand>(&from, 1), Cause::kRead, &copy_entry());
  const InnerStream stream;
  copy_tensor(dst, from.tensor(), non_blocking);
  return dst;
}

namespace {

// Throws if the dtype has no such number, as a device that fills at once does.
void check_fits(const Scalar& value, ScalarType dtype) {
  switch (dtype) {
#define SY_FITS(T, Enum) \
  case ScalarType::Enum: static_cast<void>(value.to<T>()); break;
    SY_FORALL_SCALAR_TYPES(SY_FITS)
#undef SY_FITS
    default: break;
  }
}

}  // namespace

Tensor& fill(Tensor& self, const Scalar& value) {
  if (self.numel() == 0) return self;
  check_fits(value, self.scalar_type());
  StorageImpl& s = *self.storage();
  if (is_exposed(s)) {
    Tensor number = empty({}, TensorOptions(self.scalar_type()));
    number.fill_(value);
    const InnerStream stream;
    copy_between(self, number);
    return self;
  }
  {
    const std::lock_guard lock(graph_mutex());
    Recorded node;
    end_piece_to_see(self);
    if (is_whole(self)) {
      node = constant(value, self.scalar_type(), self.sizes(), self.strides());
    } else {
      Operand number;
      number.node = constant(value, self.scalar_type(), {}, {});
      add_recorded(number.node);
      node = record_write(std::move(number), self);
    }
    add_recorded(node);
    give_value(self, node, 0);
  }
  run_if_too_large("aten::fill_.Scalar");
  return self;
}

}  // namespace sy::lazy

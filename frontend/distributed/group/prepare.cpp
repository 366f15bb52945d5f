#include "frontend/distributed/group/prepare.h"

#include <algorithm>
#include <utility>

#include "aten/engine/guard.h"
#include "aten/ops/shape.h"
#include "c10/device/backend.h"
#include "c10/device/stream.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/error.h"
#include "c10/tensor/tensor_impl.h"

namespace sy::distributed {

namespace {

// Copies to and from the host are no part of a graph of gradients.
struct Below : AutoDispatchBelowAutograd {
  AutoGradMode no_grad{false};
};

}  // namespace

DeviceType Prepared::device_of(const Member& member,
                               const Call& call) noexcept {
  if (member.device_data() == nullptr) return kCPU;
  // No engine promises an order of additions.
  if (member.deterministic && call.reduces()) return kCPU;
  return device_type_of(member.engine().device_type());
}

void Prepared::check(const Tensor& t, const char* argument) const {
  SY_CHECK(t.defined(), Value,
           "[{}] {}: expected a tensor, got an undefined one", op_, argument);
  SY_CHECK(t.device().type() != kMeta, Value,
           "[{}] {}: a tensor on device meta has no elements to send", op_,
           argument);
}

bool Prepared::is_direct(const Tensor& t) const {
  return t.device().type() == call_.device && t.is_contiguous();
}

bool Prepared::moves(const Tensor& t, const char* argument) {
  if (call_.device == kCPU) return true;
  const bool reduces = call_.reduces();
  const bool does =
      t.device().type() == call_.device &&
      member_.device_data()->supports(
          call_.what, reduces ? t.scalar_type() : ScalarType::Byte,
          call_.op == ReduceOp::AVG || !reduces ? ReduceOp::SUM : call_.op);
  if (!does) {
    fits_ = false;
    return false;
  }
  const int index = member_.engine().device_index();
  SY_CHECK(index < 0 || t.device().index() == index, Value,
           "[{}] {}: expected a tensor on {}, the device of this rank, got one "
           "on {}",
           op_, argument, Device(call_.device, index), t.device());
  return true;
}

Tensor Prepared::room_for(const Tensor& t, std::vector<int64_t> sizes) const {
  const Device device = call_.device == kCPU ? Device(kCPU) : t.device();
  return Tensor(make_tensor(sizes, t.scalar_type(), device));
}

Tensor Prepared::beside(const Tensor& t) const {
  return call_.device == kCPU ? t.to(Device(kCPU)).contiguous()
                              : t.contiguous();
}

Part Prepared::memory(const Tensor& t) {
  keep_.push_back(t);
  Part p;
  p.count = t.numel();
  if (fits_) {
    p.data = static_cast<char*>(const_cast<void*>(t.impl()->const_data(op_)));
  }
  p.dtype = t.scalar_type();
  return p;
}

Part Prepared::read(const Tensor& t, const char* argument) {
  check(t, argument);
  if (!moves(t, argument) || is_direct(t)) return memory(t);
  const Below below;
  return memory(beside(t));
}

Part Prepared::write(const Tensor& t, const char* argument) {
  return changed(t, argument, false);
}

Part Prepared::update(const Tensor& t, const char* argument) {
  return changed(t, argument, true);
}

Part Prepared::changed(const Tensor& t, const char* argument, bool reads) {
  check(t, argument);
  assert_no_internal_overlap(op_, argument, t);
  if (!moves(t, argument)) return memory(t);
  t.impl()->bump_version(nullptr);
  if (is_direct(t)) {
    written_.push_back(t);
    return memory(t);
  }
  const Below below;
  const Tensor copy =
      reads ? beside(t) : room_for(t, {t.sizes().begin(), t.sizes().end()});
  back_.emplace_back(t, copy);
  written_.push_back(copy);
  return memory(copy);
}

// The engine of a device takes one memory for all.
std::vector<Part> Prepared::read_all(std::span<const Tensor> tensors,
                                     const char* argument) {
  std::vector<Part> parts;
  if (call_.device == kCPU || tensors.empty()) {
    for (const Tensor& t : tensors) parts.push_back(read(t, argument));
    return parts;
  }
  const auto n = static_cast<int>(tensors.size());
  for (const Tensor& t : tensors) {
    check(t, argument);
    if (!moves(t, argument)) return cut(memory(t), n);
  }
  const Below below;
  std::vector<Tensor> flat;
  for (const Tensor& t : tensors) flat.push_back(t.reshape({-1}));
  return cut(memory(sy::cat(flat, 0)), n);
}

std::vector<Part> Prepared::write_all(std::span<const Tensor> tensors,
                                      const char* argument) {
  std::vector<Part> parts;
  if (call_.device == kCPU || tensors.empty()) {
    for (const Tensor& t : tensors) parts.push_back(write(t, argument));
    return parts;
  }
  const auto n = static_cast<int>(tensors.size());
  for (const Tensor& t : tensors) {
    check(t, argument);
    assert_no_internal_overlap(op_, argument, t);
    if (!moves(t, argument)) return cut(memory(t), n);
  }
  const Below below;
  const int64_t each = tensors[0].numel();
  const Tensor all = room_for(tensors[0], {each * n});
  for (int64_t i = 0; i < n; ++i) {
    const Tensor& t = tensors[static_cast<size_t>(i)];
    t.impl()->bump_version(nullptr);
    back_.emplace_back(t, all.narrow(0, i * each, each).reshape(t.sizes()));
  }
  return cut(memory(all), n);
}

std::vector<Part> Prepared::cut(const Part& whole, int parts) {
  std::vector<Part> v(static_cast<size_t>(parts), whole);
  for (int r = 0; r < parts; ++r) {
    Part& p = v[static_cast<size_t>(r)];
    p.count = whole.count / parts;
    p.data = whole.data + r * p.bytes();
  }
  return v;
}

// The work of this thread that makes the memory what it should be.
void Prepared::record(Operation& op) const {
  if (device_interface(op.call().device).streams() == nullptr) return;
  std::vector<Device> seen;
  for (const Tensor& t : keep_) {
    if (std::find(seen.begin(), seen.end(), t.device()) != seen.end()) continue;
    seen.push_back(t.device());
    op.before.push_back(Stream::current(t.device()).record());
  }
}

void Prepared::give_to(Operation& op) {
  const Call& call = op.call();
  if (call.device != kCPU) record(op);
  op.keep = std::move(keep_);
  // Engines add, but do not divide.
  const bool divides =
      call.device != kCPU && call.op == ReduceOp::AVG &&
      (call.what != Collective::kReduce || call.root == member_.rank());
  if (!divides) written_.clear();
  if (back_.empty() && written_.empty()) return;
  op.then = [back = std::move(back_), written = std::move(written_),
             n = member_.size()] {
    const Below below;
    for (Tensor t : written) t.div_(Scalar(n));
    for (const auto& [to, from] : back) {
      Tensor t = to;
      t.copy_(from);
    }
  };
}

}  // namespace sy::distributed

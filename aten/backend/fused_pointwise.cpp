#include "aten/backend/fused_pointwise.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "aten/backend/region_builder.h"
#include "aten/engine/iter.h"
#include "aten/program/program_domain.h"
#include "c10/device/backend_service.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/fork.h"

namespace sy {

// A region prepared for a key; nullptr after its engine went.
struct FusedPointwise::Kept {
  Key key;
  DeviceType device;
  std::atomic<PreparedRegion*> prepared;
  Kept* next;
};

// The objects that keep regions of a backend that may go. These go with it. The
// CPU's engine stays.
struct FusedRegions {
  ForkMutex mutex;
  FusedPointwise* first = nullptr;

  static FusedRegions& all() {
    const ForkSection section;
    // Leaked: static objects are used until the process ends.
    static auto* const regions = [] {
      detail::on_service_gone(BackendService::kRegions, &forget);
      return new FusedRegions;
    }();
    return *regions;
  }

  // No call that could use them is in flight.
  static void forget(DeviceType device) noexcept {
    FusedRegions& r = all();
    const std::lock_guard lock(r.mutex);
    for (FusedPointwise* f = r.first; f != nullptr; f = f->next_) {
      for (auto* k = f->kept_.load(); k != nullptr; k = k->next) {
        if (k->device == device) release(k);
      }
    }
  }
  static void release(FusedPointwise::Kept* k) noexcept {
    intrusive_ptr<PreparedRegion>::reclaim(k->prepared.exchange(nullptr));
  }
};

namespace {

constexpr int kMaxInputs = 10;

// Dtypes of the inputs and what else tells two regions of a program apart.
struct KeyBytes {
  uint8_t device;
  uint8_t compute;
  uint8_t ndim;
  uint8_t at_defaults;
  uint16_t single;  // bit i: input i is one element
  uint8_t dtypes[kMaxInputs];
};
static_assert(sizeof(KeyBytes) == 16);

}  // namespace

const PreparedRegion* FusedPointwise::find(const Key& key) const noexcept {
  for (Kept* k = kept_.load(std::memory_order_acquire); k != nullptr;
       k = k->next) {
    if (k->key == key) return k->prepared.load(std::memory_order_acquire);
  }
  return nullptr;
}

const PreparedRegion* FusedPointwise::prepare(
    const Key& key, RegionEngine& engine, const ElementProgram& program,
    ScalarType compute, ScalarType result, IntArrayRef sizes,
    ArrayRef<RegionMemory> in) {
  FusedRegions& all = FusedRegions::all();
  const std::lock_guard lock(all.mutex);
  Kept* const first = kept_.load(std::memory_order_acquire);
  Kept* kept = first;
  while (kept != nullptr && !(kept->key == key)) kept = kept->next;
  if (kept != nullptr && kept->prepared.load() != nullptr) {
    return kept->prepared.load();
  }
  const std::vector<int64_t> open(sizes.size(), kOpen);
  RegionBuilder b(open);
  std::vector<int> inputs;
  std::vector<int64_t> strides(sizes.size());
  for (const RegionMemory& m : in) {
    // The sizes have one dim if everything lies in a row.
    for (size_t d = 0; d < sizes.size(); ++d) {
      strides[d] = sizes.size() == 1 ? m.strides[0] : kOpen;
    }
    inputs.push_back(b.input(m.dtype, strides));
  }
  for (int64_t& s : strides) s = sizes.size() == 1 ? 1 : kOpen;
  b.output(b.pointwise(program.body, compute, inputs, result, op_->name),
           result, strides);
  const Region region = b.region();
  check_region(region);
  RegionReason why;
  if (!engine.supports(region, &why)) return nullptr;
  intrusive_ptr<PreparedRegion> prepared = engine.prepare(region);
  if (kept == nullptr) {
    KeyBytes bytes;
    std::memcpy(&bytes, &key, sizeof bytes);
    const DeviceType device = device_type_of(bytes.device);
    if (device != kCPU && !listed_) {
      listed_ = true;
      next_ = all.first;
      all.first = this;
    }
    kept = new Kept{key, device, {nullptr}, first};
    kept_.store(kept, std::memory_order_release);
  }
  kept->prepared.store(prepared.release(), std::memory_order_release);
  return kept->prepared.load();
}

void FusedPointwise::clear() noexcept {
  Kept* k = kept_.exchange(nullptr);
  if (k == nullptr) return;
  FusedRegions& all = FusedRegions::all();
  const std::lock_guard lock(all.mutex);
  FusedPointwise** at = &all.first;
  while (listed_ && *at != this) at = &(*at)->next_;
  if (listed_) *at = next_;
  listed_ = false;
  while (k != nullptr) {
    Kept* const next = k->next;
    FusedRegions::release(k);
    delete k;
    k = next;
  }
}

namespace {

// Whether the compute dtype is, without a closer look, the dtype that all
// inputs share.
bool one_dtype(const PointwiseOp& op, const PointwiseArgs& args,
               ScalarType* dtype) {
  if (op.program.body.bool_inputs != 0) return false;
  const TensorImpl* const first = args.inputs[0]->impl();
  const ScalarType t = first == nullptr ? kBool : first->dtype();
  for (int i = 0; i < op.n_inputs; ++i) {
    const TensorImpl* const in = args.inputs[i]->impl();
    if (in == nullptr || in->dtype() != t || in->is_wrapped_number()) {
      return false;
    }
  }
  if (t != kFloat && t != kDouble) return false;
  *dtype = t;
  return true;
}

}  // namespace

// All contiguous, of one dtype and of the same sizes or of one element without
// dims: the common case, found in a few loads.
SY_ALWAYS_INLINE Tensor FusedPointwise::run_simple(RegionEngine& engine,
                                                   DeviceType device,
                                                   const PointwiseArgs& args,
                                                   ScalarType dtype,
                                                   bool* ran) {
  const PointwiseOp& op = *op_;
  const TensorImpl* shape = args.inputs[0]->impl();
  for (int i = 0; i < op.n_inputs; ++i) {
    const TensorImpl* const t = args.inputs[i]->impl();
    if (!t->is_contiguous()) return {};
    if (t->dim() > shape->dim()) shape = t;
  }
  KeyBytes key = {};
  RegionMemory memory[kMaxInputs + 1];
  static constexpr int64_t kOne = 1, kNone = 0;
  for (int i = 0; i < op.n_inputs; ++i) {
    const TensorImpl* const t = args.inputs[i]->impl();
    const bool one = t->dim() == 0 && shape->dim() != 0;
    if (!one && t != shape && t->sizes() != shape->sizes()) return {};
    key.single |= static_cast<uint16_t>(one << i);
    key.dtypes[i] = static_cast<uint8_t>(dtype);
    memory[i] = {t->data(), one ? &kNone : &kOne, dtype, t->storage().get()};
  }
  const ElementProgram& program = select_program(op, args);
  key.device = static_cast<uint8_t>(number_of(device));
  key.compute = static_cast<uint8_t>(dtype);
  key.ndim = 1;
  key.at_defaults = &program != &op.program;
  const ScalarType out = program.body.results[0].is_bool ? kBool : dtype;
  Key found;
  std::memcpy(&found, &key, sizeof found);
  const int64_t n = shape->numel();
  const auto inputs = static_cast<size_t>(op.n_inputs);
  const PreparedRegion* prepared = find(found);
  if (SY_UNLIKELY(prepared == nullptr)) {
    prepared = prepare(found, engine, program, dtype, out, n, {memory, inputs});
    if (prepared == nullptr) return {};
  }
  Tensor result(make_tensor(shape->sizes(), out, args.inputs[0]->device()));
  memory[inputs] = {result.impl()->data(), &kOne, out,
                    result.impl()->storage().get()};
  program::Uniform uniforms[program::kMaxUniforms];
  if (program.body.n_uniforms != 0) {
    eval_uniforms(program, args.scalars, 0, program::compute_type_of(dtype),
                  uniforms);
  }
  RegionCall call;
  call.sizes = n;
  call.inputs = {memory, inputs};
  call.outputs = {memory + inputs, 1};
  call.uniforms = uniforms;
  call.n_uniforms = program.body.n_uniforms;
  call.device = std::max(args.inputs[0]->device().index(), 0);
  engine.run(*prepared, call);
  *ran = true;
  return result;
}

SY_NOINLINE Tensor FusedPointwise::run_general(RegionEngine& engine,
                                               DeviceType device,
                                               const PointwiseArgs& args) {
  const PointwiseOp& op = *op_;
  PointwisePlan plan;
  plan_pointwise(op, args, &plan);
  const ElementProgram& program = select_program(op, args);
  plan.result = program.body.results[0].is_bool ? kBool : plan.compute;
  Tensor result = make_result(op, args, plan);
  if (plan.numel == 0) return result;
  // Joins dims that lie as one.
  Iter iter(plan.sizes);
  iter.add(result);
  for (int i = 0; i < op.n_inputs; ++i) iter.add(*args.inputs[i]);
  iter.finish();
  const int n = iter.ndim();
  KeyBytes key = {};
  RegionMemory memory[kMaxInputs + 1];
  int64_t strides[kMaxInputs + 1][TensorImpl::kMaxDims];
  Dims sizes;
  for (int d = n; d-- > 0;) sizes.push_back(iter.size(d));
  // The strides of several dims are open.
  bool linear = n == 1;
  for (int k = 0; k <= op.n_inputs; ++k) {
    for (int d = 0; d < n; ++d) {
      strides[k][n - 1 - d] = iter.stride(k, d) / iter.itemsize(k);
    }
    linear &= strides[k][0] == 1 || (k > 0 && strides[k][0] == 0);
  }
  if (n == 1 && !linear) {
    // A single dim becomes one of two, whose strides are open.
    sizes = Dims({1, iter.size(0)});
    for (int k = 0; k <= op.n_inputs; ++k) {
      strides[k][1] = strides[k][0];
      strides[k][0] = 0;
    }
  }
  for (int k = 0; k <= op.n_inputs; ++k) {
    const TensorBase& t = k == 0 ? result : *args.inputs[k - 1];
    const int at = k == 0 ? op.n_inputs : k - 1;
    memory[at] = {iter.data(k), strides[k], t.dtype(), t.storage().get()};
    if (k == 0) continue;
    key.dtypes[k - 1] = static_cast<uint8_t>(t.dtype());
    key.single |=
        static_cast<uint16_t>((linear && strides[k][0] == 0) << (k - 1));
  }
  key.device = static_cast<uint8_t>(number_of(device));
  key.compute = static_cast<uint8_t>(plan.compute);
  key.ndim = static_cast<uint8_t>(sizes.size());
  key.at_defaults = &program != &op.program;
  Key found;
  std::memcpy(&found, &key, sizeof found);
  const auto inputs = static_cast<size_t>(op.n_inputs);
  const PreparedRegion* prepared = find(found);
  if (prepared == nullptr) {
    prepared = prepare(found, engine, program, plan.compute, plan.result, sizes,
                       {memory, inputs});
    if (prepared == nullptr) return {};
  }
  program::Uniform uniforms[program::kMaxUniforms];
  eval_call_uniforms(op, program, args, plan.compute, uniforms);
  RegionCall call;
  call.sizes = sizes;
  call.inputs = {memory, inputs};
  call.outputs = {memory + inputs, 1};
  call.uniforms = uniforms;
  call.n_uniforms = program.body.n_uniforms;
  call.device = std::max(plan.device.index(), 0);
  engine.run(*prepared, call);
  return result;
}

Tensor FusedPointwise::operator()(const PointwiseArgs& args) {
  const PointwiseOp& op = *op_;
  if (thread_state.capture != nullptr) return {};
  if (GradMode::is_enabled() || op.n_inputs == 0 || op.n_inputs > kMaxInputs ||
      op.n_inputs + op.n_outputs > Iter::kMaxOperands || op.n_outputs != 1) {
    return {};
  }
  DispatchKeySet keys;
  for (uint8_t i = 0; i < op.n_inputs; ++i) {
    keys = keys | args.inputs[i]->key_set();
  }
  // Autograd records nothing while grad mode is off.
  keys = keys - DispatchKeySet(DispatchKey::Autograd);
  const DeviceType device = keys.highest_backend();
  if (keys != DispatchKeySet::dense(device)) return {};
  const CallScope in_call;
  RegionEngine* const engine = region_engine(device);
  if (engine == nullptr) return {};
  ScalarType dtype;
  if (SY_LIKELY(one_dtype(op, args, &dtype))) {
    bool ran = false;
    Tensor result = run_simple(*engine, device, args, dtype, &ran);
    if (ran) return result;
  }
  return run_general(*engine, device, args);
}

}  // namespace sy

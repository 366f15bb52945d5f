#include "backends/lazy/capture.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "aten/engine/copy.h"
#include "backends/lazy/cache.h"
#include "backends/lazy/captured_graph.h"
#include "backends/lazy/executor.h"
#include "backends/lazy/look.h"
#include "backends/lazy/run.h"
#include "backends/lazy/syncs.h"
#include "c10/device/backend.h"
#include "c10/process/error.h"

namespace sy::lazy {

namespace {

void* address_of(const TensorBase& t, int64_t offset) {
  return static_cast<char*>(t.storage()->data()) +
         offset * static_cast<int64_t>(t.itemsize());
}

}  // namespace

bool Capture::Entry::has(const TensorBase& t) const {
  if (t.dtype() != dtype) return false;
  if (t.numel() == 0) return true;
  const StorageSpan s = storage_span(t);
  const auto at = [&](int64_t i) {
    return static_cast<size_t>(i) * t.itemsize();
  };
  return whole ||
         (s.first >= at(offset) && s.first + s.bytes <= at(offset + numel));
}

Capture::Capture(Device device, const GraphEngine& engine,
                 capture::GradListener* listener)
    : device_(device),
      engine_(engine),
      listener_(listener),
      before_(thread_state) {
  thread_state.included |= DispatchKeySet::dense(kLazy).bits();
  if (!device.is_cpu()) {
    thread_state.excluded |= DispatchKeySet::backend(device.type()).bits();
  }
  thread_state.capture = this;
}

// The guards of the callable have put the other modes back.
Capture::~Capture() {
  thread_state.included = before_.included;
  thread_state.excluded = before_.excluded;
  thread_state.capture = before_.capture;
  ordered_.clear();
  while (!nodes_.empty()) nodes_.pop_back();
}

bool Capture::takes(const TensorBase& t) const {
  if (!t.defined() || t.device().type() != device_.type()) return false;
  return device_.is_cpu() || t.device() == device_;
}

bool Capture::is_known(const StorageImpl& s) const {
  return by_storage_.contains(&s) ||
         (s.data_acquire() == nullptr && LazyValue::of(s) != nullptr);
}

// Each entry holds its storage once.
bool Capture::lives_on(const Entry& e) const {
  return !e.fresh || e.storage->use_count() > by_storage_.count(e.storage);
}

void Capture::drop_dead() {
  for (Entry& e : entries_) {
    if (lives_on(e)) continue;
    e.value.reset();
    e.written = false;
  }
}

// ---- values of memory

Capture::Entry* Capture::find(const TensorBase& t) const {
  const auto [begin, end] = by_storage_.equal_range(t.storage().get());
  for (auto e = begin; e != end; ++e) {
    if (e->second->has(t)) return e->second;
  }
  return nullptr;
}

namespace {

// A view and what it is a view of may be all elements of the same memory: then
// the latter's layout is that of the value, so that others see it as a whole.
TensorBase laid_out(const TensorBase& t) {
  TensorBase best = t;
  for (intrusive_ptr<TensorImpl> impl = t.impl_ptr(); impl->view_meta();) {
    impl = impl->view_meta()->parent();
    const TensorBase base(impl);
    if (base.storage().get() != t.storage().get() ||
        base.dtype() != t.dtype() || base.numel() != t.numel() ||
        base.storage_offset() != t.storage_offset() ||
        !impl->is_non_overlapping_and_dense()) {
      break;
    }
    best = base;
  }
  return best;
}

}  // namespace

Capture::Entry& Capture::new_entry(const TensorBase& seen) {
  const TensorBase t =
      seen.impl()->is_non_overlapping_and_dense() ? laid_out(seen) : seen;
  StorageImpl& s = *t.storage();
  Entry& e = entries_.emplace_back();
  e.storage = &s;
  e.dtype = t.dtype();
  e.fresh = fresh_.contains(&s);
  if (!e.fresh) e.tensor = seen;
  e.whole = !t.impl()->is_non_overlapping_and_dense() ||
            (e.fresh && !fills_storage(t));
  e.offset = e.whole ? 0 : t.storage_offset();
  e.numel =
      e.whole ? static_cast<int64_t>(s.nbytes() / t.itemsize()) : t.numel();
  const int64_t one = 1;
  e.data = data_node(e.whole ? ValueLayout(t.dtype(), {&e.numel, 1}, {&one, 1})
                             : ValueLayout(t.dtype(), t.sizes(), t.strides()));
  Made& m = e.data->made[0];
  const PlainModes modes;
  e.address = address_of(t, e.offset);
  m.memory =
      part_of_memory(t.storage(), e.address, m.layout.bytes(), s.device());
  e.value = make_intrusive<LazyValue>(e.data, uint16_t{0});
  by_storage_.emplace(&s, &e);
  return e;
}

void Capture::sight(const TensorBase& t) {
  const StorageImpl* const s = t.storage().get();
  if (fresh_.contains(s) || made_before_.contains(s)) return;
  if (known_.insert(t.impl()).second) sighted_.emplace_back(t);
}

bool Capture::has_written(const StorageImpl& s) const {
  const auto [begin, end] = by_storage_.equal_range(&s);
  return std::any_of(begin, end,
                     [](const auto& e) { return e.second->written; });
}

void Capture::end_piece_to_see(const TensorBase& t) {
  if (t.numel() == 0 || t.storage()->data_acquire() == nullptr) return;
  sight(t);
  if (find(t) != nullptr) return;
  if (has_written(*t.storage())) {
    add_break("a write to memory that is also seen in another way");
    end_piece();
  }
  new_entry(t);
}

Capture::Entry& Capture::entry_of(const TensorBase& t) {
  if (Entry* const known = find(t)) return *known;
  SY_INTERNAL_ASSERT(t.numel() == 0 || !has_written(*t.storage()),
                     "no value has the elements of a tensor");
  return new_entry(t);
}

Capture::ValuePart Capture::value_of(const TensorBase& t) {
  StorageImpl& s = *t.storage();
  if (s.data_acquire() == nullptr) {
    LazyValue* const value = lazy::value_of(s);
    if (value != nullptr) {
      return {intrusive_ptr<LazyValue>::retain(value), 0};
    }
  }
  if (t.numel() == 0) {
    sight(t);
    const auto none = data_node(ValueLayout(t.dtype(), t.sizes(), t.strides()));
    const PlainModes modes;
    none->made[0].memory = StorageImpl::allocate(0, device_);
    return {make_intrusive<LazyValue>(none, uint16_t{0}), t.storage_offset()};
  }
  if (s.data_acquire() == nullptr) {
    value_of_memory(t);  // it was resized
    return {intrusive_ptr<LazyValue>::retain(LazyValue::of(s)), 0};
  }
  const Entry& e = entry_of(t);
  return {e.value, e.offset};
}

bool Capture::is_whole(const TensorBase& t) const {
  if (!t.impl()->is_non_overlapping_and_dense()) return false;
  if (t.numel() == 0 || t.storage()->data_acquire() == nullptr) {
    return t.storage_offset() == 0 && t.nbytes() == t.storage()->nbytes();
  }
  const Entry* const e = find(t);
  SY_INTERNAL_ASSERT(e != nullptr, "no call sees the tensor");
  return t.storage_offset() == e->offset && t.numel() == e->numel;
}

void Capture::give(const TensorBase& t, const intrusive_ptr<LazyNode>& node,
                   uint16_t result) {
  StorageImpl& s = *t.storage();
  if (s.data_acquire() == nullptr) {
    return s.set_payload(make_intrusive<LazyValue>(node, result));
  }
  end_piece_to_see(t);
  Entry& e = entry_of(t);
  e.value = make_intrusive<LazyValue>(node, result);
  e.written = true;
  const auto [begin, end] = by_storage_.equal_range(&s);
  if (std::next(begin) == end) return;
  // Nothing may be put there before all have read it.
  for (auto other = begin; other != end; ++other) {
    ++other->second->data->made[0].holders;
  }
  add_break("a write to memory that is also seen in another way");
  end_piece();
}

void Capture::order(const intrusive_ptr<LazyNode>& node) {
  if (!ordered_.empty()) {
    Operand before;
    before.node = ordered_.back();
    node->add_operand(std::move(before));
  }
  ordered_.push_back(node);
}

void Capture::reads_elsewhere(const TensorBase& t) {
  if (t.impl()->is_wrapped_number() || fresh_.contains(t.storage().get())) {
    return;
  }
  add_break(str("a tensor on {} is read", t.device()));
}

// ---- hooks

void Capture::on_new_memory(const Storage& s, bool given) {
  if (given) add_break("memory of the program becomes a tensor");
  fresh_.emplace(s.get(), weak_intrusive_ptr<StorageImpl>(s));
}

void Capture::on_pointer(StorageImpl& s, const char* asked) {
  const bool was_there = s.device().type() == device_.type() &&
                         !fresh_.contains(&s) && s.data_acquire() != nullptr;
  if (!is_known(s) && !was_there) return;
  add_break(str("{} reads elements", asked));
  end_piece();
}

void Capture::on_grad(const intrusive_ptr<TensorImpl>& t) {
  if (listener_ != nullptr) listener_->on_grad(t);
}

void Capture::on_note(const CaptureNote& note) {
  if (note.kind == CaptureNote::kActs || note.kind == CaptureNote::kActsNow) {
    add_break(note.what);
    if (note.kind == CaptureNote::kActsNow) end_piece();
  } else if (listener_ != nullptr) {
    listener_->on_note(note);
  }
}

// ---- pieces

int Capture::add_input(const Tensor& t) {
  const std::lock_guard lock(graph_mutex());
  if (t.defined() && takes(t) && t.numel() != 0) {
    end_piece_to_see(t);
    Entry& e = entry_of(t);
    if (e.source < 0) e.source = sources_;
    e.seed = e.seed || !nodes_.empty();
    if (e.fresh) e.tensor = t;
    e.fresh = false;
  }
  return sources_++;
}

bool Capture::is_outer(const Tensor& t) {
  const StorageImpl& s = *t.storage();
  if (s.data_acquire() == nullptr || made_before_.contains(&s)) return false;
  const auto e = by_storage_.find(&s);
  return e != by_storage_.end() ? !e->second->fresh : !fresh_.contains(&s);
}

bool Capture::is_written(const Tensor& t) {
  return written_before_.contains(t.storage().get()) ||
         has_written(*t.storage());
}

void Capture::check_results(TensorList results) {
  const std::lock_guard lock(graph_mutex());
  for (const Tensor& t : results) {
    if (t.defined()) end_piece_to_see(t);
  }
}

void Capture::note_break(std::string reason, bool repeats) {
  breaks_.push_back({std::move(reason), calling_place(), repeats});
}

namespace {

// Runs what the nodes need, on this thread.
void run_now(const std::vector<intrusive_ptr<LazyNode>>& roots, Device device,
             const GraphEngine& engine, GraphLock& lock) {
  RecordedGraph graph = collect(roots);
  graph.device = device;
  graph.engine = &engine;
  if (graph.nodes.empty()) return;
  ++counters().runs;
  const intrusive_ptr<Plan> plan = find_plan(graph);
  Run run(std::move(graph), *plan);
  lock.unlock();
  std::exception_ptr error;
  try {
    run.run();
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  run.finish();
  if (error) std::rethrow_exception(error);
}

}  // namespace

void Capture::end_piece() {
  const PlainModes modes;
  GraphLock lock(graph_mutex());
  std::vector<intrusive_ptr<LazyNode>> roots;
  const auto add = [&](const intrusive_ptr<LazyNode>& n) {
    if (n->state == LazyNode::kRecorded) roots.push_back(n);
  };
  // The run may free what the entries hold: drop_dead() sees before it who else
  // holds that.
  drop_dead();
  for (const Entry& e : entries_) {
    if (e.written) add(e.value->node);
  }
  for (const auto& weak : made_) {
    const Storage s = weak.lock();
    if (s == nullptr || s->data_acquire() != nullptr) continue;
    if (LazyValue* const value = LazyValue::of(*s)) add(value->node);
  }
  for (const auto& n : ordered_) add(n);
  std::exception_ptr error;
  if (!roots.empty()) {
    try {
      run_now(roots, device_, engine_, lock);
    } catch (...) {
      error = std::current_exception();
      // Nodes that do not need the call that failed have their elements all the
      // same.
      for (const auto& n : roots) {
        if (n->state != LazyNode::kRecorded) continue;
        try {
          run_now({n}, device_, engine_, lock);
        } catch (const Error&) {
        }
      }
    }
  }
  // Tensors get the old elements that they hold before these are overwritten.
  const std::vector<Write> writes = find_writes();
  give_memory();
  for (const Write& w : writes) {
    copy_memory(device_, w.to, w.from->data(), w.bytes);
  }
  forget_recorded();
  sighted_.clear();
  known_.clear();
  if (error) std::rethrow_exception(error);
}

void Capture::forget_recorded() {
  entries_.clear();
  by_storage_.clear();
  made_.clear();
  ordered_.clear();
  while (!nodes_.empty()) nodes_.pop_back();
}

// Elements that another entry's memory has are copied before that is written.
std::vector<Capture::Write> Capture::find_writes() const {
  std::vector<Write> writes;
  for (const Entry& e : entries_) {
    if (!e.written) continue;
    const Made& m = e.value->node->made[e.value->result];
    if (m.memory == nullptr || m.memory->data() == e.address) continue;
    Storage from = m.memory;
    if (e.value->node->kind == LazyNode::kData) {
      from = StorageImpl::allocate(m.layout.bytes(), device_);
      copy_memory(device_, from->data(), m.memory->data(), m.layout.bytes());
    }
    writes.push_back({e.address, std::move(from), m.layout.bytes()});
  }
  return writes;
}

void Capture::give_memory() {
  for (const auto& weak : made_) {
    const Storage s = weak.lock();
    if (s == nullptr || s->data_acquire() != nullptr) continue;
    LazyValue* const value = LazyValue::of(*s);
    if (value == nullptr) continue;
    // The value keeps it too: a call that is being recorded may read it.
    const Made& m = value->node->made[value->result];
    const size_t bytes = std::max<size_t>(s->nbytes(), 1);
    Storage memory = m.memory;
    const bool own = m.holders == 1 && memory != nullptr &&
                     memory->use_count() == 2 && memory->nbytes() >= bytes &&
                     memory->resizable();
    if (!own) {
      memory = StorageImpl::allocate(bytes, device_);
      const size_t known =
          m.memory == nullptr ? 0 : std::min(s->nbytes(), m.layout.bytes());
      // A value that failed has no elements.
      if (device_.is_cpu()) std::memset(memory->data(), 0, bytes);
      if (known != 0) {
        copy_memory(device_, memory->data(), m.memory->data(), known);
      }
    }
    s->take_memory(std::move(memory));
    s->set_payload({});
  }
}

Device recorded_device() {
  const Capture* const c = Capture::current();
  return c != nullptr ? c->device() : lazy_device();
}

Device computing_device() {
  const Capture* const c = Capture::current();
  return c != nullptr ? c->device() : inner_device();
}

const GraphEngine& computing_engine() {
  const Capture* const c = Capture::current();
  return c != nullptr ? c->engine() : lazy_engine();
}

}  // namespace sy::lazy

#include "frontend/compile/session.h"

#include <algorithm>
#include <set>
#include <utility>

#include "aten/engine/guard.h"
#include "autograd/meta.h"
#include "c10/error.h"

namespace sy::compiling {

namespace {

// What a chain of views began with: a leaf that requires a gradient, or no
// view.
Tensor root_of(const Tensor& t) {
  intrusive_ptr<TensorImpl> impl = t.impl_ptr();
  while (impl->view_meta()) {
    const autograd::Meta* const m = autograd::meta_of(*impl);
    if (m != nullptr && m->requires_grad) break;
    impl = impl->view_meta()->parent();
  }
  return Tensor(TensorBase(std::move(impl)));
}

// Whether what autograd knows of the tensor was recorded since `first`.
bool has_new_history(const Tensor& t, uint64_t first) {
  if (!t.defined() || !autograd::requires_grad(t)) return false;
  const auto node = autograd::grad_fn(*t.impl());
  return node != nullptr && node->sequence_nr() >= first;
}

class Session final : public capture::GradListener {
 public:
  Session(const Arguments& arguments, Watch* watch)
      : arguments_(arguments), guard_(arguments), watch_(*watch) {
    // A view learns of writes to its base when somebody asks.
    for (const Tensor& t : arguments.tensors) {
      if (t.defined()) autograd::gradient_edge(*t.impl());
    }
    first_ = next_sequence_nr();
  }

  // The number of what is recorded first.
  uint64_t first() const { return first_; }
  void listen_to(capture::Recorder* recorder) { recorder_ = recorder; }
  bool gradients_arrived() const { return gradients_arrived_; }

  void on_note(const CaptureNote& note) override {
    if (recorder_ == nullptr) return;
    switch (note.kind) {
      case CaptureNote::kReads: watch_.add(note.reads); break;
      case CaptureNote::kHistory: {
        const Tensor t{
            TensorBase(intrusive_ptr<TensorImpl>::retain(note.tensor))};
        if (recorder_->is_outer(t)) {
          recorder_->add_break(
              str("{} of a tensor that was there before", note.what));
        }
        break;
      }
      case CaptureNote::kBackward:
        gradients_arrived_ = true;
        if (note.sequence_nr < first_) {
          recorder_->add_break(
              "gradients go through what was recorded before the call");
        }
        break;
      default: break;
    }
  }

  void on_grad(const intrusive_ptr<TensorImpl>& t) override {
    const auto known =
        std::any_of(touched_.begin(), touched_.end(),
                    [&](const Touched& g) { return g.leaf.impl() == t.get(); });
    if (known) return;
    const Tensor leaf{TensorBase(t)};
    const Tensor before = grad_of(leaf);
    touched_.push_back({leaf, before, TensorGuard(before), {}, {}});
  }

  void check_arguments(capture::Recorder& recorder) const {
    const std::string changed = guard_.tensor_difference(arguments_);
    if (!changed.empty()) {
      recorder.add_break("the call changes an argument itself: " + changed);
    }
    Modes now = Modes::now();
    now.included = guard_.modes().included;  // the recorder has its own
    now.excluded = guard_.modes().excluded;
    const std::string modes = now.difference(guard_.modes());
    if (!modes.empty()) {
      recorder.add_break("the call changes modes: " + modes);
    }
    for (const Tensor& t : arguments_.tensors) {
      if (has_new_history(t, first_)) {
        recorder.add_break("the call writes an argument that has a history");
        return;
      }
    }
    for (const Tensor& t : recorder.sighted()) {
      if (has_new_history(root_of(t), first_)) {
        recorder.add_break(
            "the call writes a tensor of the program that has a history");
        return;
      }
    }
  }

  // Results that lie in memory of before get their gradient from the tensor
  // that they are a view of.
  void check_results(const Outputs& outputs,
                     capture::Recorder& recorder) const {
    for (const Tensor& t : outputs.tensors) {
      if (!t.defined() || !autograd::requires_grad(t) ||
          !recorder.is_outer(t)) {
        continue;
      }
      Tensor base = root_of(t);
      const bool is_view = base.is_same(t) ? !has_new_history(t, first_)
                                           : !has_new_history(base, first_);
      for (const Tensor& a : arguments_.tensors) {
        if (a.defined() && a.storage().get() == t.storage().get()) base = a;
      }
      if (!is_view) {
        recorder.add_break(
            "a result that requires a gradient lies in memory that was there "
            "before, but is no view of it");
      } else if (recorder.is_written(t) || !autograd::requires_grad(base)) {
        recorder.add_break(
            "a result that requires a gradient lies in memory that the call "
            "writes");
      } else if (internal_overlap(base) == Overlap::Yes) {
        recorder.add_break(
            "a result is a view of a tensor whose elements overlap");
      }
    }
  }

  // All tensors that calls were given, and those that they are views of, but
  // for results.
  std::vector<Sighted> views_of(const std::vector<Tensor>& sighted,
                                const Outputs& outputs) const {
    std::set<const TensorImpl*> known;
    for (const Tensor& t : outputs.tensors) known.insert(t.impl());
    std::vector<Sighted> all;
    const auto add = [&](const Tensor& t, bool by_argument) {
      for (intrusive_ptr<TensorImpl> i = t.impl_ptr(); i != nullptr;
           i = i->view_meta() ? i->view_meta()->parent() : nullptr) {
        by_argument = by_argument || is_argument(*i);
        if (!known.insert(i.get()).second) continue;
        all.push_back({weak_intrusive_ptr<TensorImpl>(i), by_argument});
      }
    };
    // First what leads to no argument.
    for (const bool by_argument : {false, true}) {
      for (const Tensor& t : sighted) {
        if (is_argument(*t.impl()) == by_argument) add(t, by_argument);
      }
    }
    return all;
  }

  // After a failure: .grad is what it was before the call.
  void restore_grads() const {
    for (const Touched& g : touched_) {
      autograd::materialize_meta(*g.leaf.impl()).grad = g.before;
    }
  }

  // .grad tensors that the call has made.
  std::vector<Tensor> new_grads() {
    std::vector<Tensor> fresh;
    for (Touched& g : touched_) {
      g.after = grad_of(g.leaf);
      if (g.after.defined() && !g.after.is_same(g.before)) {
        fresh.push_back(g.after);
      }
    }
    return fresh;
  }

  std::shared_ptr<Variant> make_variant(const Outputs& outputs,
                                        capture::Graphs graphs, Tape tape) {
    auto v = std::make_shared<Variant>();
    v->arguments = guard_;
    v->lengths = outputs.lengths;
    v->forward = std::move(graphs.forward);
    for (Touched& g : touched_) {
      g.place = {Place::kGrad, static_cast<int>(v->grads.size())};
      Grad& grad = v->grads.emplace_back();
      grad.of = place_of_leaf(g.leaf, v.get());
      grad.before = g.guard;
    }
    bind_inputs(graphs.seen, v.get());
    describe_outputs(outputs, v.get());
    std::vector<Tensor> before;
    for (const Touched& g : touched_) before.push_back(g.before);
    v->guard_sharing(arguments_, before, gradients_arrived_);
    size_t next = outputs.tensors.size();
    for (size_t i = 0; i < touched_.size(); ++i) {
      const Touched& g = touched_[i];
      if (g.after.is_same(g.before)) continue;
      if (!g.after.defined() && !g.before.defined()) continue;
      v->grads[i].effect = g.after.defined() ? Grad::kSet : Grad::kReset;
      v->grads[i].read = is_read(g.place, *v);
      if (g.after.defined()) v->grads[i].result = next++;
    }
    if (!tape.flow.outputs.empty() || !tape.flow.failing.empty()) {
      auto b = std::make_shared<Backward>();
      b->graph = std::move(graphs.backward);
      b->flow = std::move(tape.flow);
      b->runs = watch_.backwards;
      v->backward = std::move(b);
    }
    return v;
  }

 private:
  struct Touched {
    Tensor leaf, before;
    TensorGuard guard;
    Tensor after;
    Place place;
  };

  bool is_argument(const TensorImpl& t) const {
    return std::any_of(arguments_.tensors.begin(), arguments_.tensors.end(),
                       [&](const Tensor& a) { return a.impl() == &t; });
  }
  int argument(const Tensor& t) const {
    const auto& all = arguments_.tensors;
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const Tensor& a) { return a.is_same(t); });
    return at == all.end() ? -1 : static_cast<int>(at - all.begin());
  }

  static Place place_of_outer(const Tensor& t, Variant* v) {
    for (size_t i = 0; i < v->outer.size(); ++i) {
      if (v->outer[i].tensor.is_same(t)) {
        return {Place::kOuter, static_cast<int>(i)};
      }
    }
    v->outer.emplace_back(t);
    return {Place::kOuter, static_cast<int>(v->outer.size()) - 1};
  }

  Place place_of_leaf(const Tensor& t, Variant* v) const {
    const int given = argument(t);
    return given >= 0 ? Place{Place::kArgument, given} : place_of_outer(t, v);
  }

  // Where a replay finds memory that was there before the call.
  Place place_of(const Tensor& t, Variant* v) {
    const auto shares = [&](const Tensor& other) {
      return other.defined() && other.storage().get() == t.storage().get();
    };
    int given = argument(t);
    for (size_t i = 0; i < arguments_.tensors.size() && given < 0; ++i) {
      if (shares(arguments_.tensors[i])) given = static_cast<int>(i);
    }
    if (given >= 0) return {Place::kArgument, given};
    const Tensor root = root_of(t);
    for (const Touched& g : touched_) {
      if (root.is_same(g.before)) return g.place;
    }
    for (const Touched& g : touched_) {
      if (shares(g.before)) return g.place;
    }
    return place_of_outer(root_of(t), v);
  }

  static bool is_read(Place grad, const Variant& v) {
    const auto is_it = [&](Place p) {
      return p.kind == grad.kind && p.index == grad.index;
    };
    return std::any_of(v.inputs.begin(), v.inputs.end(),
                       [&](const auto& in) { return is_it(in.place); }) ||
           std::any_of(v.outputs.begin(), v.outputs.end(), [&](const auto& o) {
             return o.is_place && is_it(o.place);
           });
  }

  const Tensor& tensor_at(Place p, const Variant& v) const {
    const auto i = static_cast<size_t>(p.index);
    switch (p.kind) {
      case Place::kArgument: return arguments_.tensors[i];
      case Place::kOuter: return v.outer[i].tensor;
      default: return touched_[i].before;
    }
  }

  void bind_inputs(const std::vector<Tensor>& seen, Variant* v) {
    for (size_t i = 0; i < seen.size(); ++i) {
      const capture::Input& in = v->forward->inputs()[i];
      BoundInput b;
      const auto given = static_cast<int>(arguments_.tensors.size());
      if (in.source >= given) {
        b.place = {Place::kSeed, in.source};
        v->inputs.push_back(b);
        continue;
      }
      b.place = in.source >= 0 ? Place{Place::kArgument, in.source}
                               : place_of(seen[i], v);
      b.whole = in.whole;
      b.written = in.written;
      const auto item = static_cast<int64_t>(seen[i].itemsize());
      const Tensor& at = tensor_at(b.place, *v);
      b.offset = seen[i].storage_offset() * item;
      if (b.place.kind != Place::kOuter) {
        b.offset -= at.storage_offset() * static_cast<int64_t>(at.itemsize());
      }
      b.first = at.storage_offset();
      b.bytes = at.storage()->nbytes();
      v->inputs.push_back(b);
    }
  }

  void describe_outputs(const Outputs& outputs, Variant* v) {
    for (size_t k = 0; k < outputs.tensors.size(); ++k) {
      const Tensor& t = outputs.tensors[k];
      Output o;
      o.defined = t.defined();
      o.requires_grad = autograd::requires_grad(t);
      o.result = k;
      if (o.defined && v->forward->results()[k].input >= 0) {
        const Place p = place_of(t, v);
        const Tensor& there = tensor_at(p, *v);
        o.is_place = there.is_same(t);
        o.place = p;
      }
      v->outputs.push_back(o);
    }
  }

  const Arguments& arguments_;
  const ArgumentGuard guard_;
  Watch& watch_;
  uint64_t first_ = 0;
  capture::Recorder* recorder_ = nullptr;
  bool gradients_arrived_ = false;
  std::vector<Touched> touched_;
};

}  // namespace

Captured capture_call(capture::Engine& engine, Device device,
                      std::string_view backend, const Arguments& arguments,
                      Body body, void* context, Outputs* out, Watch* watch) {
  Captured result;
  Session session(arguments, watch);
  const uint64_t first = session.first();
  std::unique_ptr<capture::Recorder> recorder =
      engine.record(device, &session, backend);
  SY_INTERNAL_ASSERT(recorder != nullptr);
  session.listen_to(recorder.get());
  for (const Tensor& t : arguments.tensors) recorder->add_input(t);
  try {
    body(context, out);
  } catch (...) {
    try {
      recorder->flush();
    } catch (const Error&) {
      // The first error counts.
    }
    throw;
  }
  session.listen_to(nullptr);
  session.check_arguments(*recorder);
  session.check_results(*out, *recorder);
  recorder->check_results(out->tensors);
  Tape tape;
  if (recorder->breaks().empty()) {
    record_tape(arguments, *out, first, *recorder, &tape);
  }
  const auto give_up = [&] {
    result.breaks = recorder->breaks();
    result.own_result = true;
    recorder->flush();
    return std::move(result);
  };
  if (!recorder->breaks().empty()) return give_up();
  release_tape(*out, first, *recorder);
  std::vector<Tensor> results = out->tensors;
  for (Tensor& g : session.new_grads()) results.push_back(std::move(g));
  const std::vector<Tensor> gradients = std::move(tape.gradients);
  std::vector<Storage> values;
  capture::Graphs graphs;
  try {
    graphs = recorder->finish(results, gradients, &values);
  } catch (...) {
    session.restore_grads();
    throw;
  }
  result.sighted = session.views_of(recorder->sighted(), *out);
  recorder.reset();  // what follows is not part of the call
  if (!graphs.escaped.empty()) {
    result.breaks.push_back(
        {str("a result of {} lives on beyond what the call returns; return it "
             "instead",
             graphs.escaped),
         ""});
  }
  const auto variant =
      session.make_variant(*out, std::move(graphs), std::move(tape));
  results.clear();
  out->tensors.clear();
  variant->deliver(arguments, values, out);
  if (result.breaks.empty()) result.variant = variant;
  return result;
}

}  // namespace sy::compiling

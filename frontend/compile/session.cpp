#include "frontend/compile/session.h"

#include <algorithm>
#include <utility>

#include "aten/engine/guard.h"
#include "autograd/meta.h"
#include "c10/error.h"
#include "frontend/compile/outer.h"

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

class Session final : public capture::GradListener {
 public:
  Session(const Arguments& arguments, Device device)
      : arguments_(arguments), guard_(arguments), device_(device) {}

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
      for (const Tensor& a : arguments_.tensors) {
        if (a.defined() && a.storage().get() == t.storage().get()) base = a;
      }
      if (recorder.is_written(t) || !autograd::requires_grad(base)) {
        recorder.add_break(
            "a result that requires a gradient lies in memory that the call "
            "writes");
      } else if (internal_overlap(base) == Overlap::Yes) {
        recorder.add_break(
            "a result is a view of a tensor whose elements overlap");
      }
    }
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

  // Takes the graphs and the tensors of the pieces.
  std::shared_ptr<Variant> make_variant(const Outputs& outputs,
                                        capture::Graphs graphs,
                                        std::vector<capture::Piece>* pieces,
                                        Tape tape) {
    auto v = std::make_shared<Variant>();
    v->arguments = guard_;
    v->lengths = outputs.lengths;
    v->forward = std::move(graphs.forward);
    for (size_t i = 0; i < touched_.size(); ++i) {
      touched_[i].place = {Place::kGrad, static_cast<int>(i)};
    }
    // First, so that calls which begin alike number tensors alike.
    for (capture::Piece& p : *pieces) add_step(&p, v.get());
    for (const Touched& g : touched_) {
      v->grads.push_back(
          {place_of_leaf(g.leaf, v.get()), g.guard, Grad::kNone, false, 0});
    }
    bind_inputs(graphs.seen, v->forward->inputs(), v.get(), &v->inputs);
    describe_outputs(outputs, v.get());
    size_t next = outputs.tensors.size();
    for (size_t i = 0; i < touched_.size(); ++i) {
      const Touched& g = touched_[i];
      if (g.after.is_same(g.before)) continue;
      if (!g.after.defined() && !g.before.defined()) continue;
      v->grads[i].effect = g.after.defined() ? Grad::kSet : Grad::kReset;
      v->grads[i].read = !v->steps.empty() || is_read(g.place, *v);
      if (g.after.defined()) v->grads[i].result = next++;
    }
    if (!tape.flow.outputs.empty() || !tape.flow.failing.empty()) {
      auto b = std::make_shared<Backward>();
      b->graph = std::move(graphs.backward);
      b->flow = std::move(tape.flow);
      b->runs = std::make_shared<std::atomic<int64_t>>(0);
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

  int argument(const Tensor& t) const {
    const auto& all = arguments_.tensors;
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const Tensor& a) { return a.is_same(t); });
    return at == all.end() ? -1 : static_cast<int>(at - all.begin());
  }

  static Place place_of_outer(const Tensor& t, Variant* v) {
    for (size_t i = 0; i < v->outer.size(); ++i) {
      if (v->outer[i].tensor->is_same(t)) {
        return {Place::kOuter, static_cast<int>(i)};
      }
    }
    v->outer.push_back({kept(t), t.storage(), TensorGuard(t)});
    return {Place::kOuter, static_cast<int>(v->outer.size()) - 1};
  }

  Place place_of_leaf(const Tensor& t, Variant* v) const {
    const int given = argument(t);
    return given >= 0 ? Place{Place::kArgument, given} : place_of_outer(t, v);
  }

  // What an earlier step has made.
  bool find_value(const Tensor& t, Place* place) const {
    for (size_t i = 0; i < values_.size(); ++i) {
      for (size_t k = 0; k < values_[i].size(); ++k) {
        if (values_[i][k].lock().get() != t.storage().get()) continue;
        *place = {Place::kValue, static_cast<int>(k), static_cast<int>(i)};
        return true;
      }
    }
    return false;
  }

  // Where a replay finds memory that was there before the call, or was made by
  // a step.
  Place place_of(const Tensor& t, Variant* v) {
    Place value;
    if (find_value(t, &value)) return value;
    const auto shares = [&](const Tensor& other) {
      return other.defined() && other.storage().get() == t.storage().get();
    };
    int given = argument(t);
    for (size_t i = 0; i < arguments_.tensors.size() && given < 0; ++i) {
      if (shares(arguments_.tensors[i])) given = static_cast<int>(i);
    }
    if (given >= 0) return {Place::kArgument, given};
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
      case Place::kOuter: return *v.outer[i].tensor;
      default: return touched_[i].before;
    }
  }

  void add_step(capture::Piece* p, Variant* v) {
    auto step = std::make_shared<Step>();
    step->device = device_;
    step->graph = std::move(p->graph);
    step->look = std::move(p->look);
    bind_inputs(p->graph_tensors, step->graph->inputs(), v, &step->inputs);
    values_.push_back(p->values);
    bind_inputs(p->look_tensors, step->look->inputs(), v, &step->look_inputs);
    p->graph_tensors.clear();
    p->look_tensors.clear();
    v->steps.push_back(std::move(step));
    v->seen.push_back(p->seen);
  }

  // `of`: what these tensors are inputs of.
  void bind_inputs(const std::vector<Tensor>& seen,
                   const std::vector<capture::Input>& of, Variant* v,
                   std::vector<BoundInput>* to) {
    for (size_t i = 0; i < seen.size(); ++i) {
      const capture::Input& in = of[i];
      BoundInput b;
      const auto given = static_cast<int>(arguments_.tensors.size());
      if (in.source >= given) {
        b.place = {Place::kSeed, in.source};
        to->push_back(b);
        continue;
      }
      b.place = in.source >= 0 ? Place{Place::kArgument, in.source}
                               : place_of(seen[i], v);
      b.whole = in.whole;
      b.written = in.written;
      const auto item = static_cast<int64_t>(seen[i].itemsize());
      b.offset = seen[i].storage_offset() * item;
      if (b.place.kind != Place::kValue) {
        const Tensor& at = tensor_at(b.place, *v);
        if (b.place.kind != Place::kOuter) {
          b.offset -=
              at.storage_offset() * static_cast<int64_t>(at.itemsize());
        }
        b.first = at.storage_offset();
        b.bytes = at.storage()->nbytes();
      }
      to->push_back(b);
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
        o.place = place_of(t, v);
        o.is_place = o.place.kind != Place::kValue &&
                     tensor_at(o.place, *v).is_same(t);
      }
      v->outputs.push_back(o);
    }
  }

  const Arguments& arguments_;
  const ArgumentGuard guard_;
  const Device device_;
  std::vector<Touched> touched_;
  // What the steps that are bound have made.
  std::vector<std::vector<weak_intrusive_ptr<StorageImpl>>> values_;
};

Frame frame_of(const std::vector<capture::Piece>& pieces) {
  Frame frame;
  for (const capture::Piece& p : pieces) {
    std::vector<Storage>& values = frame.values.emplace_back();
    for (const auto& weak : p.values) values.push_back(weak.lock());
  }
  return frame;
}

// Whether somebody else holds what a step has made, beyond what is returned.
bool lives_on(const Frame& frame, const std::vector<const void*>& returned) {
  for (const auto& values : frame.values) {
    for (const Storage& s : values) {
      if (s == nullptr || s->use_count() == 1) continue;
      if (std::find(returned.begin(), returned.end(), s.get()) ==
          returned.end()) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Captured capture_call(capture::Engine& engine, Device device,
                      std::string_view backend, const Arguments& arguments,
                      Body body, void* context, Outputs* out) {
  Captured result;
  Session session(arguments, device);
  const uint64_t first = next_sequence_nr();
  std::unique_ptr<capture::Recorder> recorder =
      engine.record(device, &session, backend);
  SY_INTERNAL_ASSERT(recorder != nullptr);
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
  session.check_arguments(*recorder);
  session.check_results(*out, *recorder);
  recorder->check_results(out->tensors);
  const auto repeats = [&] {
    return std::all_of(recorder->breaks().begin(), recorder->breaks().end(),
                       [](const capture::Break& b) { return b.repeats; });
  };
  Tape tape;
  if (repeats()) record_tape(arguments, *out, first, *recorder, &tape);
  const auto give_up = [&] {
    result.breaks = recorder->breaks();
    result.own_result = true;
    recorder->flush();
    return std::move(result);
  };
  if (!repeats()) return give_up();
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
  result.breaks = recorder->breaks();
  std::vector<capture::Piece> pieces = recorder->take_pieces();
  recorder.reset();  // what follows is not part of the call
  bool escapes = !graphs.escaped.empty();
  if (escapes) {
    result.breaks.push_back(
        {str("a result of {} lives on beyond what the call returns; return it "
             "instead",
             graphs.escaped),
         ""});
  }
  const auto variant = session.make_variant(*out, std::move(graphs), &pieces,
                                            std::move(tape));
  const Frame frame = frame_of(pieces);
  std::vector<const void*> returned;
  for (const Tensor& t : results) {
    if (t.defined()) returned.push_back(t.storage().get());
  }
  results.clear();
  out->tensors.clear();
  if (lives_on(frame, returned)) {
    escapes = true;
    result.breaks.push_back(
        {"a tensor lives on beyond what the call returns; return it instead",
         ""});
  }
  variant->deliver(arguments, frame, values, out);
  if (!escapes) result.variant = variant;
  return result;
}

}  // namespace sy::compiling

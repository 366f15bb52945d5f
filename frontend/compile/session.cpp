#include "frontend/compile/session.h"

#include <algorithm>
#include <set>
#include <utility>

#include "aten/engine/guard.h"
#include "autograd/meta.h"
#include "c10/process/error.h"
#include "frontend/compile/binder.h"

namespace sy::compiling {

namespace {

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
      } else if (t.numel() == 0 &&
                 (base.numel() == 0 || base.dtype() != t.dtype())) {
        recorder.add_break(
            "a result that requires a gradient has no elements, and nothing "
            "says in which memory it lies");
      }
    }
  }

  // Returns tensors that lie where the results do. A view without elements lies
  // where its base does.
  std::vector<Tensor> places_of(const Outputs& outputs) const {
    std::vector<Tensor> all = outputs.tensors;
    for (Tensor& t : all) {
      const bool hidden =
          t.defined() && t.numel() == 0 && autograd::requires_grad(t);
      if (hidden) t = root_of(t);
    }
    return all;
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
    // Tensors that are no argument themselves come first.
    for (const bool by_argument : {false, true}) {
      for (const Tensor& t : sighted) {
        if (is_argument(*t.impl()) == by_argument) add(t, by_argument);
      }
    }
    return all;
  }

  // Sets .grad to what it was before the call, after a failure.
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
                                        Device device, Tape tape) {
    auto v = std::make_shared<Variant>();
    v->arguments = guard_;
    v->lengths = outputs.lengths;
    v->forward = std::move(graphs.forward);
    Binder binder(arguments_, &touched_, v.get());
    // Steps come first, so that calls which begin alike number tensors alike.
    for (capture::Piece& p : *pieces) binder.add_step(&p, device);
    binder.add_grads();
    binder.bind_inputs(graphs.seen, v->forward->inputs(), &v->inputs);
    binder.describe_outputs(outputs);
    std::vector<Tensor> before;
    for (const Touched& g : touched_) before.push_back(g.before);
    v->guard_sharing(arguments_, before, gradients_arrived_);
    binder.describe_grads(outputs.tensors.size());
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
  bool is_argument(const TensorImpl& t) const {
    return std::any_of(arguments_.tensors.begin(), arguments_.tensors.end(),
                       [&](const Tensor& a) { return a.impl() == &t; });
  }

  const Arguments& arguments_;
  const ArgumentGuard guard_;
  Watch& watch_;
  uint64_t first_ = 0;
  capture::Recorder* recorder_ = nullptr;
  bool gradients_arrived_ = false;
  std::vector<Touched> touched_;
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
                      std::string_view backend, bool looks,
                      const Arguments& arguments, Body body, void* context,
                      Outputs* out, Watch* watch) {
  Captured result;
  Session session(arguments, watch);
  const uint64_t first = session.first();
  std::unique_ptr<capture::Recorder> recorder =
      engine.record(device, &session, backend);
  SY_INTERNAL_ASSERT(recorder != nullptr);
  if (!looks) recorder->stop_looks();
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
  recorder->check_results(session.places_of(*out));
  const auto repeats = [&] {
    return std::all_of(recorder->breaks().begin(), recorder->breaks().end(),
                       [](const capture::Break& b) { return b.repeats; });
  };
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
  // The gradient may look at elements too.
  if (!recorder->breaks().empty() && needs_tape(*out, *recorder)) {
    recorder->add_break(
        "a result that requires a gradient comes with a look at elements");
  }
  if (!repeats()) return give_up();
  release_tape(*out, first, *recorder);
  std::vector<Tensor> results = out->tensors;
  for (Tensor& g : session.new_grads()) results.push_back(std::move(g));
  std::vector<Tensor> gradients = std::move(tape.gradients);
  std::vector<Storage> values;
  capture::Graphs graphs;
  try {
    graphs = recorder->finish(results, gradients, &values);
  } catch (...) {
    session.restore_grads();
    throw;
  }
  result.sighted = session.views_of(recorder->sighted(), *out);
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
                                            device, std::move(tape));
  const Frame frame = frame_of(pieces);
  std::vector<const void*> returned;
  for (const Tensor& t : results) {
    if (t.defined()) returned.push_back(t.storage().get());
  }
  results.clear();
  gradients.clear();
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

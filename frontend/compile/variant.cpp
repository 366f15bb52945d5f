#include "frontend/compile/variant.h"

#include <algorithm>

#include "aten/operators.h"
#include "autograd/meta.h"
#include "c10/process/error.h"

namespace sy::compiling {

namespace {

std::string place_text(TensorPlace p) {
  constexpr const char* kKinds[] = {"argument", "tensor of the program",
                                    ".grad", "gradient", "value"};
  return str("{} {}{}", kKinds[p.kind], p.index,
             p.kind == TensorPlace::kValue ? str(" of step {}", p.step) : "");
}

}  // namespace

const Tensor& grad_of(const Tensor& t) {
  static const Tensor none;
  const autograd::Meta* const m = autograd::meta_of(*t.impl());
  return m == nullptr ? none : m->grad;
}

const Tensor& Variant::at(TensorPlace p, const Arguments& a) const {
  const auto i = static_cast<size_t>(p.index);
  switch (p.kind) {
    case TensorPlace::kArgument: return a.tensors[i];
    case TensorPlace::kOuter: return outer[i].tensor;
    default: return grad_of(at(grads[i].of, a));
  }
}

Storage Variant::storage_at(TensorPlace p, const Arguments& a,
                            const Frame& frame) const {
  return p.kind == TensorPlace::kValue
             ? frame.values[size_t(p.step)][size_t(p.index)]
             : at(p, a).storage();
}

bool Variant::outer_matches(std::string* why) const {
  for (size_t i = 0; i < outer.size(); ++i) {
    const Outer& o = outer[i];
    if (o.is_forgotten()) {
      if (why != nullptr) {
        *why =
            str("tensor of the program {}: only the graph has it any more; "
                "the code uses another one",
                i);
      }
      return false;
    }
    if (o.tensor.storage().get() != o.storage.get() ||
        o.tensor.storage_offset() != o.offset || !o.guard.holds(o.tensor)) {
      if (why != nullptr) {
        const std::string text = o.guard.difference(o.tensor);
        *why = str("tensor of the program {}: {}", i,
                   text.empty() ? "other memory" : text);
      }
      return false;
    }
  }
  return true;
}

bool Variant::grads_match(const Arguments& a, std::string* why) const {
  for (const Grad& g : grads) {
    const Tensor& grad = grad_of(at(g.of, a));
    if (g.before.holds(grad)) continue;
    if (why != nullptr) {
      *why =
          str(".grad of {}: {}", place_text(g.of), g.before.difference(grad));
    }
    return false;
  }
  return true;
}

template <class Grads>
bool Variant::shares_memory(const Tensor& argument, const Grads& grad) const {
  if (!argument.defined()) return false;
  const StorageImpl* const s = argument.storage().get();
  if (std::binary_search(captured.begin(), captured.end(), s)) return true;
  for (size_t i = 0; i < grads.size(); ++i) {
    const Tensor& g = grad(i);
    if (g.defined() && g.storage().get() == s) return true;
  }
  return false;
}

template <class Grads>
size_t Variant::first_sharing(size_t i, const Grads& grad) {
  const Tensor& mine = grad(i);
  if (!mine.defined() || mine.storage().use_count() == 1) return i;
  for (size_t k = 0; k < i; ++k) {
    const Tensor& other = grad(k);
    if (other.defined() && other.storage().get() == mine.storage().get()) {
      return k;
    }
  }
  return i;
}

void Variant::guard_sharing(const Arguments& a,
                            const std::vector<Tensor>& before,
                            bool gradients_arrived) {
  const auto grad = [&](size_t i) -> const Tensor& { return before[i]; };
  for (const Outer& o : outer) captured.push_back(o.storage.get());
  std::sort(captured.begin(), captured.end());
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    shares.push_back(shares_memory(a.tensors[i], grad));
  }
  for (size_t i = 0; i < grads.size(); ++i) {
    grads[i].shares = first_sharing(i, grad);
  }
  if (!gradients_arrived) return;
  const auto add = [&](const Tensor& t, TensorPlace p) {
    if (t.defined() && autograd::requires_grad(t)) {
      hooked.push_back({p, has_hooks(t)});
    }
  };
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    add(a.tensors[i], {TensorPlace::kArgument, static_cast<int>(i)});
  }
  for (size_t i = 0; i < outer.size(); ++i) {
    add(outer[i].tensor, {TensorPlace::kOuter, static_cast<int>(i)});
  }
}

bool Variant::sharing_matches(const Arguments& a, std::string* why) const {
  const auto grad = [&](size_t i) -> const Tensor& {
    return grad_of(at(grads[i].of, a));
  };
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    if (shares_memory(a.tensors[i], grad) == shares[i]) continue;
    if (why != nullptr) {
      *why = str("tensor {}: shares memory with a tensor of the program{}", i,
                 shares[i] ? " no more" : "");
    }
    return false;
  }
  for (size_t i = 0; i < grads.size(); ++i) {
    if (first_sharing(i, grad) == grads[i].shares) continue;
    if (why != nullptr) *why = "gradients share memory otherwise";
    return false;
  }
  return true;
}

bool Variant::hooks_match(const Arguments& a, std::string* why) const {
  for (const Hooked& h : hooked) {
    if (has_hooks(at(h.of, a)) == h.hooks) continue;
    if (why != nullptr) {
      *why = str("{}: {}", place_text(h.of),
                 h.hooks ? "no hooks, had some" : "hooks, had none");
    }
    return false;
  }
  return true;
}

bool Variant::has_same_tensors(const Variant& other) const {
  return std::equal(outer.begin(), outer.end(), other.outer.begin(),
                    other.outer.end(), [](const Outer& a, const Outer& b) {
                      return a.tensor.is_same(b.tensor);
                    });
}

std::string Variant::structure() const {
  std::string text = forward->structure();
  if (backward != nullptr && backward->graph != nullptr) {
    text += "backward:\n" + backward->graph->structure();
  }
  return text;
}

bool Variant::matches(const Arguments& a) const {
  if (!arguments.holds(a) || !outer_matches(nullptr) ||
      !grads_match(a, nullptr) || !sharing_matches(a, nullptr) ||
      !hooks_match(a, nullptr)) {
    return false;
  }
  const auto fits = [&](const std::vector<BoundInput>& of) {
    return std::all_of(of.begin(), of.end(), [&](const BoundInput& in) {
      return whole_matches(in, a);
    });
  };
  return fits(inputs) &&
         std::all_of(steps.begin(), steps.end(),
                     [&](const auto& s) { return fits(s->inputs); });
}

bool Variant::whole_matches(const BoundInput& in, const Arguments& a) const {
  const TensorPlace::Kind kind = in.place.kind;
  if (!in.whole ||
      (kind != TensorPlace::kArgument && kind != TensorPlace::kGrad)) {
    return true;
  }
  const Tensor& t = at(in.place, a);
  return t.storage_offset() == in.first && t.storage()->nbytes() == in.bytes;
}

std::string Variant::difference(const Arguments& a) const {
  std::string why = arguments.difference(a);
  if (!why.empty()) return why;
  if (!outer_matches(&why) || !grads_match(a, &why) ||
      !sharing_matches(a, &why) || !hooks_match(a, &why)) {
    return why;
  }
  return matches(a) ? "" : "memory of another size around a tensor";
}

// The begin of an input, in bytes behind its storage's first element.
int64_t Variant::begin_of(const BoundInput& in, const Arguments& a) const {
  if (in.whole) return 0;
  if (in.place.kind == TensorPlace::kOuter ||
      in.place.kind == TensorPlace::kValue) {
    return in.offset;
  }
  const Tensor& t = at(in.place, a);
  return in.offset + t.storage_offset() * static_cast<int64_t>(t.itemsize());
}

capture::Memory Variant::memory_of(const BoundInput& in, const Arguments& a,
                                   const Frame& frame) const {
  capture::Memory m{storage_at(in.place, a, frame), nullptr};
  m.storage->const_data("compile");  // there may be none yet
  m.data = static_cast<char*>(m.storage->data()) + begin_of(in, a);
  return m;
}

std::vector<Tensor> Variant::input_tensors(const Arguments& a) const {
  std::vector<Tensor> tensors;
  tensors.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const BoundInput& in = inputs[i];
    if (in.place.kind == TensorPlace::kSeed) {
      tensors.emplace_back();
      continue;
    }
    Storage s = at(in.place, a).storage();
    const Device device = s->device();
    const Tensor& like = forward->inputs()[i].tensor;
    const auto item = static_cast<int64_t>(like.itemsize());
    tensors.emplace_back(TensorImpl::make(
        std::move(s), like.scalar_type(), device,
        DispatchKeySet::dense(device.type()), like.sizes(), like.strides(),
        in.whole ? like.storage_offset() : begin_of(in, a) / item));
  }
  return tensors;
}

void Variant::bump_versions(const std::vector<BoundInput>& of,
                            const Arguments& a) const {
  for (const BoundInput& in : of) {
    if (in.written && in.place.kind != TensorPlace::kValue) {
      at(in.place, a).impl()->bump_version(nullptr);
    }
  }
}

void Variant::replay(const Arguments& a, const Frame& frame,
                     Outputs* out) const {
  std::vector<capture::Memory> memory(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].place.kind == TensorPlace::kSeed) continue;
    memory[i] = memory_of(inputs[i], a, frame);
  }
  // A .grad that is replaced goes first, as in the code.
  for (const Grad& g : grads) {
    if (g.effect == Grad::kNone || g.read) continue;
    autograd::materialize_meta(*at(g.of, a).impl()).grad.reset();
  }
  std::vector<Storage> values(static_cast<size_t>(forward->num_values()));
  forward->run({memory.data(), memory.size()}, values.data());
  for (const auto& s : steps) bump_versions(s->inputs, a);
  bump_versions(inputs, a);
  deliver(a, frame, values, out);
}

void Variant::deliver(const Arguments& a, const Frame& frame,
                      const std::vector<Storage>& values, Outputs* out) const {
  const std::vector<capture::Result>& results = forward->results();
  const auto made = [&](size_t k, bool gradient) -> Tensor {
    const capture::Result& r = results[k];
    if (r.value >= 0) return tensor_over(values[size_t(r.value)], r);
    if (r.input < 0) return {};
    const BoundInput& in = inputs[size_t(r.input)];
    const int64_t first =
        begin_of(in, a) / static_cast<int64_t>(element_size(r.dtype));
    capture::Result there = r;
    there.offset += first;
    if (in.place.kind == TensorPlace::kValue) {
      return tensor_over(storage_at(in.place, a, frame), there);
    }
    const Tensor& base = at(in.place, a);
    if (base.scalar_type() != r.dtype) {  // a view as another dtype
      return tensor_over(base.storage(), there);
    }
    return (gradient ? base : base.detach())
        .as_strided(r.sizes, r.strides, first + r.offset);
  };
  out->lengths = lengths;
  out->tensors.clear();
  for (const Output& o : outputs) {
    out->tensors.push_back(o.is_place  ? at(o.place, a)
                           : o.defined ? made(o.result, o.requires_grad)
                                       : Tensor());
  }
  if (backward != nullptr) {
    attach(backward, a, values, input_tensors(a), out);
  }
  std::vector<Tensor> fresh;
  for (const Grad& g : grads) {
    if (g.effect == Grad::kSet) fresh.push_back(made(g.result, false));
  }
  size_t next = 0;
  for (const Grad& g : grads) {
    if (g.effect == Grad::kNone) continue;
    autograd::materialize_meta(*at(g.of, a).impl()).grad =
        g.effect == Grad::kSet ? std::move(fresh[next++]) : Tensor();
  }
}

namespace {

std::string inputs_text(const std::vector<BoundInput>& inputs) {
  std::string text;
  for (const BoundInput& in : inputs) {
    text += str("input: {} @{}{}\n", place_text(in.place), in.offset,
                in.written ? ", written" : "");
  }
  return text;
}

}  // namespace

std::string Variant::step_text(size_t i) const {
  const Step& s = *steps[i];
  return s.graph->listing() + inputs_text(s.inputs) +
         "look: " + s.look->text() + "\n" + inputs_text(s.look_inputs);
}

std::string Variant::text() const {
  std::string text;
  for (size_t i = 0; i < steps.size(); ++i) {
    text += step_text(i) + "seen:";
    for (const uint64_t w : seen[i]) text += str(" {}", w);
    text += "\n";
  }
  text += forward->listing();
  if (backward != nullptr && backward->graph != nullptr) {
    text += "backward:\n" + backward->graph->listing();
  }
  text += inputs_text(inputs);
  for (const Output& o : outputs) {
    text += o.is_place ? str("result: {}\n", place_text(o.place))
                       : str("result: {}\n", o.defined ? "made" : "undefined");
  }
  for (const Grad& g : grads) {
    text += str(".grad of {}: {}\n", place_text(g.of), int{g.effect});
  }
  return text;
}

}  // namespace sy::compiling

#include "frontend/compile/walk.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "c10/device/backend.h"
#include "c10/device/generator.h"
#include "c10/process/error.h"

namespace sy::compiling {

// The changes of steps beyond their values. undo() takes them back if a look
// sees something new, as the call then begins anew.
class Walk::Undo {
 public:
  void before(const Step& s, const std::vector<capture::Memory>& memory) {
    for (size_t i = 0; i < s.inputs.size(); ++i) {
      const BoundInput& in = s.inputs[i];
      if (!in.written || in.place.kind == TensorPlace::kValue) continue;
      const Tensor& like = s.graph->inputs()[i].tensor;
      const size_t bytes =
          in.whole ? memory[i].storage->nbytes()
                   : static_cast<size_t>(like.numel()) * like.itemsize();
      Saved saved{memory[i], StorageImpl::allocate(bytes, s.device)};
      copy(s.device, saved.elements->data(), saved.memory.data, bytes);
      saved_.push_back(std::move(saved));
    }
    if (!s.graph->draws()) return;
    note(default_generator(Device(kCPU)));
    if (!s.device.is_cpu()) note(default_generator(s.device));
  }

  void undo() {
    while (!saved_.empty()) {
      const Saved& s = saved_.back();
      copy(s.elements->device(), s.memory.data, s.elements->data(),
           s.elements->nbytes());
      saved_.pop_back();
    }
    while (!drawn_.empty()) {
      const auto& [generator, seed, offset] = drawn_.back();
      generator->set_seed(seed);
      generator->set_offset(offset);
      drawn_.pop_back();
    }
  }

 private:
  struct Saved {
    capture::Memory memory;
    Storage elements;
  };

  static void copy(Device d, void* to, const void* from, size_t n) {
    if (n == 0) return;
    if (d.is_cpu()) {
      std::memcpy(to, from, n);
    } else {
      device_interface(d.type()).copy_on_device(to, from, n,
                                                std::max<int>(d.index(), 0));
    }
  }
  void note(const Generator& g) {
    drawn_.emplace_back(g, g->seed(), g->offset());
  }

  std::vector<Saved> saved_;
  std::vector<std::tuple<Generator, uint64_t, uint64_t>> drawn_;
};

Walk::Walk(const Arguments& a)
    : arguments_(a), undo_(std::make_unique<Undo>()) {}
Walk::~Walk() = default;

void Walk::undo() { undo_->undo(); }

std::vector<capture::Memory> Walk::memory_of(
    const std::vector<BoundInput>& inputs, const Variant& v) const {
  std::vector<capture::Memory> memory;
  memory.reserve(inputs.size());
  for (const BoundInput& in : inputs) {
    memory.push_back(v.memory_of(in, arguments_, frame_));
  }
  return memory;
}

// Returns what its look sees.
std::vector<uint64_t> Walk::run_step(const Variant& v, size_t d) {
  const Step& s = *v.steps[d];
  const auto memory = memory_of(s.inputs, v);
  undo_->before(s, memory);
  std::vector<Storage> values(static_cast<size_t>(s.graph->num_values()));
  s.graph->run({memory.data(), memory.size()}, values.data());
  frame_.values.push_back(std::move(values));
  const auto looked = memory_of(s.look_inputs, v);
  std::vector<Storage> made;
  std::vector<uint64_t> seen;
  s.look->run({looked.data(), looked.size()}, &made, &seen);
  std::vector<Storage>& all = frame_.values.back();
  all.insert(all.end(), std::make_move_iterator(made.begin()),
             std::make_move_iterator(made.end()));
  return seen;
}

std::shared_ptr<const Variant> Walk::along(
    Variants candidates, const std::function<bool(const Variant&)>& fits) {
  last_ = candidates[0];
  for (size_t d = 0;; ++d) {
    if (last_->steps.size() == d) return last_;
    const std::vector<uint64_t> seen = run_step(*last_, d);
    std::erase_if(candidates, [&](const auto& v) {
      return v->steps.size() <= d || v->steps[d] != last_->steps[d] ||
             v->seen[d] != seen;
    });
    const auto next =
        std::find_if(candidates.begin(), candidates.end(),
                     [&](const auto& v) { return v == last_ || fits(*v); });
    if (next == candidates.end()) return nullptr;
    last_ = *next;
    candidates.erase(candidates.begin(), next);
  }
}

namespace {

bool same_place(TensorPlace p, const Variant& a, const Variant& b) {
  const auto i = static_cast<size_t>(p.index);
  switch (p.kind) {
    case TensorPlace::kOuter:
      return a.outer[i].tensor.is_same(b.outer[i].tensor);
    case TensorPlace::kGrad: {
      const TensorPlace x = a.grads[i].of, y = b.grads[i].of;
      if (x.kind != y.kind) return false;
      return x.kind == TensorPlace::kOuter
                 ? a.outer[size_t(x.index)].tensor.is_same(
                       b.outer[size_t(y.index)].tensor)
                 : x.index == y.index;
    }
    default: return true;
  }
}

bool same_places(const std::vector<BoundInput>& inputs, const Variant& a,
                 const Variant& b) {
  return std::all_of(inputs.begin(), inputs.end(), [&](const BoundInput& in) {
    return same_place(in.place, a, b);
  });
}

// The first line of `b` that is not in the same place of `a`.
std::string first_difference(const std::string& a, const std::string& b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  const auto line = [&](const std::string& s) {
    if (i >= s.size()) return std::string("the end");
    const size_t begin = s.rfind('\n', i) + 1;
    return s.substr(begin, s.find('\n', i) - begin);
  };
  return str("'{}', replayed: '{}'", line(b), line(a));
}

bool same_step(const Variant& a, const Variant& b, size_t i, std::string* how) {
  if (a.steps[i] == b.steps[i]) return true;
  const std::string x = b.step_text(i), y = a.step_text(i);
  if (x != y) {
    *how = first_difference(x, y);
  } else if (!same_places(a.steps[i]->inputs, a, b) ||
             !same_places(a.steps[i]->look_inputs, a, b)) {
    *how = "other tensors of the program";
  }
  return how->empty();
}

}  // namespace

Kinship kinship(const Variant& recorded, const Variant& known,
                std::string* how) {
  const size_t n = std::min(recorded.steps.size(), known.steps.size());
  for (size_t i = 0; i < n; ++i) {
    if (!same_step(recorded, known, i, how)) return Kinship::kOther;
    if (recorded.seen[i] != known.seen[i]) return Kinship::kBranch;
  }
  const std::string a = known.text(), b = recorded.text();
  if (a != b) {
    *how = first_difference(a, b);
  } else if (!recorded.has_same_tensors(known)) {
    *how = "other tensors of the program";
  }
  return how->empty() ? Kinship::kSame : Kinship::kOther;
}

void share_steps(const Variant& like, Variant* v) {
  const size_t n = std::min(like.steps.size(), v->steps.size());
  std::string how;
  for (size_t i = 0; i < n && same_step(*v, like, i, &how); ++i) {
    v->steps[i] = like.steps[i];
    if (v->seen[i] != like.seen[i]) return;
  }
}

}  // namespace sy::compiling

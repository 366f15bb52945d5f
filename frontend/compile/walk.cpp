#include "frontend/compile/walk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "c10/backend.h"
#include "c10/generator.h"

namespace sy::compiling {

namespace {

// What steps change beyond their values: undone if a look sees something new,
// as the call then begins anew.
class Undo {
 public:
  void before(const Step& s, const std::vector<capture::Memory>& memory) {
    for (size_t i = 0; i < s.inputs.size(); ++i) {
      const BoundInput& in = s.inputs[i];
      if (!in.written || in.place.kind == Place::kValue) continue;
      const Tensor& like = s.graph->inputs()[i].tensor;
      const size_t bytes = in.whole ? memory[i].storage->nbytes()
                                    : static_cast<size_t>(like.numel()) *
                                          like.itemsize();
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
  struct Drawn {
    Generator generator;
    uint64_t seed, offset;
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
    drawn_.push_back({g, g->seed(), g->offset()});
  }

  std::vector<Saved> saved_;
  std::vector<Drawn> drawn_;
};

std::vector<capture::Memory> memory_of(const std::vector<BoundInput>& inputs,
                                       const Variant& v, const Arguments& a,
                                       const Frame& frame) {
  std::vector<capture::Memory> memory;
  memory.reserve(inputs.size());
  for (const BoundInput& in : inputs) {
    memory.push_back(v.memory_of(in, a, frame));
  }
  return memory;
}

// Step d of the variant. What its look sees.
std::vector<uint64_t> run_step(const Variant& v, size_t d, const Arguments& a,
                               Undo* undo, Frame* frame) {
  const Step& s = *v.steps[d];
  const auto memory = memory_of(s.inputs, v, a, *frame);
  undo->before(s, memory);
  std::vector<Storage> values(static_cast<size_t>(s.graph->num_values()));
  s.graph->run({memory.data(), memory.size()}, values.data());
  frame->values.push_back(std::move(values));
  const auto looked = memory_of(s.look_inputs, v, a, *frame);
  std::vector<Storage> made;
  std::vector<uint64_t> seen;
  s.look->run({looked.data(), looked.size()}, &made, &seen);
  std::vector<Storage>& all = frame->values.back();
  std::move(made.begin(), made.end(), std::back_inserter(all));
  return seen;
}

constexpr int kMostLuck = 64, kMiss = 8;

bool same_place(Place p, const Variant& a, const Variant& b) {
  const auto i = static_cast<size_t>(p.index);
  switch (p.kind) {
    case Place::kOuter: return a.outer[i].tensor == b.outer[i].tensor;
    case Place::kGrad: {
      const Place x = a.grads[i].of, y = b.grads[i].of;
      return x.kind == y.kind && x.index == y.index && same_place(x, a, b);
    }
    default: return true;
  }
}

bool same_places(const std::vector<BoundInput>& inputs, const Variant& a,
                 const Variant& b) {
  return std::all_of(
      inputs.begin(), inputs.end(),
      [&](const BoundInput& in) { return same_place(in.place, a, b); });
}

}  // namespace

std::shared_ptr<const Variant> walk(const Arguments& a, Variants candidates,
                                    Frame* frame, size_t* depth) {
  Undo undo;
  for (size_t d = 0;; ++d) {
    *depth = d;
    if (candidates.empty()) {
      undo.undo();
      return nullptr;
    }
    for (const auto& v : candidates) {
      if (v->steps.size() == d) return v;
    }
    const std::shared_ptr<const Variant> first = candidates[0];
    const std::vector<uint64_t> seen = run_step(*first, d, a, &undo, frame);
    std::erase_if(candidates, [&](const auto& v) {
      return v->steps[d] != first->steps[d] || v->seen[d] != seen;
    });
  }
}

bool may_walk(const Variant& v) { return v.steps[0]->luck.load() >= kMiss; }

void note_walk(const Variant& v, bool found) {
  std::atomic<int>& luck = v.steps[0]->luck;
  const int now = luck.load();
  luck = std::clamp(now + (found ? 1 : -kMiss), 0, kMostLuck);
}

bool share_steps(const Variant& like, size_t n, Variant* v) {
  for (size_t i = 0; i < n; ++i) {
    const bool same = i < v->steps.size() && i < like.steps.size() &&
                      v->step_text(i) == like.step_text(i) &&
                      same_places(v->steps[i]->inputs, *v, like) &&
                      same_places(v->steps[i]->look_inputs, *v, like);
    if (!same) return false;
    v->steps[i] = like.steps[i];
  }
  return true;
}

}  // namespace sy::compiling

#include "aten/backend/region.h"

#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <type_traits>

#include "lang/program.h"

namespace sy {

PreparedRegion::PreparedRegion(const Region& region)
    : region_(OwnedRegion::copy(region)) {}
PreparedRegion::~PreparedRegion() = default;
RegionEngine::~RegionEngine() = default;

void RegionReason::say(const char* format, ...) noexcept {
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
}

int Region::uniforms() const noexcept {
  int n = 0;
  for (const RegionNode& node : nodes) {
    n += node.body.n_uniforms;
    if (node.combine != nullptr) n += node.combine->n_uniforms;
    if (node.finish != nullptr) n += node.finish->n_uniforms;
  }
  return n;
}

namespace {

using program::Program;

uint64_t dims_of(const RegionOperand& o) {
  uint64_t bits = 0;
  for (size_t d = 0; d < o.strides.size(); ++d) {
    if (o.strides[d] != 0) bits |= uint64_t{1} << d;
  }
  return bits;
}

// Calls f(bytes, size) for all that makes a region equal to another.
template <class F>
class Walk {
 public:
  explicit Walk(F f) : f_(f) {}

  void region(const Region& r) {
    list(r.sizes);
    number(r.inputs.size());
    for (const RegionOperand& o : r.inputs) operand(o);
    number(r.nodes.size());
    for (const RegionNode& n : r.nodes) node(n);
    number(r.outputs.size());
    for (const RegionOutput& o : r.outputs) {
      operand(o.memory);
      number(o.value);
      number(o.donor);
    }
  }

 private:
  template <class T>
  void number(T v) {
    const auto wide = static_cast<int64_t>(v);
    f_(&wide, sizeof wide);
  }
  template <class T>
  void list(ArrayRef<T> l) {
    number(l.size());
    f_(l.data(), l.size() * sizeof(T));
  }
  void operand(const RegionOperand& o) {
    number(o.dtype);
    list(o.strides);
  }
  void program(const Program& p) {
    const int64_t head[] = {p.n_steps,
                            p.n_registers,
                            p.n_inputs,
                            p.n_uniforms,
                            p.n_results,
                            static_cast<int64_t>(p.bool_inputs),
                            static_cast<int64_t>(p.bool_uniforms)};
    f_(head, sizeof head);
    for (int i = 0; i < p.n_steps; ++i) {
      const program::Step& s = p.steps[i];
      const uint16_t step[] = {static_cast<uint16_t>(s.op), s.dst, s.a, s.b,
                               s.c};
      f_(step, sizeof step);
    }
    for (int i = 0; i < p.n_results; ++i) {
      const uint8_t result[] = {p.results[i].reg, p.results[i].is_bool};
      f_(result, sizeof result);
    }
  }
  void node(const RegionNode& n) {
    number(n.kind);
    number(n.compute);
    list(n.inputs);
    list(n.results);
    program(n.body);
    number(n.reduced);
    number((n.combine != nullptr) + 2 * (n.finish != nullptr) +
           4 * (n.identity != nullptr));
    if (n.combine != nullptr) program(*n.combine);
    if (n.finish != nullptr) program(*n.finish);
    for (int i = 0; n.identity != nullptr && i < n.body.n_results; ++i) {
      const lang::Uniform& u = n.identity[i];
      number(u.is_int);
      number(u.i);
      f_(&u.d, sizeof u.d);
    }
    number(n.windows.size());
    for (const RegionWindow& w : n.windows) {
      const int64_t window[] = {w.place,  w.kernel,   w.input,
                                w.stride, w.dilation, w.padding};
      f_(window, sizeof window);
    }
  }

  F f_;
};

template <class T, class F>
bool all_equal(const T* a, const T* b, size_t n, const F& equal) {
  for (size_t i = 0; i < n; ++i) {
    if (!equal(a[i], b[i])) return false;
  }
  return true;
}
template <class T, class F>
bool lists_equal(ArrayRef<T> a, ArrayRef<T> b, const F& equal) {
  return a.size() == b.size() && all_equal(a.data(), b.data(), a.size(), equal);
}

bool operands_equal(const RegionOperand& a, const RegionOperand& b) {
  return a.dtype == b.dtype && a.strides == b.strides;
}

bool programs_equal(const Program* a, const Program* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  return a->n_steps == b->n_steps && a->n_registers == b->n_registers &&
         a->n_inputs == b->n_inputs && a->n_uniforms == b->n_uniforms &&
         a->n_results == b->n_results && a->bool_inputs == b->bool_inputs &&
         a->bool_uniforms == b->bool_uniforms &&
         all_equal(a->steps, b->steps, a->n_steps,
                   [](const program::Step& x, const program::Step& y) {
                     return x.op == y.op && x.dst == y.dst && x.a == y.a &&
                            x.b == y.b && x.c == y.c;
                   }) &&
         all_equal(a->results, b->results, a->n_results,
                   [](const program::Result& x, const program::Result& y) {
                     return x.reg == y.reg && x.is_bool == y.is_bool;
                   });
}

bool nodes_equal(const RegionNode& a, const RegionNode& b) {
  if (a.kind != b.kind || a.compute != b.compute || a.reduced != b.reduced ||
      !(a.inputs == b.inputs) || !(a.results == b.results) ||
      !(a.windows == b.windows) || !programs_equal(&a.body, &b.body) ||
      !programs_equal(a.combine, b.combine) ||
      !programs_equal(a.finish, b.finish) ||
      (a.identity == nullptr) != (b.identity == nullptr)) {
    return false;
  }
  return a.identity == nullptr ||
         all_equal(a.identity, b.identity, a.body.n_results,
                   [](const lang::Uniform& x, const lang::Uniform& y) {
                     return x.is_int == y.is_int && x.i == y.i &&
                            std::bit_cast<uint64_t>(x.d) ==
                                std::bit_cast<uint64_t>(y.d);
                   });
}

}  // namespace

bool operator==(const Region& a, const Region& b) noexcept {
  return a.sizes == b.sizes &&
         lists_equal(a.inputs, b.inputs, operands_equal) &&
         lists_equal(a.nodes, b.nodes, nodes_equal) &&
         lists_equal(a.outputs, b.outputs,
                     [](const RegionOutput& x, const RegionOutput& y) {
                       return x.value == y.value && x.donor == y.donor &&
                              operands_equal(x.memory, y.memory);
                     });
}

size_t hash_of(const Region& region) noexcept {
  uint64_t hash = 14695981039346656037ull;
  const auto mix = [&hash](const void* p, size_t n) {
    const char* at = static_cast<const char*>(p);
    for (; n >= 8; n -= 8, at += 8) {
      uint64_t word;
      std::memcpy(&word, at, 8);
      hash = (hash ^ word) * 1099511628211ull;
      hash ^= hash >> 32;
    }
    for (; n > 0; --n, ++at) {
      hash = (hash ^ static_cast<uint8_t>(*at)) * 1099511628211ull;
    }
  };
  Walk<decltype(mix)>(mix).region(region);
  return hash;
}

int RegionValues::count(const Region& r) noexcept {
  size_t n = r.inputs.size();
  for (const RegionNode& node : r.nodes) n += node.results.size();
  return static_cast<int>(n);
}

RegionValues::RegionValues(const Region& r)
    : n_(count(r)), values_(new Value[static_cast<size_t>(n_) + 1]) {
  Value* next = values_.get();
  for (const RegionOperand& o : r.inputs) *next++ = {dims_of(o), o.dtype, -1};
  for (size_t i = 0; i < r.nodes.size(); ++i) {
    uint64_t dims = 0;
    for (const uint16_t in : r.nodes[i].inputs) dims |= values_[in].dims;
    dims &= ~r.nodes[i].reduced;
    for (const ScalarType t : r.nodes[i].results) {
      *next++ = {dims, t, static_cast<int>(i)};
    }
  }
}

namespace {

// Copies of arrays, one after the other; without memory it only counts.
class Room {
 public:
  explicit Room(char* memory) : memory_(memory) {}
  size_t used() const { return used_; }

  template <class T>
  T* array(const T* from, size_t n) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (n == 0) return nullptr;
    used_ = (used_ + alignof(T) - 1) / alignof(T) * alignof(T);
    char* const at = memory_ + used_;
    used_ += n * sizeof(T);
    if (memory_ == nullptr) return nullptr;
    std::memcpy(at, static_cast<const void*>(from), n * sizeof(T));
    return reinterpret_cast<T*>(at);
  }
  template <class T>
  ArrayRef<T> list(ArrayRef<T> from) {
    return {array(from.data(), from.size()), from.size()};
  }
  Program program(Program p) {
    p.steps = array(p.steps, p.n_steps);
    p.results = array(p.results, p.n_results);
    return p;
  }
  const Program* program(const Program* p) {
    if (p == nullptr) return nullptr;
    const Program copy = program(*p);
    return array(&copy, 1);
  }
  RegionOperand operand(RegionOperand o) {
    o.strides = list(o.strides);
    return o;
  }
  RegionNode node(RegionNode n) {
    n.inputs = list(n.inputs);
    n.results = list(n.results);
    n.identity =
        n.identity == nullptr ? nullptr : array(n.identity, n.body.n_results);
    n.body = program(n.body);
    n.combine = program(n.combine);
    n.finish = program(n.finish);
    n.windows = list(n.windows);
    if (n.name != nullptr) n.name = array(n.name, std::strlen(n.name) + 1);
    return n;
  }
  Region region(Region r) {
    r.sizes = list(r.sizes);
    const auto each = [this](auto from, auto copy) {
      auto* const to = array(from.data(), from.size());
      for (size_t i = 0; i < from.size(); ++i) {
        const auto element = copy(from[i]);
        if (to != nullptr) std::construct_at(&to[i], element);
      }
      return decltype(from)(to, from.size());
    };
    r.inputs = each(r.inputs, [this](const auto& o) { return operand(o); });
    r.nodes = each(r.nodes, [this](const auto& n) { return node(n); });
    r.outputs = each(r.outputs, [this](RegionOutput o) {
      o.memory = operand(o.memory);
      return o;
    });
    return r;
  }

 private:
  char* memory_;
  size_t used_ = 0;
};

}  // namespace

intrusive_ptr<OwnedRegion> OwnedRegion::copy(const Region& region) {
  auto owned = intrusive_ptr<OwnedRegion>::reclaim(new OwnedRegion);
  Room count(nullptr);
  count.region(region);
  owned->memory_ = static_cast<char*>(::operator new(count.used() + 1));
  owned->region_ = Room(owned->memory_).region(region);
  owned->hash_ = hash_of(region);
  return owned;
}

OwnedRegion::~OwnedRegion() { ::operator delete(memory_); }

}  // namespace sy

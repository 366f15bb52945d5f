#include "test/backends/lazy/programs.h"

#include <sy/lazy.h>

#include <cstdlib>
#include <functional>
#include <random>

// For AddressSanitizer. A tensor that is written after a call has saved it, as
// in y.add_(y.sin()), is in a circle with the node of that call: nothing frees
// it, here and in PyTorch, and its backward pass is an error.
extern "C" __attribute__((visibility("default"))) const char*
__asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

namespace sy::test {

namespace {

bool broadcast_fit(const Tensor& a, const Tensor& b) {
  const int64_t n = std::min(a.dim(), b.dim());
  for (int64_t d = 1; d <= n; ++d) {
    if (a.size(-d) != b.size(-d) && a.size(-d) != 1 && b.size(-d) != 1) {
      return false;
    }
  }
  return true;
}
bool fits_into(const Tensor& from, const Tensor& to) {
  if (from.dim() > to.dim() || !broadcast_fit(from, to)) return false;
  for (int64_t d = 1; d <= from.dim(); ++d) {
    if (from.size(-d) != 1 && from.size(-d) != to.size(-d)) return false;
  }
  return true;
}
bool is_float(const Tensor& t) {
  return t.scalar_type() == kFloat || t.scalar_type() == kDouble;
}

// Engines round differently. A value that is 0 in one, as x - x, may be 1e-8 in
// the other, and the gradients of a kink there have nothing in common: values
// like to be whole or to be equal, so the kinks are elsewhere.
Tensor apart(const Tensor& t) { return is_float(t) ? t + 0.0137 : t; }

constexpr int kLeaves[] = {0, 2, 4};

class Machine {
 public:
  // Takes the values of initial_values(), and adds to them.
  explicit Machine(std::vector<Tensor> initial) : values(std::move(initial)) {
    for (const int i : kLeaves) {
      leaves.push_back(values[size_t(i)]);
      values[size_t(i)] = leaves.back() * 1;
    }
  }

  // Runs the call and says what it was; throws no Error.
  std::string step(const Call& c) {
    try {
      return call(c);
    } catch (const Error&) {
      return "threw";
    }
  }

  std::vector<Tensor> values, leaves;

 private:
  const Tensor& at(uint32_t i) const { return values[i % values.size()]; }
  std::string keep(const char* what, Tensor t) {
    values.push_back(std::move(t));
    return what;
  }

  std::string call(const Call& c) {
    const Tensor a = at(c.a);
    Tensor b = at(c.b);
    // A write may not read a part of what it writes.
    if (b.is_alias_of(a)) b = b.clone();
    const int64_t dim = a.dim() == 0 ? 0 : c.c % a.dim();
    const double number = 0.25 * (1 + c.c % 7);
    switch (c.kind % 42) {
      case 0: return keep("tanh", a.tanh());
      case 1: return keep("sigmoid", a.sigmoid());
      case 2: return is_float(a) ? keep("relu", apart(a).relu()) : "-";
      case 3: return keep("mul number", a * number);
      case 4: return keep("sin", a.sin());
      case 5: return broadcast_fit(a, b) ? keep("add", a + b) : "-";
      case 6: return broadcast_fit(a, b) ? keep("mul", (a * b).tanh()) : "-";
      case 7: return broadcast_fit(a, b) ? keep("sub", sub(a, b, 2)) : "-";
      case 8:
        return broadcast_fit(a, b) ? keep("maximum", maximum(a, apart(b)))
                                   : "-";
      case 9:
        return broadcast_fit(a, b) ? keep("where", where(a > apart(b), a, b))
                                   : "-";
      case 10: return keep("double", a.to(kDouble));
      case 11: return keep("float", a.to(kFloat));
      // Engines round differently, and 1 or 0.99999994 must become one integer:
      // values like to be whole or halves, so the steps are elsewhere.
      case 12: return keep("to int", (a * 3 + 0.01).to(kInt));
      case 13:
        return a.dim() == 0 ? "-" : keep("sum keepdim", a.sum({dim}, true));
      case 14: return a.dim() == 0 ? "-" : keep("amax", a.amax({dim}, true));
      case 15:
        return a.dim() == 0 || !is_float(a) ? "-" : keep("mean", a.mean({dim}));
      case 16:
        return a.dim() == 0 || !is_float(a) ? "-"
                                            : keep("softmax", softmax(a, dim));
      case 17:
        return a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0) &&
                       a.scalar_type() == b.scalar_type() && is_float(a)
                   ? keep("mm", mm(a, b).tanh())
                   : "-";
      case 18: return a.dim() == 0 ? "-" : keep("cumsum", cumsum(a, dim));
      case 19: return a.dim() < 2 ? "-" : keep("transpose", a.transpose(0, 1));
      case 20:
        return a.dim() == 0 ? "-"
                            : keep("select", a.select(dim, c.b % a.size(dim)));
      case 21:
        return a.dim() == 0 || a.size(dim) < 2
                   ? "-"
                   : keep("slice", a.slice(dim, 1, a.size(dim),
                                           1 + static_cast<int64_t>(c.b % 2)));
      case 22:
        return a.dim() > 3
                   ? "-"
                   : keep("unsqueeze", a.unsqueeze(c.c % (a.dim() + 1)));
      case 23: return keep("reshape", a.reshape({-1}));
      case 24:
        return a.dim() == 1 && a.size(0) < 50
                   ? keep("expand", a.unsqueeze(0).expand({3, a.size(0)}))
                   : "-";
      case 25: return keep("clone", a.clone());
      case 26: return write("add_", a, [&](Tensor& t) { t.add_(1); });
      case 27: return write("mul_", a, [&](Tensor& t) { t.mul_(2); });
      case 28:
        return !fits_into(b, a)
                   ? "-"
                   : write("copy_", a, [&](Tensor& t) { t.copy_(b); });
      case 29:
        return !fits_into(b, a) || !is_float(a) || !is_float(b)
                   ? "-"
                   : write("add_ tensor", a, [&](Tensor& t) { t.add_(b); });
      case 30: return write("zero_", a, [&](Tensor& t) { t.zero_(); });
      case 31:
        return !is_float(a) ? "-"
                            : write("tanh_", a, [&](Tensor& t) { t.tanh_(); });
      case 32: return write("fill_", a, [&](Tensor& t) { t.fill_(c.c % 5); });
      case 33: return keep("detach", a.detach());
      case 34: return keep("full", full_like(a, c.c % 5));
      case 35: return keep("constants", (zeros_like(a) + number) * 2);
      case 36:
        return a.dim() != 1 || a.size(0) > 30
                   ? "-"
                   : keep("outer", a.unsqueeze(1) - a);
      case 37:
        return a.dim() != 1 || a.size(0) > 30
                   ? "-"
                   // Equal numbers stay equal, as above.
                   : keep("mask", where(a.unsqueeze(1) > a + 0.01, 1.0, 0.0));
      // A value that nobody holds is never stored.
      default:
        if (values.size() < 6) return "-";
        values.erase(values.begin() +
                     static_cast<int64_t>(c.a % values.size()));
        return "drop";
    }
  }

  std::string write(const char* what, Tensor t,
                    const std::function<void(Tensor&)>& f) {
    f(t);
    return what;
  }
};

// False: it threw.
bool run_backward(const std::vector<Tensor>& values) {
  Tensor total;
  for (const Tensor& v : values) {
    if (!is_float(v) || !v.requires_grad()) continue;
    const Tensor s = v.to(kDouble).sum();
    total = total.defined() ? total + s : s;
  }
  if (!total.defined()) return true;
  try {
    total.backward();
  } catch (const Error&) {
    return false;
  }
  return true;
}

void add_outcome(const std::vector<Tensor>& values,
                 const std::vector<Tensor>& leaves, bool gradient,
                 Outcome* out) {
  out->says.emplace_back(gradient ? "backward" : "backward threw");
  for (const Tensor& v : values) out->values.push_back(v.detach().to(kCPU));
  if (!gradient) return;  // some may have arrived
  for (const Tensor& l : leaves) {
    out->values.push_back(l.grad().defined() ? l.grad().to(kCPU) : zeros({}));
  }
}

}  // namespace

std::vector<Tensor> initial_values(Device device, double shift) {
  std::vector<Tensor> values;
  const auto add = [&](IntArrayRef sizes, ScalarType t, double scale) {
    int64_t n = 1;
    for (const int64_t s : sizes) n *= s;
    const Tensor x =
        ((arange(n, TensorOptions(kFloat)) * 0.7 + (scale + shift)).sin() * 2)
            .view(sizes);
    values.push_back(x.to(t).to(device).clone());
  };
  add({4, 6}, kFloat, 0.1);
  add({4, 6}, kFloat, 1.3);
  add({6}, kFloat, 2.2);
  add({4, 1}, kDouble, 0.4);
  add({6, 4}, kFloat, 3.1);
  add({4, 6}, kLong, 0.9);
  add({5, 5}, kFloat, 1.9);
  for (const int i : kLeaves) {
    values[size_t(i)] = values[size_t(i)].clone().requires_grad_();
  }
  return values;
}

Program random_program(uint64_t seed, int calls) {
  std::mt19937_64 random(seed);
  Program p;
  for (int i = 0; i < calls; ++i) {
    const auto number = [&] { return static_cast<uint32_t>(random()); };
    p.push_back({number(), number(), number(), number()});
  }
  return p;
}

Outcome run(const Program& p, Device device, int sync_every) {
  Machine m(initial_values(device, 0));
  Outcome out;
  int calls = 0;
  for (const Call& c : p) {
    out.says.push_back(m.step(c));
    if (sync_every != 0 && ++calls % sync_every == 0 && device.is_lazy()) {
      lazy::sync();
    }
  }
  const bool gradient = run_backward(m.values);
  add_outcome(m.values, m.leaves, gradient, &out);
  return out;
}

std::vector<Tensor> run_on(const Program& p, const std::vector<Tensor>& initial,
                           bool backward, Outcome* out) {
  Machine m(initial);
  for (const Call& c : p) out->says.push_back(m.step(c));
  if (!backward) return m.values;
  const bool gradient = run_backward(m.values);
  out->says.emplace_back(gradient ? "backward" : "backward threw");
  std::vector<Tensor> values;
  for (const Tensor& v : m.values) values.push_back(v.detach());
  return values;
}

void finish_run(const std::vector<Tensor>& initial,
                const std::vector<Tensor>& values, bool backward,
                Outcome* out) {
  const bool gradient = backward || run_backward(values);
  std::vector<Tensor> leaves;
  for (const int i : kLeaves) leaves.push_back(initial[size_t(i)]);
  add_outcome(values, leaves, gradient, out);
  for (const Tensor& t : initial) out->values.push_back(t.detach());
}

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string difference(const Outcome& got, const Outcome& want) {
  for (size_t i = 0; i < want.says.size(); ++i) {
    if (got.says[i] != want.says[i]) {
      return str("call {}: expected '{}', got '{}'", i, want.says[i],
                 got.says[i]);
    }
  }
  for (size_t i = 0; i < want.values.size(); ++i) {
    const Tensor &g = got.values[i], &w = want.values[i];
    if (g.sizes() != w.sizes() || g.scalar_type() != w.scalar_type()) {
      return str("value {}: another shape or dtype", i);
    }
    if (!allclose(g, w, 1e-3, 1e-4, true)) {
      return str("value {}: {} of them differ", i,
                 (g != w).sum().item<int64_t>());
    }
  }
  return "";
}

std::string listing(const Program& p) {
  std::string text;
  const Outcome cpu = run(p, Device(kCPU), 0);
  for (size_t i = 0; i < p.size(); ++i) {
    text += str("  {{{}, {}, {}, {}}},  // {}\n", p[i].kind, p[i].a, p[i].b,
                p[i].c, cpu.says[i]);
  }
  return text;
}

}  // namespace sy::test

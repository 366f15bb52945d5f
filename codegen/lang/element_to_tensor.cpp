#include <utility>

#include "codegen/lang/element.h"
#include "codegen/lang/format.h"
#include "codegen/lang/parser.h"
#include "codegen/lang/tensor.h"

namespace sy::lang {
namespace {

// Primitives that ATen knows under another name, or not at all.
struct Spelling {
  std::string_view function;
  const char* formula;
};
constexpr Spelling kSpellings[] = {
    {"copy", "x0"},
    {"fma", "x0 * x1 + x2"},
    {"trunc_div", "div(x0, x1, rounding_mode='trunc')"},
    {"shift_left", "bitwise_left_shift(x0, x1)"},
    {"shift_right", "bitwise_right_shift(x0, x1)"},
    {"truth", "x0 != 0"},
    {"from_bool", "x0"},
    {"i0e", "special_i0e(x0)"},
    {"i1", "special_i1(x0)"},
    {"i1e", "special_i1e(x0)"},
    {"bessel_j0", "special_bessel_j0(x0)"},
    {"bessel_j1", "special_bessel_j1(x0)"},
    {"bessel_y0", "special_bessel_y0(x0)"},
    {"bessel_y1", "special_bessel_y1(x0)"},
    {"bessel_k0", "special_modified_bessel_k0(x0)"},
    {"bessel_k0e", "special_scaled_modified_bessel_k0(x0)"},
    {"bessel_k1", "special_modified_bessel_k1(x0)"},
    {"bessel_k1e", "special_scaled_modified_bessel_k1(x0)"},
    {"airy_ai", "special_airy_ai(x0)"},
    {"erfcx", "special_erfcx(x0)"},
    {"ndtri", "special_ndtri(x0)"},
    {"zeta", "special_zeta(x0, x1)"},
    {"chebyshev_t", "special_chebyshev_polynomial_t(x0, x1)"},
    {"chebyshev_u", "special_chebyshev_polynomial_u(x0, x1)"},
    {"chebyshev_v", "special_chebyshev_polynomial_v(x0, x1)"},
    {"chebyshev_w", "special_chebyshev_polynomial_w(x0, x1)"},
    {"hermite_h", "special_hermite_polynomial_h(x0, x1)"},
    {"hermite_he", "special_hermite_polynomial_he(x0, x1)"},
    {"laguerre_l", "special_laguerre_polynomial_l(x0, x1)"},
    {"legendre_p", "special_legendre_polynomial_p(x0, x1)"},
};

Expr spelt(const Node& e, const std::vector<Expr>& args) {
  for (const Spelling& s : kSpellings) {
    if (e.name != s.function) continue;
    Expr f = parse(s.formula);
    // Operands that are themselves called x0 are put in last.
    for (std::size_t i = 0; i < args.size(); ++i) {
      f = substitute(f, fmt::format("x{}", i),
                     make_name(fmt::format("operand {}", i)));
    }
    for (std::size_t i = 0; i < args.size(); ++i) {
      f = substitute(f, fmt::format("operand {}", i), args[i]);
    }
    return f;
  }
  return nullptr;
}

class Translator {
 public:
  explicit Translator(const ElementEnv& env) : env_(env) {}

  Expr run(const Expr& e) {
    if (e->kind == NodeKind::kLet) return let(*e);
    std::vector<Expr> children;
    for (const Expr& c : e->children) children.push_back(run(c));
    if (e->kind == NodeKind::kIf) {
      if (!is_uniform(e->children[0])) {
        return make_call("where", std::move(children), e->at);
      }
      // One of two operators runs; both must give a tensor.
      for (int i = 1; i < 3; ++i) {
        if (is_uniform(e->children[i]) && !is_uniform(e->children[3 - i])) {
          children[i] = filled(children[i], children[3 - i]);
        }
      }
    }
    if (e->kind == NodeKind::kCall) {
      if (Expr f = spelt(*e, children)) return f;
    }
    return children.empty() ? e : with_children(*e, std::move(children));
  }

 private:
  bool is_uniform(const Expr& e) const {
    Diagnostics ignored;
    const auto type = check_element(e, env_, ignored);
    return type && type->uniform;
  }

  // A number with the sizes of a tensor that `other` mentions; the gradient's
  // are those of the result.
  Expr filled(const Expr& number, const Expr& other) const {
    std::string name;
    for (const ElementName& n : env_.names) {
      if (n.kind != ElementKind::kTensor || !mentions(other, n.name)) continue;
      if (name.empty() || n.name == "grad") name = n.name;
    }
    if (is_number(number, 0)) return make_call("zeros_like", {make_name(name)});
    return make_call("full_like", {make_name(name), number});
  }

  Expr let(const Node& e) {
    const bool uniform = is_uniform(e.children[0]);
    const Expr value = run(e.children[0]);
    env_.names.push_back(
        {e.name, uniform ? ElementKind::kNumber : ElementKind::kTensor});
    const Expr body = run(e.children[1]);
    env_.names.pop_back();
    return with_children(e, {value, body});
  }

  ElementEnv env_;
};

}  // namespace

Expr element_to_tensor(const Expr& e, const ElementEnv& env) {
  return share(Translator(env).run(with_unique_bindings(fold(e))));
}

}  // namespace sy::lang

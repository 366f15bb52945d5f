#include "frontend/optim/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aten/ops/factory.h"
#include "aten/ops/foreach.h"
#include "aten/ops/foreach_arithmetic.h"
#include "aten/ops/shape.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/optim/lbfgs_search.h"

namespace sy::optim {

LBFGSOptions::LBFGSOptions(double lr) { this->lr(lr); }

std::vector<OptionRef> LBFGSOptions::list() {
  return {{"lr", &lr_},
          {"max_iter", &max_iter_},
          {"max_eval", &max_eval_},
          {"tolerance_grad", &tolerance_grad_},
          {"tolerance_change", &tolerance_change_},
          {"history_size", &history_size_},
          {"line_search_fn", &line_search_fn_},
          {"maximize", &maximize_}};
}

void LBFGSOptions::check(const OptionCheck& check) const {
  check.lr(lr_);
  if (history_size_ < 1) {
    check.failed("history_size", "at least 1", std::to_string(history_size_));
  }
  if (line_search_fn_ && *line_search_fn_ != "strong_wolfe") {
    check.failed("line_search_fn", "strong_wolfe or none", *line_search_fn_);
  }
}

LBFGS::LBFGS(std::vector<OptimizerParamGroup> groups,
             const LBFGSOptions& defaults)
    : OptimizerOf(std::move(groups), defaults) {
  check_parameters();
}
LBFGS::LBFGS(std::vector<Tensor> parameters, const LBFGSOptions& defaults)
    : OptimizerOf(std::move(parameters), defaults) {
  check_parameters();
}
LBFGS::LBFGS(const NamedTensors& parameters, const LBFGSOptions& defaults)
    : OptimizerOf(parameters, defaults) {
  check_parameters();
}

void LBFGS::check_parameters() const {
  SY_CHECK(param_groups().size() == 1, Value,
           "[LBFGS] param_groups: expected one, got {}", param_groups().size());
  const Tensor& first = parameters()[0];
  for (size_t i = 1; i < parameters().size(); ++i) {
    const Tensor& p = parameters()[i];
    SY_CHECK(
        p.scalar_type() == first.scalar_type() && p.device() == first.device(),
        Value, "[LBFGS] parameter {}: expected {} on {} like the first, got {}",
        key_of(0, i), first.scalar_type(), first.device(), describe(p));
  }
}

const LBFGSOptions& LBFGS::options() const {
  return static_cast<const LBFGSOptions&>(param_groups()[0].options());
}

int64_t LBFGS::numel() const {
  int64_t n = 0;
  for (const Tensor& p : parameters()) n += p.numel();
  return n;
}

Tensor LBFGS::flat_grad() const {
  std::vector<Tensor> rows;
  for (const Tensor& p : parameters()) {
    rows.push_back(p.grad().defined() ? p.grad().detach().reshape(-1)
                                      : zeros({p.numel()}, p.options()));
  }
  const Tensor flat = cat(rows);
  return options().maximize() ? flat.neg() : flat;
}

LBFGS::Point LBFGS::evaluate(const LossClosure& closure) const {
  double loss = 0;
  {
    const AutoGradMode grad(true);
    loss = closure().item<double>();
  }
  return {options().maximize() ? -loss : loss, flat_grad()};
}

void LBFGS::move(double t, const Tensor& d) const {
  std::vector<Tensor> pieces;
  int64_t at = 0;
  for (const Tensor& p : parameters()) {
    pieces.push_back(d.narrow(0, at, p.numel()).view(p.sizes()));
    at += p.numel();
  }
  _foreach_add_(parameters(), pieces, t);
}

namespace {

double number(const Tensor& t) { return t.item<double>(); }
double greatest(const Tensor& t) {
  return t.numel() == 0 ? 0 : number(t.abs().amax());
}

}  // namespace

void LBFGS::remember(State* s, const Tensor& grad) const {
  const Tensor y = grad.sub(s->prev_flat_grad);
  const Tensor step = s->d.mul(s->t);
  const Tensor ys = y.dot(step);
  if (!(number(ys) > 1e-10)) return;
  if (static_cast<int64_t>(s->old_dirs.size()) >= options().history_size()) {
    s->old_dirs.pop_front();
    s->old_stps.pop_front();
    s->ro.pop_front();
  }
  s->old_dirs.push_back(y);
  s->old_stps.push_back(step);
  s->ro.push_back(ys.reciprocal());
  s->h_diag = ys.div(y.dot(y));
}

// The two loops over the history. No number is read, so nothing waits.
Tensor LBFGS::direction(const State& s, const Tensor& grad) const {
  const size_t n = s.old_dirs.size();
  std::vector<Tensor> al(n);
  const Tensor q = grad.neg();
  for (size_t i = n; i-- > 0;) {
    al[i] = s.old_stps[i].dot(q).mul(s.ro[i]);
    q.sub_(s.old_dirs[i].mul(al[i]));
  }
  const Tensor r = q.mul(s.h_diag);
  for (size_t i = 0; i < n; ++i) {
    const Tensor be = s.old_dirs[i].dot(r).mul(s.ro[i]);
    r.add_(s.old_stps[i].mul(al[i].sub(be)));
  }
  return r;
}

Tensor LBFGS::step(LossClosure closure) {
  SY_CHECK(closure != nullptr, Value,
           "[LBFGS] step: expected a closure, got none");
  check_parameters();
  const LBFGSOptions& o = options();
  const NoGradGuard no_grad;
  // Kept at the end only, so that a closure that throws changes nothing.
  State s = state_;
  Tensor first;
  Point now = evaluate([&] { return first = closure(); });
  ++s.func_evals;
  if (greatest(now.grad) <= o.tolerance_grad()) {
    state_ = std::move(s);
    return first;
  }
  const int64_t max_eval = o.max_eval().value_or(o.max_iter() * 5 / 4);
  int64_t evaluations = 1;
  for (int64_t i = 1; i <= o.max_iter(); ++i) {
    const bool is_first = s.n_iter++ == 0;
    if (is_first) {
      s.d = now.grad.neg();
      s.h_diag = ones({}, now.grad.options());
    } else {
      remember(&s, now.grad);
      s.d = direction(s, now.grad);
    }
    s.prev_flat_grad = now.grad;
    s.prev_loss = now.loss;
    s.t = o.lr();
    if (is_first) s.t *= std::min(1.0, 1 / number(now.grad.abs().sum()));
    const double slope = number(now.grad.dot(s.d));
    if (slope > -o.tolerance_change()) break;
    int64_t more = 0;
    if (o.line_search_fn()) {
      const std::vector<Tensor> start = _foreach_clone(parameters());
      const auto at = [&](double t) {
        try {
          move(t, s.d);
          const Point p = evaluate(closure);
          _foreach_copy_(parameters(), start);
          return LinePoint{t, p.loss, number(p.grad.dot(s.d)), p.grad};
        } catch (...) {
          _foreach_copy_(parameters(), start);
          throw;
        }
      };
      const LineResult found =
          strong_wolfe(at, {0, now.loss, slope, now.grad}, s.t, greatest(s.d),
                       o.tolerance_change(), max_eval - evaluations);
      s.t = found.point.t;
      now = {found.point.loss, found.point.grad};
      more = found.evaluations;
      move(s.t, s.d);
    } else {
      move(s.t, s.d);
      if (i != o.max_iter()) {
        now = evaluate(closure);
        more = 1;
      }
    }
    evaluations += more;
    s.func_evals += more;
    if (evaluations >= max_eval || greatest(now.grad) <= o.tolerance_grad() ||
        greatest(s.d) * std::abs(s.t) <= o.tolerance_change() ||
        std::abs(now.loss - s.prev_loss) < o.tolerance_change()) {
      break;
    }
  }
  state_ = std::move(s);
  return first;
}

namespace {

Tensor rows_of(const std::deque<Tensor>& list, IntArrayRef sizes,
               const TensorOptions& options) {
  if (!list.empty())
    return stack(std::vector<Tensor>(list.begin(), list.end()));
  std::vector<int64_t> none = {0};
  none.insert(none.end(), sizes.begin(), sizes.end());
  return empty(none, options);
}

}  // namespace

NamedTensors LBFGS::state_dict() const {
  NamedTensors dict;
  const std::string prefix = "state." + key_of(0, 0) + ".";
  const State& s = state_;
  const auto add = [&](const char* name, const Tensor& t) {
    dict.insert(prefix + name, t);
  };
  if (s.func_evals != 0) {
    add("func_evals", full({}, s.func_evals, kLong));
    add("n_iter", full({}, s.n_iter, kLong));
  }
  if (s.n_iter != 0) {
    const TensorOptions like = s.d.options();
    add("t", full({}, s.t, kDouble));
    add("prev_loss", full({}, s.prev_loss, kDouble));
    add("d", s.d);
    add("prev_flat_grad", s.prev_flat_grad);
    add("H_diag", s.h_diag);
    add("old_dirs", rows_of(s.old_dirs, numel(), like));
    add("old_stps", rows_of(s.old_stps, numel(), like));
    add("ro", rows_of(s.ro, {}, like));
  }
  save_options(&dict);
  return dict;
}

void LBFGS::load_state_dict(const NamedTensors& state) {
  const NoGradGuard no_grad;
  Misfits misfits;
  auto options = read_options(state, &misfits);
  const std::string prefix = "state." + key_of(0, 0) + ".";
  const int64_t n = numel();
  const Tensor& like = parameters()[0];
  std::vector<std::string> known;
  State s;
  bool needed = false;
  // A tensor of such sizes; -1: any size.
  const auto read = [&](const char* name, std::vector<int64_t> sizes,
                        ScalarType dtype) {
    const std::string full = known.emplace_back(prefix + name);
    const Tensor* const t = state.find(full);
    if (t == nullptr) {
      if (needed) misfits.missing.push_back(full);
      return Tensor();
    }
    if (!sizes.empty() && sizes[0] < 0 && t->dim() > 0) sizes[0] = t->size(0);
    if (t->sizes() != IntArrayRef(sizes)) {
      misfits.misshapen.push_back(str("{} (expected {}, got {})", full,
                                      IntArrayRef(sizes), t->sizes()));
      return Tensor();
    }
    const Device device = dtype == like.scalar_type() ? like.device() : kCPU;
    return t->detach().to(device).to(dtype).clone();
  };
  const auto count = [&](const char* name) {
    const Tensor t = read(name, {}, kLong);
    return t.defined() ? t.item<int64_t>() : 0;
  };
  const auto value = [&](const char* name) {
    const Tensor t = read(name, {}, kDouble);
    return t.defined() ? t.item<double>() : 0;
  };
  const auto rows = [&](const char* name, std::vector<int64_t> sizes) {
    std::deque<Tensor> list;
    const Tensor t = read(name, std::move(sizes), like.scalar_type());
    for (int64_t i = 0; t.defined() && i < t.size(0); ++i) {
      list.push_back(t.select(0, i).clone());
    }
    return list;
  };
  s.func_evals = count("func_evals");
  needed = s.func_evals != 0;
  s.n_iter = count("n_iter");
  needed = s.n_iter != 0;
  s.t = value("t");
  s.prev_loss = value("prev_loss");
  s.d = read("d", {n}, like.scalar_type());
  s.prev_flat_grad = read("prev_flat_grad", {n}, like.scalar_type());
  s.h_diag = read("H_diag", {}, like.scalar_type());
  s.old_dirs = rows("old_dirs", {-1, n});
  s.old_stps = rows("old_stps", {-1, n});
  s.ro = rows("ro", {-1});
  for (const auto& [name, t] : state) {
    if (name.starts_with("state.") &&
        std::find(known.begin(), known.end(), name) == known.end()) {
      misfits.unexpected.push_back(name);
    }
  }
  const auto as_many = [&](const char* name, const std::deque<Tensor>& list) {
    if (list.size() == s.old_dirs.size()) return;
    misfits.misshapen.push_back(str("{}{} (expected {} rows, got {})", prefix,
                                    name, s.old_dirs.size(), list.size()));
  };
  as_many("old_stps", s.old_stps);
  as_many("ro", s.ro);
  misfits.raise("LBFGS");
  options[0]->check(OptionCheck("[LBFGS] load_state_dict: param_groups.0."));
  set_options(std::move(options));
  state_ = std::move(s);
}

}  // namespace sy::optim

#include "test/frontend/optim/archive_runs.h"

#include <sstream>

namespace sy::test {

using namespace optim;

namespace {

// Element i is a * (i + k) % m, less `middle`, in eighths.
Tensor pattern(const Tensor& like, double a, double m, double middle,
               double k) {
  const Tensor i = arange(like.numel(), TensorOptions(kDouble));
  return ((i + k) * a).fmod(m).sub(middle).div(8).view(like.sizes());
}

double set_gradients(const std::vector<Tensor>& all, int s) {
  const NoGradGuard no_grad;
  double loss = 0;
  for (size_t k = 0; k < all.size(); ++k) {
    const Tensor& p = all[k];
    const double scale = static_cast<double>(k + 1) / 2;
    const Tensor shift = pattern(p, 5, 7, 3, static_cast<double>(k) + s);
    p.mutable_grad() = p * scale + shift;
    loss += (p * p * scale / 2 + p * shift).sum().item<double>();
  }
  return loss;
}

template <class O, class Options>
MakeOptimizer grouped(const Options& first, const Options& second) {
  return [=](const std::vector<Tensor>& p, bool set) {
    std::vector<OptimizerParamGroup> groups;
    groups.emplace_back(NamedTensors{{"w", p[0]}, {"b", p[1]}});
    groups.emplace_back(NamedTensors{{"v", p[2]}});
    if (set) {
      groups[0].set_options(std::make_unique<Options>(first));
      groups[1].set_options(std::make_unique<Options>(second));
    }
    return std::make_unique<O>(std::move(groups), Options(0.5));
  };
}

std::unique_ptr<Optimizer> make_lbfgs(const std::vector<Tensor>& p, bool set) {
  LBFGSOptions o(1);
  if (set) o.lr(0.5).max_iter(3).history_size(2).line_search_fn("strong_wolfe");
  return std::make_unique<LBFGS>(p, o);
}

template <class Options>
Options adam(double lr, bool amsgrad) {
  return Options(lr)
      .betas(std::tuple(0.8, 0.95))
      .eps(1e-6)
      .weight_decay(0.1)
      .amsgrad(amsgrad);
}

}  // namespace

std::string archive_path(const std::string& name) {
  return "test/frontend/optim/testdata/" + name + ".pt";
}

std::vector<Tensor> archive_parameters() {
  std::vector<Tensor> all;
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{2, 3}, {3}, {2}}) {
    const auto k = static_cast<double>(all.size());
    all.push_back(pattern(zeros(sizes, kDouble), 7, 11, 5, k).requires_grad_());
  }
  return all;
}

void archive_steps(Optimizer& optimizer, const std::vector<Tensor>& all,
                   int first) {
  for (int s = first; s < first + kArchiveSteps; ++s) {
    if (dynamic_cast<LBFGS*>(&optimizer) != nullptr) {
      optimizer.step([&] { return full({}, set_gradients(all, 0), kDouble); });
    } else {
      set_gradients(all, s);
      optimizer.step();
    }
  }
}

std::vector<std::pair<std::string, MakeOptimizer>> archive_makers() {
  return {
      {"SGD",
       grouped<SGD>(
           SGDOptions(0.1).momentum(0.9).dampening(0.2).weight_decay(0.1),
           SGDOptions(0.05).momentum(0.8).nesterov(true))},
      {"Adam", grouped<Adam>(adam<AdamOptions>(0.1, true),
                             adam<AdamOptions>(0.05, false))},
      {"AdamW", grouped<AdamW>(adam<AdamWOptions>(0.1, false),
                               adam<AdamWOptions>(0.05, false))},
      {"Adagrad",
       grouped<Adagrad>(AdagradOptions(0.1).lr_decay(0.1).weight_decay(0.1),
                        AdagradOptions(0.05).eps(1e-6))},
      {"RMSprop",
       grouped<RMSprop>(
           RMSpropOptions(0.1).alpha(0.9).momentum(0.5).centered(true),
           RMSpropOptions(0.05).weight_decay(0.1).eps(1e-6))},
      {"LBFGS", make_lbfgs},
  };
}

std::string saved(const serialize::OutputArchive& archive) {
  std::ostringstream out;
  archive.save_to(out);
  return out.str();
}

std::string saved(const Optimizer& optimizer) {
  serialize::OutputArchive archive;
  optimizer.save(archive);
  return saved(archive);
}

void load_bytes(Optimizer& optimizer, const std::string& bytes) {
  load(optimizer, bytes.data(), bytes.size());
}

void expect_same(const NamedTensors& got, const NamedTensors& expected,
                 const std::string& where) {
  EXPECT_EQ(got.keys(), expected.keys()) << where;
  for (const auto& [name, t] : expected) {
    const Tensor* const own = got.find(name);
    EXPECT_TRUE(own != nullptr && equal(*own, t)) << where << " " << name;
  }
}

}  // namespace sy::test

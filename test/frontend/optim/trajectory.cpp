#include "test/frontend/optim/trajectory.h"

#include <sstream>

namespace sy::test {

using namespace optim;

Tensor value(size_t i, IntArrayRef sizes, ScalarType dtype, int seed) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  const Tensor k =
      arange(n, TensorOptions(kDouble)) +
      static_cast<double>(7 * i + 13 * static_cast<size_t>(seed) + 1);
  return ((k * k * 31).fmod(97) / 48.5 - 1).view(sizes).to(dtype);
}

Tensor gradient(size_t i, const Tensor& p, int step) {
  if (i == 1 && step % 4 == 2) return {};
  return (p - value(i, p.sizes(), p.scalar_type(), 50)) *
             (0.5 + 0.1 * static_cast<double>(i)) +
         value(i, p.sizes(), p.scalar_type(), step) * 0.2;
}

std::vector<Tensor> parameters(const std::string& optimizer, ScalarType dtype) {
  using Sizes = std::vector<std::vector<int64_t>>;
  const Sizes sizes = optimizer == "Muon" ? Sizes{{2, 4}, {5, 2}, {3, 3}}
                                          : Sizes{{3, 2}, {4}, {2, 2, 2}, {}};
  std::vector<Tensor> all;
  for (size_t i = 0; i < sizes.size(); ++i) {
    all.push_back(value(i, sizes[i], dtype, 0).requires_grad_());
  }
  return all;
}

namespace {

void assign(double* to, const std::string& text) { *to = std::stod(text); }
void assign(bool* to, const std::string& text) { *to = text == "true"; }
void assign(int64_t* to, const std::string& text) { *to = std::stoll(text); }
void assign(std::optional<int64_t>* to, const std::string& text) {
  *to = std::stoll(text);
}
void assign(std::optional<std::string>* to, const std::string& text) {
  *to = text;
}
std::vector<double> list_of(const std::string& text) {
  std::vector<double> all;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ':');) {
    all.push_back(std::stod(item));
  }
  return all;
}
void assign(std::tuple<double, double>* to, const std::string& text) {
  const auto v = list_of(text);
  *to = {v.at(0), v.at(1)};
}
void assign(std::tuple<std::optional<double>, double>* to,
            const std::string& text) {
  const auto v = list_of(text);
  *to = {v.at(0), v.at(1)};
}
void assign(std::tuple<double, double, double>* to, const std::string& text) {
  const auto v = list_of(text);
  *to = {v.at(0), v.at(1), v.at(2)};
}

template <class O, class Options>
std::unique_ptr<Optimizer> make(const std::string& text,
                                const NamedTensors& parameters) {
  Options options;
  const std::vector<OptionRef> list = options.list();
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) {
    const size_t at = item.find('=');
    const OptionRef* const o = find_option(list, item.substr(0, at));
    EXPECT_NE(o, nullptr) << item;
    std::visit([&](auto* to) { assign(to, item.substr(at + 1)); }, o->value);
  }
  return std::make_unique<O>(parameters, options);
}

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const std::string& name,
                                          const std::string& options,
                                          const NamedTensors& parameters) {
  const auto one = [&](auto made) { return made(options, parameters); };
  if (name == "SGD") return one(make<SGD, SGDOptions>);
  if (name == "Adam") return one(make<Adam, AdamOptions>);
  if (name == "AdamW") return one(make<AdamW, AdamWOptions>);
  if (name == "Adagrad") return one(make<Adagrad, AdagradOptions>);
  if (name == "RMSprop") return one(make<RMSprop, RMSpropOptions>);
  if (name == "Adadelta") return one(make<Adadelta, AdadeltaOptions>);
  if (name == "Adamax") return one(make<Adamax, AdamaxOptions>);
  if (name == "NAdam") return one(make<NAdam, NAdamOptions>);
  if (name == "RAdam") return one(make<RAdam, RAdamOptions>);
  if (name == "ASGD") return one(make<ASGD, ASGDOptions>);
  if (name == "Rprop") return one(make<Rprop, RpropOptions>);
  if (name == "Adafactor") return one(make<Adafactor, AdafactorOptions>);
  if (name == "Muon") return one(make<Muon, MuonOptions>);
  if (name == "LBFGS") return one(make<LBFGS, LBFGSOptions>);
  ADD_FAILURE() << name;
  return nullptr;
}

NamedTensors numbered(const std::vector<Tensor>& parameters) {
  NamedTensors all;
  for (size_t i = 0; i < parameters.size(); ++i) {
    all.insert("p" + std::to_string(i), parameters[i]);
  }
  return all;
}

void take_step(Optimizer& optimizer, const std::string& name,
               const std::vector<Tensor>& parameters, int step, double sign) {
  if (name != "LBFGS") {
    for (size_t i = 0; i < parameters.size(); ++i) {
      parameters[i].mutable_grad() = gradient(i, parameters[i].detach(), step);
    }
    optimizer.step();
    return;
  }
  optimizer.step([&] {
    optimizer.zero_grad();
    Tensor loss = zeros({}, parameters[0].scalar_type());
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Tensor& p = parameters[i];
      const Tensor x = p - value(i, p.sizes(), p.scalar_type(), 50);
      loss = loss + (x * x * static_cast<double>(i + 1)).sum() +
             (x * x * x * x).sum() * 0.3;
    }
    loss = loss * sign;
    loss.backward();
    return loss;
  });
}

Tensor row(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> rows;
  for (const Tensor& p : parameters) rows.push_back(p.detach().reshape(-1));
  return cat(rows).to(kCPU);
}

Tensor row(const Optimizer& optimizer, const std::string& name,
           const std::vector<Tensor>& parameters) {
  if (name != "ASGD") return row(parameters);
  std::vector<Tensor> all = parameters;
  auto state = optimizer.state();
  for (const Tensor& p : parameters) all.push_back(state[p.impl()]["ax"]);
  return row(all);
}

void expect_near(const Tensor& got, const Tensor& expected, double tolerance,
                 const std::string& where) {
  ASSERT_EQ(got.sizes(), expected.sizes()) << where;
  const Tensor want = expected.to(kDouble);
  const Tensor off = ((got.to(kDouble) - want).abs() / (want.abs() + 1)).amax();
  // Also fails for NaN.
  EXPECT_TRUE(off.item<double>() <= tolerance)
      << where << " is off by " << off.item<double>() << "\n"
      << got << expected;
}

}  // namespace sy::test

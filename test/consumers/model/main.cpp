// Trains a model of another library, copies it, writes it and reads it again.
// Usage: model FOLDER
#include <sy/io.h>
#include <sy/nn.h>
#include <sy/optim.h>
#include <sy/sy.h>

#include <iostream>

#include "net/net.h"

namespace nn = sy::nn;
namespace optim = sy::optim;

namespace {

// An optimizer of the program's own: the sign of the gradient.
class SignDescent : public optim::Optimizer {
 public:
  explicit SignDescent(std::vector<sy::Tensor> parameters)
      : Optimizer(std::move(parameters),
                  std::make_unique<optim::SGDOptions>(1e-3)) {}
  sy::Tensor step(LossClosure closure = nullptr) override {
    const sy::Tensor loss = closure ? closure() : sy::Tensor();
    const sy::NoGradGuard no_grad;
    for (optim::OptimizerParamGroup& g : param_groups()) {
      for (sy::Tensor& p : g.params()) {
        if (p.grad().defined()) p.sub_(p.grad().sign(), g.options().get_lr());
      }
    }
    return loss;
  }
};

template <class Optimizer>
float train(nn::Sequential net, Optimizer& optimizer, const sy::Tensor& x,
            const sy::Tensor& y, int steps) {
  net->train();
  float last = 0;
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    const sy::Tensor loss = sy::cross_entropy_loss(net(x), y);
    loss.backward();
    nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    optimizer.step();
    last = loss.item<float>();
  }
  net->eval();
  return last;
}

void say(const char* what, bool holds) {
  std::cout << what << ": " << (holds ? "yes" : "no") << "\n";
}

}  // namespace

int main(int, char** argv) try {
  const std::string folder = argv[1];
  sy::manual_seed(1);
  const sy::Tensor x = sy::randn({64, 8}), y = sy::randint(4, {64}, sy::kLong);
  const nn::Sequential net = make_net(8, 32, 4);

  int calls = 0;
  auto hook = net->get_submodule("3")->register_forward_hook(
      [&](nn::Module&, sy::TensorList, std::vector<sy::Tensor>&) { ++calls; });
  optim::AdamW adamw(net->named_parameters(), optim::AdamWOptions(1e-2));
  optim::StepLR schedule(adamw, /*step_size=*/1, /*gamma=*/0.5);
  say("learns", train(net, adamw, x, y, 60) < 0.3);
  schedule.step();
  say("the schedule halves the rate",
      adamw.param_groups()[0].options().get_lr() == 0.5e-2);
  hook.remove();
  train(net, adamw, x, y, 1);
  say("the hook saw each step and no more", calls == 60);

  const sy::Tensor expected = net(x);
  const auto copy = std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone());
  say("a copy has the type and the numbers",
      copy != nullptr && copy->ptr<ResidualImpl>(3) != nullptr &&
          sy::equal(copy->forward(x), expected));
  SignDescent own(copy->parameters());
  const float before = train(nn::Sequential(copy), own, x, y, 1);
  say("an optimizer of its own goes on",
      train(nn::Sequential(copy), own, x, y, 20) < before);
  say("the copy is no part of it", sy::equal(net(x), expected));

  sy::save(net, folder + "/net.pt");
  sy::save_safetensors(folder + "/net.safetensors", net->state_dict());
  sy::save(adamw, folder + "/adamw.pt");
  nn::Sequential again = make_net(8, 32, 4), third = make_net(8, 32, 4);
  sy::load(again, folder + "/net.pt");
  third->load_state_dict(sy::load_safetensors(folder + "/net.safetensors"));
  again->eval();
  third->eval();
  say("the archive has all of it", sy::equal(again(x), expected));
  say("so has the state dict", sy::equal(third(x), expected));
  optim::AdamW adamw2(again->named_parameters(), optim::AdamWOptions(1));
  sy::load(adamw2, folder + "/adamw.pt");
  sy::manual_seed(2);
  train(net, adamw, x, y, 3);
  sy::manual_seed(2);
  train(again, adamw2, x, y, 3);
  say("training goes on from the files", sy::equal(net(x), again(x)));

  try {
    make_net(8, 16, 4)->load_state_dict(net->state_dict());
  } catch (const sy::ValueError& e) {
    std::cout << e.what() << "\n";
  }
  try {
    net(sy::randn({2, 7}));
  } catch (const sy::Error& e) {
    std::cout << e.what() << "\n";
  }
} catch (const std::exception& e) {
  std::cerr << e.what() << "\n";
  return 1;
}

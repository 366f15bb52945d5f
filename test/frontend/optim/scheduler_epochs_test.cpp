#include <cmath>
#include <numbers>

#include "test/frontend/optim/trajectory.h"

// Schedulers beside their closed forms: alone, in sequences of sequences, one
// upon the other, and made anew with last_epoch at each epoch. Varies the
// scheduler, where it begins, what stands around it, the epoch that it goes on
// from, and whether the optimizer was saved before or after the step to it.
// Never varies base_lr and the number of groups, nor schedulers by hand beside
// another; of schedulers one upon the other, a sequence is the first.

namespace sy::test {
namespace {

using namespace optim;

constexpr double kBase = 0.1, kPi = std::numbers::pi;
constexpr int kEpochs = 24;

using Made = std::shared_ptr<LRScheduler>;
using Make = std::function<Made(Optimizer&, int64_t last_epoch)>;

struct Form {
  std::string name;
  Make make;
  // The learning rate of an epoch.
  std::function<double(int64_t)> lr;
  // Whether it multiplies the learning rates of others.
  bool chains = true;
};

struct Training {
  Tensor w = zeros({1}).requires_grad_();
  SGD o{std::vector<Tensor>{w}, SGDOptions(kBase).momentum(0.9)};
  double lr() { return o.param_groups()[0].options().get_lr(); }
};

template <class S, class... A>
Make make(A... args) {
  return [=](Optimizer& o, int64_t last) -> Made {
    return std::make_shared<S>(o, args..., last);
  };
}

double restarts(int64_t epoch, int64_t first, int64_t times, double least) {
  int64_t length = first;
  for (; epoch >= length; length *= times) epoch -= length;
  const double way = static_cast<double>(epoch) / static_cast<double>(length);
  return least + (kBase - least) * (1 + std::cos(kPi * way)) / 2;
}

Form constant(double factor, int64_t iters) {
  return {str("ConstantLR {} {}", factor, iters),
          make<ConstantLR>(factor, iters),
          [=](int64_t e) { return e < iters ? factor * kBase : kBase; }};
}
Form exponential() {
  return {"ExponentialLR", make<ExponentialLR>(0.9), [](int64_t e) {
            return kBase * std::pow(0.9, static_cast<double>(e));
          }};
}

std::vector<Form> forms() {
  const auto lambda = [](int64_t e) {
    return 1 / (1 + static_cast<double>(e));
  };
  const auto factor = [](int64_t e) { return e % 3 == 0 ? 0.5 : 1.25; };
  return {
      constant(0.5, 2),
      constant(0.25, 7),
      constant(0, 2),
      constant(0, 5),
      constant(0.5, 0),
      exponential(),
      {"StepLR", make<StepLR>(2, 0.5),
       [](int64_t e) { return kBase * std::pow(0.5, e / 2); }},
      {"StepLR to 0", make<StepLR>(5, 0.0),
       [](int64_t e) { return e < 5 ? kBase : 0; }},
      {"MultiStepLR", make<MultiStepLR>(std::vector<int64_t>{2, 3, 3, 9}, 0.5),
       [](int64_t e) {
         return kBase * std::pow(0.5, (e >= 2) + 2 * int(e >= 3) + int(e >= 9));
       }},
      {"LinearLR", make<LinearLR>(0.1, 1.0, 4),
       [](int64_t e) { return kBase * (0.1 + 0.9 * std::min(1.0, e / 4.0)); }},
      {"LinearLR to 0", make<LinearLR>(1.0, 0.0, 5),
       [](int64_t e) { return kBase * std::max(0.0, 1 - e / 5.0); }},
      {"PolynomialLR", make<PolynomialLR>(int64_t{6}, 2.0),
       [](int64_t e) {
         return kBase * std::pow(std::max(0.0, 1 - e / 6.0), 2);
       }},
      {"CosineAnnealingLR", make<CosineAnnealingLR>(int64_t{5}, 0.0),
       [](int64_t e) { return kBase * (1 + std::cos(kPi * e / 5.0)) / 2; },
       false},  // at 0 it takes its own way back
      {"CosineAnnealingLR to 0.02", make<CosineAnnealingLR>(int64_t{5}, 0.02),
       [](int64_t e) {
         return 0.02 + (kBase - 0.02) * (1 + std::cos(kPi * e / 5.0)) / 2;
       },
       false},
      {"MultiplicativeLR", make<MultiplicativeLR>(LRLambda(factor)),
       [=](int64_t e) {
         double lr = kBase;
         for (int64_t k = 1; k <= e; ++k) lr *= factor(k);
         return lr;
       }},
      {"LambdaLR", make<LambdaLR>(LRLambda(lambda)),
       [=](int64_t e) { return kBase * lambda(e); }, false},
      {"CosineAnnealingWarmRestarts",
       make<CosineAnnealingWarmRestarts>(int64_t{2}, int64_t{2}, 0.01),
       [](int64_t e) { return restarts(e, 2, 2, 0.01); }, false},
      {"CosineAnnealingWarmRestarts 1 3",
       make<CosineAnnealingWarmRestarts>(int64_t{1}, int64_t{3}, 0.0),
       [](int64_t e) { return restarts(e, 1, 3, 0); }, false},
      {"CyclicLR",
       [](Optimizer& o, int64_t last) -> Made {
         return std::make_shared<CyclicLR>(
             o, 0.1, 0.5,
             CyclicLROptions{.step_size_up = 4, .last_epoch = last});
       },
       [](int64_t e) {
         return 0.1 + 0.4 * (1 - std::abs(static_cast<double>(e % 8) / 4 - 1));
       },
       false},
  };
}

void expect_lrs(Training& run, LRScheduler& s, const std::string& name,
                const std::function<double(int64_t)>& lr, int64_t first = 0) {
  for (int64_t e = first; e < kEpochs; ++e) {
    ASSERT_NEAR(run.lr(), lr(e), 1e-12)
        << name << " at epoch " << e << ", from " << first;
    ASSERT_EQ(s.get_last_lr()[0], run.lr()) << name << " at epoch " << e;
    s.step();
  }
}

// Alone, and made anew after `n` steps of an optimizer that was saved then, or
// before the last of them.
void expect_form(const Form& form) {
  Training run;
  expect_lrs(run, *form.make(run.o, -1), form.name, form.lr);
  for (const bool before : {false, true}) {
    for (int64_t n = 1; n < kEpochs; ++n) {
      Training first, again;
      const Made s = form.make(first.o, -1);
      for (int64_t k = 0; k < n - (before ? 1 : 0); ++k) s->step();
      again.o.load_state_dict(first.o.state_dict());
      expect_lrs(again, *form.make(again.o, n - 1),
                 form.name + (before ? ", saved before" : ", saved after"),
                 form.lr, n);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// first, and second from epoch `at` on.
Form sequence(const Form& first, const Form& second, int64_t at) {
  return {str("({} until {}, then {})", first.name, at, second.name),
          [=](Optimizer& o, int64_t last) -> Made {
            const LRSchedulers parts = {first.make(o, -1), second.make(o, -1)};
            return std::make_shared<SequentialLR>(
                o, parts, std::vector<int64_t>{at}, last);
          },
          [=](int64_t e) { return e < at ? first.lr(e) : second.lr(e - at); }};
}

Form alone(const Form& form) {
  return {str("(only {})", form.name),
          [=](Optimizer& o, int64_t last) -> Made {
            return std::make_shared<SequentialLR>(
                o, LRSchedulers{form.make(o, -1)}, std::vector<int64_t>{},
                last);
          },
          form.lr};
}

Form both(const Form& first, const Form& second) {
  return {str("({} times {})", first.name, second.name),
          [=](Optimizer& o, int64_t last) -> Made {
            return std::make_shared<ChainedScheduler>(
                LRSchedulers{first.make(o, last), second.make(o, last)});
          },
          [=](int64_t e) { return first.lr(e) * second.lr(e) / kBase; }};
}

Form linear() { return forms()[9]; }

TEST(SchedulerEpochs, AloneAreTheirClosedForms) {
  for (const Form& f : forms()) expect_form(f);
}

TEST(SchedulerEpochs, InSequences) {
  for (const Form& f : forms()) {
    for (const int64_t at : {1, 3, 6}) {
      expect_form(sequence(linear(), f, at));
      expect_form(sequence(f, exponential(), at));
    }
    expect_form(alone(f));
  }
}

TEST(SchedulerEpochs, InSequencesOfSequences) {
  for (const Form& f : forms()) {
    expect_form(alone(alone(f)));
    expect_form(sequence(linear(), sequence(f, exponential(), 2), 3));
    expect_form(sequence(sequence(linear(), f, 2), exponential(), 7));
    expect_form(sequence(linear(), alone(alone(f)), 4));
  }
}

TEST(SchedulerEpochs, OneUponTheOther) {
  for (const Form& f : forms()) {
    if (!f.chains) continue;
    expect_form(both(f, exponential()));
    expect_form(both(exponential(), f));
    expect_form(both(both(f, exponential()), linear()));
    expect_form(sequence(linear(), both(constant(0.5, 2), f), 3));
    expect_form(alone(both(constant(0, 4), f)));
  }
}

TEST(SchedulerEpochs, SequencesUponAnother) {
  for (const Form& f : forms()) {
    if (!f.chains) continue;
    expect_form(both(sequence(linear(), f, 3), exponential()));
  }
}

// SWALR begins at the learning rate of now, so it has no closed form.
TEST(SchedulerEpochs, OfWeightAveragingBeginWhereTheyAre) {
  for (const int64_t epochs : {0, 4}) {
    const Form swa{"SWALR", make<SWALR>(0.02, epochs, std::string("linear")),
                   [=](int64_t e) {
                     const double t =
                         epochs == 0
                             ? 1
                             : std::min(1.0, static_cast<double>(e) /
                                                 static_cast<double>(epochs));
                     return 0.02 * t + kBase * (1 - t);
                   }};
    Training run;
    expect_lrs(run, *swa.make(run.o, -1), swa.name, swa.lr);
    for (int64_t n = 1; n < kEpochs; ++n) {
      Training first, again;
      const Made s = swa.make(first.o, -1);
      for (int64_t k = 0; k < n; ++k) s->step();
      again.o.load_state_dict(first.o.state_dict());
      expect_lrs(again, *swa.make(again.o, n - 1), swa.name, swa.lr, n);
    }
  }
  Form swa{"SWALR", make<SWALR>(0.02, int64_t{4}, std::string("linear")),
           [](int64_t e) {
             const double t = std::min(1.0, static_cast<double>(e) / 4);
             return 0.02 * t + kBase * std::pow(0.9, 4.0) * (1 - t);
           }};
  expect_form(sequence(exponential(), swa, 5));
}

}  // namespace
}  // namespace sy::test

#include <gtest/gtest.h>
#include <sy/nn.h>
#include <sy/optim.h>
#include <sy/sy.h>

#include "test/c10/expect_error.h"
#include "test/frontend/nn/recorded.h"

namespace sy::test {
namespace {

namespace parametrize = nn::utils::parametrize;
using nn::utils::orthogonal;

constexpr const char* kMaps[] = {"matrix_exp", "cayley", "householder"};
constexpr const char* kOriginal = "parametrizations.weight.original";
constexpr const char* kBase = "parametrizations.weight.0.base";

// Over the shorter of the last two dims.
void expect_orthonormal(const Tensor& weight) {
  const Tensor w = weight.detach();
  const Tensor tall = w.size(-2) < w.size(-1) ? w.mT() : w;
  const Tensor products = matmul(tall.mT(), tall);
  const Tensor one = eye(products.size(-1), products.options());
  EXPECT_TRUE(allclose(products, one.expand_as(products), 1e-5, 1e-5))
      << products;
}

struct MatrixImpl : nn::Module {
  explicit MatrixImpl(const Tensor& w) {
    weight = register_parameter("weight", w.detach().clone());
  }
  Tensor forward(const Tensor& x) { return matmul(x, weight); }
  nn::Parameter weight;
};
SY_MODULE(Matrix);

NnCase first_value(const char* map, bool use_trivialization) {
  return function_case([=](const std::vector<Tensor>& in) {
    const Matrix m(in[0]);
    orthogonal(*m, "weight", map, use_trivialization);
    return m->weight.detach();
  });
}

template <class Holder>
NnCase layer(Holder (*make)(), const char* map, bool use_trivialization) {
  return {[=]() -> std::shared_ptr<nn::Module> {
            const Holder m = make();
            orthogonal(*m, "weight", map, use_trivialization);
            return m.ptr();
          },
          [](nn::Module* m, const std::vector<Tensor>& in) {
            auto& layer = *m->as<Holder>();
            if constexpr (std::is_same_v<Holder, nn::Bilinear>) {
              return std::vector<Tensor>{nn::call_module(layer, in[0], in[1])};
            } else {
              return std::vector<Tensor>{nn::call_module(layer, in[0])};
            }
          }};
}

nn::Linear tall() { return nn::Linear(nn::LinearOptions(2, 4).bias(false)); }
nn::Linear wide() { return nn::Linear(nn::LinearOptions(4, 2).bias(false)); }

TEST(Orthogonal, GivesWhatPyTorchGives) {
  NnCases cases{
      {"first_square", first_value("", true)},
      {"first_tall", first_value("", true)},
      {"first_wide", first_value("", true)},
      {"first_kept", first_value("", true)},
      {"first_reflections", first_value("", false)},
      {"first_reflections_square", first_value("householder", false)},
      {"first_rotation", first_value("cayley", false)},
      {"default", layer(
                      +[] { return nn::Linear(3, 3); }, "", true)},
      {"default_batch", layer(
                            +[] {
                              return nn::Bilinear(
                                  nn::BilinearOptions(2, 3, 2).bias(false));
                            },
                            "", true)},
  };
  for (const char* const map : kMaps) {
    cases[std::string(map) + "_tall"] = layer(&tall, map, true);
    cases[std::string(map) + "_wide"] = layer(&wide, map, false);
  }
  check_recorded("orthogonal.safetensors", cases);
}

TEST(Orthogonal, AnOrthogonalMatrixStaysAsItIs) {
  const Tensor q = get<0>(linalg_qr(randn({4, 4})));
  for (const char* const map : kMaps) {
    const Matrix m(q);
    orthogonal(*m, "weight", map);
    EXPECT_TRUE(equal(m->weight, q));
  }
}

TEST(Orthogonal, StaysSoWhileItIsTrained) {
  manual_seed(0);
  for (const char* const map : kMaps) {
    for (const bool use_trivialization : {true, false}) {
      SCOPED_TRACE(std::string(map) + (use_trivialization ? "" : " alone"));
      nn::Linear net(3, 5);
      orthogonal(*net, "weight", map, use_trivialization);
      const Tensor x = randn({16, 3});
      Tensor target = randn({5, 3});
      target = x.mm(get<0>(linalg_qr(target)).t());
      // The decay moves the diagonal, which has no gradient.
      optim::AdamW adam(net->parameters(),
                        optim::AdamWOptions(0.05).weight_decay(0.1));
      double first = 0, last = 0;
      for (int i = 0; i < 40; ++i) {
        const Tensor loss = mse_loss(net(x), target);
        adam.zero_grad();
        loss.backward();
        adam.step();
        last = loss.item<double>();
        if (i == 0) first = last;
      }
      parametrize::refresh(*net);
      expect_orthonormal(net->weight);
      EXPECT_LT(last, first * 0.5);
    }
  }
}

TEST(Orthogonal, BatchesAndMatricesOfLessThanFullRank) {
  const Matrix batch(randn({2, 3, 5}, kDouble));
  orthogonal(*batch);
  EXPECT_EQ(batch->get_buffer(kBase).sizes(), IntArrayRef({2, 5, 5}));
  expect_orthonormal(batch->weight);
  for (const char* const map : kMaps) {
    for (const bool use_trivialization : {true, false}) {
      const Matrix none(zeros({3, 3}));
      orthogonal(*none, "weight", map, use_trivialization);
      expect_orthonormal(none->weight);
    }
  }
}

TEST(Orthogonal, HasPyTorchsNamesAndGoesAlong) {
  nn::Linear layer(3, 5);
  orthogonal(*layer);
  EXPECT_EQ(layer->state_dict().size(), 3u);
  EXPECT_TRUE(layer->state_dict().contains(kOriginal));
  EXPECT_EQ(layer->state_dict()[kBase].sizes(), IntArrayRef({5, 5}));
  const nn::Linear copy = nn::clone(layer.ptr());
  EXPECT_FALSE(copy->get_buffer(kBase).is_alias_of(layer->get_buffer(kBase)));
  const Tensor x = randn({2, 3});
  EXPECT_TRUE(equal(copy(x), layer(x)));

  nn::Linear other(3, 5);
  orthogonal(*other);
  EXPECT_FALSE(allclose(other->weight, layer->weight));
  other->load_state_dict(layer->state_dict());
  EXPECT_TRUE(equal(other(x), layer(x)));

  layer->to(kDouble);
  EXPECT_EQ(layer(x.to(kDouble)).scalar_type(), kDouble);
  const Tensor value = layer->weight.detach().clone();
  parametrize::remove_parametrizations(*layer, "weight");
  EXPECT_TRUE(allclose(layer->weight, value));
  EXPECT_EQ(layer->state_dict().size(), 2u);

  nn::Linear alone(3, 3);
  orthogonal(*alone, "weight", "cayley", /*use_trivialization=*/false);
  EXPECT_EQ(alone->state_dict().size(), 2u);
}

struct Doubled : parametrize::Parametrization {
  Tensor compute(TensorList x) override { return x[0] * 2; }
  std::vector<Tensor> right_inverse(const Tensor& value) override {
    return {value / 2};
  }
};

TEST(Orthogonal, ComesAfterOthersAndBeforeThem) {
  nn::Linear layer(4, 4);
  parametrize::register_parametrization(*layer, "weight",
                                        std::make_shared<Doubled>());
  orthogonal(*layer);
  expect_orthonormal(layer->weight);
  parametrize::register_parametrization(*layer, "weight",
                                        std::make_shared<Doubled>());
  expect_orthonormal(layer->weight / 2);
}

TEST(Orthogonal, AFailedParametrizationAfterItChangesNothing) {
  struct Wrong : parametrize::Parametrization {
    Tensor compute(TensorList x) override { return x[0].sum(0); }
  };
  nn::Linear layer(3, 3);
  orthogonal(*layer);
  {
    const NoGradGuard no_grad;
    layer->get_parameter(kOriginal).normal_();
  }
  parametrize::refresh(*layer);
  const Tensor before = layer->weight.detach().clone();
  SY_EXPECT_ERROR(parametrize::register_parametrization(
                      *layer, "weight", std::make_shared<Wrong>()),
                  ValueError, "Wrong: expected a result of float32 [3, 3]");
  parametrize::refresh(*layer);
  EXPECT_TRUE(equal(layer->weight, before));
}

TEST(Orthogonal, NamesWhatDoesNotFit) {
  nn::Linear layer(3, 3);
  SY_EXPECT_ERROR(orthogonal(*layer, "weight", "qr"), ValueError,
                  "[orthogonal] orthogonal_map: expected matrix_exp, cayley or "
                  "householder, got 'qr'");
  SY_EXPECT_ERROR(orthogonal(*layer, "bias"), ValueError,
                  "[orthogonal] 'bias': expected a matrix or a batch of "
                  "matrices, got sizes [3]");
  SY_EXPECT_ERROR(orthogonal(*layer, "w"), ValueError,
                  "Linear has no parameter 'w'");
  SY_EXPECT_ERROR(orthogonal(*tall(), "bias"), ValueError,
                  "'bias': expected a matrix or a batch of matrices, got none");
  layer->half();
  SY_EXPECT_ERROR(orthogonal(*layer), TypeError,
                  "'weight': expected float32 or float64, got float16");
  EXPECT_FALSE(parametrize::is_parametrized(*layer));
  nn::Linear other(3, 3);
  orthogonal(*other);
  auto* const p = other->get_submodule("parametrizations.weight.0")
                      ->as<parametrize::Parametrization>();
  SY_EXPECT_ERROR(p->right_inverse(ones({2, 3})), ValueError,
                  "expected a value of sizes [3, 3], got [2, 3]");
}

}  // namespace
}  // namespace sy::test

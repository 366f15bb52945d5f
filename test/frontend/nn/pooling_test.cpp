#include "frontend/nn/modules/pooling.h"

#include <gtest/gtest.h>

#include "frontend/nn/functional/pooling.h"
#include "sy/sy.h"
#include "test/frontend/nn/recorded.h"
#include "test/frontend/nn/text.h"

namespace sy::nn {
namespace {

namespace F = functional;
using test::function_case;
using test::module_case;
using test::NnCase;
using test::NnCases;
using test::printed;
using test::value_error;
using In = const std::vector<Tensor>&;
using Sizes = std::vector<int64_t>;

std::vector<Tensor> list_of(const std::tuple<Tensor, Tensor>& t) {
  return {std::get<0>(t), std::get<1>(t)};
}

template <class Holder>
NnCase indices_case(Holder (*make)()) {
  return {[make] { return make().ptr(); },
          [](Module* m, In x) {
            return list_of(m->as<Holder>()->forward_with_indices(x[0]));
          }};
}

// The options that the records of D dimensions have.
template <size_t D>
struct Given;
template <>
struct Given<1> {
  static AvgPool1dOptions avg() {
    return AvgPool1dOptions(3)
        .stride(2)
        .padding(1)
        .ceil_mode(true)
        .count_include_pad(false);
  }
  static MaxPool1dOptions max() {
    return MaxPool1dOptions(3).stride(2).padding(1).dilation(2).ceil_mode(true);
  }
  static LPPool1dOptions lp() {
    return LPPool1dOptions(3, 3).stride(2).ceil_mode(true);
  }
  static MaxUnpool1dOptions unpool() {
    return MaxUnpool1dOptions(3).stride(2).padding(1);
  }
  static ExpandingArray<1> size() { return 3; }
};
template <>
struct Given<2> {
  static AvgPool2dOptions avg() {
    return AvgPool2dOptions({3, 2})
        .stride({2, 1})
        .padding({1, 0})
        .ceil_mode(true)
        .count_include_pad(false);
  }
  static MaxPool2dOptions max() {
    return MaxPool2dOptions({3, 2})
        .stride({2, 1})
        .padding({1, 0})
        .dilation({2, 1})
        .ceil_mode(true);
  }
  static LPPool2dOptions lp() {
    return LPPool2dOptions(3, {3, 2}).stride({2, 1}).ceil_mode(true);
  }
  static MaxUnpool2dOptions unpool() {
    return MaxUnpool2dOptions({3, 2}).stride({2, 1}).padding({1, 0});
  }
  static ExpandingArrayWithOptionalElem<2> size() { return {std::nullopt, 3}; }
};
template <>
struct Given<3> {
  static AvgPool3dOptions avg() {
    return AvgPool3dOptions({2, 3, 2})
        .stride({1, 2, 2})
        .padding({0, 1, 1})
        .ceil_mode(true)
        .count_include_pad(false);
  }
  static MaxPool3dOptions max() {
    return MaxPool3dOptions({2, 3, 2})
        .stride({1, 2, 2})
        .padding({0, 1, 1})
        .dilation({1, 1, 2})
        .ceil_mode(true);
  }
  static LPPool3dOptions lp() {
    return LPPool3dOptions(3, {2, 3, 2}).stride({1, 2, 2}).ceil_mode(true);
  }
  static MaxUnpool3dOptions unpool() {
    return MaxUnpool3dOptions({2, 3, 2}).stride({1, 2, 2}).padding({0, 1, 1});
  }
  static ExpandingArrayWithOptionalElem<3> size() {
    return {2, std::nullopt, 3};
  }
};

template <size_t D, class Avg, class Max, class AdaptiveAvg, class AdaptiveMax,
          class LP, class Unpool>
NnCases of_dims(const Sizes& input) {
  const std::string d = std::to_string(D) + "d";
  using G = Given<D>;
  const auto unpooled = [input](bool options, size_t dims) -> NnCase {
    return {
        [options] { return (options ? Unpool(G::unpool()) : Unpool(2)).ptr(); },
        [input, dims](Module* m, In x) {
          const Sizes size(input.end() - static_cast<int64_t>(dims),
                           input.end());
          return std::vector<Tensor>{
              m->as<Unpool>()->forward(x[0], x[1], size)};
        }};
  };
  NnCases all{
      {"AvgPool" + d, module_case(+[] { return Avg(2); })},
      {"AvgPool" + d + "_options", module_case(+[] { return Avg(G::avg()); })},
      {"MaxPool" + d, module_case(+[] { return Max(2); })},
      {"MaxPool" + d + "_options", module_case(+[] { return Max(G::max()); })},
      {"MaxPool" + d + "_indices", indices_case(+[] { return Max(G::max()); })},
      {"AdaptiveAvgPool" + d,
       module_case(+[] { return AdaptiveAvg(G::size()); })},
      {"AdaptiveMaxPool" + d,
       module_case(+[] { return AdaptiveMax(G::size()); })},
      {"AdaptiveMaxPool" + d + "_indices",
       indices_case(+[] { return AdaptiveMax(2); })},
      {"LPPool" + d, module_case(+[] { return LP(2, 2); })},
      {"LPPool" + d + "_options", module_case(+[] { return LP(G::lp()); })},
      {"MaxUnpool" + d, module_case(+[] { return Unpool(2); })},
      {"MaxUnpool" + d + "_size", unpooled(false, D)}};
  if constexpr (D == 1) {
    all["MaxUnpool1d_options"] =
        module_case(+[] { return Unpool(G::unpool()); });
  } else {
    all["MaxUnpool" + d + "_options"] = unpooled(true, D + 2);
    all["AvgPool" + d + "_divisor"] = module_case(+[] {
      return Avg(AvgPoolOptions<D>(2).padding(1).divisor_override(5));
    });
  }
  return all;
}

template <size_t D, class Pool>
NnCases fractional(ExpandingArray<D> size, ExpandingArray<D, double> ratio,
                   ExpandingArray<D> kernel) {
  const auto make = [](FractionalMaxPoolOptions<D> o, int64_t channels) {
    return Pool(
               o._random_samples(zeros({1, channels, static_cast<int64_t>(D)})))
        .ptr();
  };
  const int64_t channels = D == 2 ? 2 : 1;
  const std::string name = "FractionalMaxPool" + std::to_string(D) + "d";
  return {{name + "_size",
           {[=] {
              return make(FractionalMaxPoolOptions<D>(2).output_size(size),
                          channels);
            },
            [](Module* m, In x) {
              return std::vector<Tensor>{m->as<Pool>()->forward(x[0])};
            }}},
          {name + "_ratio",
           {[=] {
              return make(
                  FractionalMaxPoolOptions<D>(kernel).output_ratio(ratio),
                  channels);
            },
            [](Module* m, In x) {
              return list_of(m->as<Pool>()->forward_with_indices(x[0]));
            }}}};
}

TEST(Pooling, GivesWhatPyTorchGives) {
  NnCases all{{"AvgPool1d_divisor", function_case([](In x) {
                 return AvgPool1d(Given<1>::avg().divisor_override(5))(x[0]);
               })}};
  all.merge(of_dims<1, AvgPool1d, MaxPool1d, AdaptiveAvgPool1d,
                    AdaptiveMaxPool1d, LPPool1d, MaxUnpool1d>({2, 8}));
  all.merge(of_dims<2, AvgPool2d, MaxPool2d, AdaptiveAvgPool2d,
                    AdaptiveMaxPool2d, LPPool2d, MaxUnpool2d>({1, 2, 6, 4}));
  all.merge(of_dims<3, AvgPool3d, MaxPool3d, AdaptiveAvgPool3d,
                    AdaptiveMaxPool3d, LPPool3d, MaxUnpool3d>({1, 1, 3, 4, 5}));
  all.merge(fractional<2, FractionalMaxPool2d>({3, 2}, {0.7, 0.5}, {2, 1}));
  all.merge(fractional<3, FractionalMaxPool3d>({1, 2, 3}, {0.7, 0.6, 0.5},
                                               {1, 2, 2}));
  test::check_recorded("pooling.safetensors", all);
}

// The functions give what the modules give.
template <class Options, class Holder>
void expect_same(Tensor (*f)(const Tensor&, const Options&), const Options& o,
                 const Tensor& x) {
  EXPECT_TRUE(equal(f(x, o), Holder(o)(x)));
}
template <class Options, class Holder>
void expect_same_indices(std::tuple<Tensor, Tensor> (*f)(const Tensor&,
                                                         const Options&),
                         const Options& o, const Tensor& x) {
  const auto [y, places] = f(x, o);
  const auto [want, want_places] = Holder(o)->forward_with_indices(x);
  EXPECT_TRUE(equal(y, want));
  EXPECT_TRUE(equal(places, want_places));
}

TEST(Pooling, FunctionsGiveWhatModulesGive) {
  const Tensor x1 = randn({2, 2, 7}), x2 = randn({2, 2, 5, 4}),
               x3 = randn({2, 1, 3, 4, 5});
  const auto avg1 = Given<1>::avg();
  const auto avg2 = Given<2>::avg();
  const auto avg3 = Given<3>::avg();
  expect_same<AvgPool1dOptions, AvgPool1d>(F::avg_pool1d, avg1, x1);
  expect_same<AvgPool2dOptions, AvgPool2d>(F::avg_pool2d, avg2, x2);
  expect_same<AvgPool3dOptions, AvgPool3d>(F::avg_pool3d, avg3, x3);
  const auto max1 = Given<1>::max();
  const auto max2 = Given<2>::max();
  const auto max3 = Given<3>::max();
  expect_same<MaxPool1dOptions, MaxPool1d>(F::max_pool1d, max1, x1);
  expect_same<MaxPool2dOptions, MaxPool2d>(F::max_pool2d, max2, x2);
  expect_same<MaxPool3dOptions, MaxPool3d>(F::max_pool3d, max3, x3);
  expect_same_indices<MaxPool1dOptions, MaxPool1d>(F::max_pool1d_with_indices,
                                                   max1, x1);
  expect_same_indices<MaxPool2dOptions, MaxPool2d>(F::max_pool2d_with_indices,
                                                   max2, x2);
  expect_same_indices<MaxPool3dOptions, MaxPool3d>(F::max_pool3d_with_indices,
                                                   max3, x3);
  expect_same<LPPool1dOptions, LPPool1d>(F::lp_pool1d, Given<1>::lp(),
                                         x1.abs());
  expect_same<LPPool2dOptions, LPPool2d>(F::lp_pool2d, Given<2>::lp(),
                                         x2.abs());
  expect_same<LPPool3dOptions, LPPool3d>(F::lp_pool3d, Given<3>::lp(),
                                         x3.abs());
}

TEST(Pooling, AdaptiveFunctionsGiveWhatModulesGive) {
  const Tensor x1 = randn({2, 2, 7}), x2 = randn({2, 2, 5, 4}),
               x3 = randn({2, 1, 3, 4, 5});
  using A1 = AdaptiveAvgPool1dOptions;
  using A2 = AdaptiveAvgPool2dOptions;
  using A3 = AdaptiveAvgPool3dOptions;
  expect_same<A1, AdaptiveAvgPool1d>(F::adaptive_avg_pool1d, A1(3), x1);
  expect_same<A2, AdaptiveAvgPool2d>(F::adaptive_avg_pool2d,
                                     A2({std::nullopt, 3}), x2);
  expect_same<A3, AdaptiveAvgPool3d>(F::adaptive_avg_pool3d,
                                     A3({2, std::nullopt, 3}), x3);
  using M1 = AdaptiveMaxPool1dOptions;
  using M2 = AdaptiveMaxPool2dOptions;
  using M3 = AdaptiveMaxPool3dOptions;
  const M1 m1(3);
  const M2 m2({std::nullopt, 3});
  const M3 m3({2, std::nullopt, 3});
  expect_same<M1, AdaptiveMaxPool1d>(F::adaptive_max_pool1d, m1, x1);
  expect_same<M2, AdaptiveMaxPool2d>(F::adaptive_max_pool2d, m2, x2);
  expect_same<M3, AdaptiveMaxPool3d>(F::adaptive_max_pool3d, m3, x3);
  expect_same_indices<M1, AdaptiveMaxPool1d>(
      F::adaptive_max_pool1d_with_indices, m1, x1);
  expect_same_indices<M2, AdaptiveMaxPool2d>(
      F::adaptive_max_pool2d_with_indices, m2, x2);
  expect_same_indices<M3, AdaptiveMaxPool3d>(
      F::adaptive_max_pool3d_with_indices, m3, x3);
}

TEST(Pooling, UnpoolFunctionsGiveWhatModulesGive) {
  const auto [y1, i1] =
      MaxPool1d(MaxPool1dOptions(2))->forward_with_indices(randn({2, 7}));
  EXPECT_TRUE(
      equal(F::max_unpool1d(y1, i1,
                            F::MaxUnpool1dFuncOptions(2).output_size(Sizes{7})),
            MaxUnpool1d(2)->forward(y1, i1, Sizes{7})));
  const auto [y2, i2] = MaxPool2d(MaxPool2dOptions(3).stride(2).padding(1))
                            ->forward_with_indices(randn({1, 5, 7}));
  EXPECT_TRUE(
      equal(F::max_unpool2d(y2, i2,
                            F::MaxUnpool2dFuncOptions(3).stride(2).padding(1)),
            MaxUnpool2d(MaxUnpool2dOptions(3).stride(2).padding(1))(y2, i2)));
  const auto [y3, i3] = MaxPool3d(2)->forward_with_indices(randn({1, 4, 4, 4}));
  EXPECT_TRUE(equal(F::max_unpool3d(y3, i3, F::MaxUnpool3dFuncOptions(2)),
                    MaxUnpool3d(2)(y3, i3)));
}

TEST(Pooling, FractionalPoolsDrawNewPlaces) {
  const Tensor x = randn({3, 4, 9, 9});
  const auto o = FractionalMaxPool2dOptions(2).output_size(4);
  manual_seed(7);
  const auto [y, places] = F::fractional_max_pool2d_with_indices(x, o);
  manual_seed(7);
  FractionalMaxPool2d m(o);
  EXPECT_TRUE(equal(F::fractional_max_pool2d(x, o), y));
  EXPECT_FALSE(equal(std::get<1>(m->forward_with_indices(x)), places));
  EXPECT_TRUE(equal(x.flatten(2).gather(2, places.flatten(2)), y.flatten(2)));
  EXPECT_TRUE(m->buffers().empty());

  const Tensor x3 = randn({1, 5, 5, 5});
  const auto o3 = FractionalMaxPool3dOptions(2)
                      .output_ratio(ExpandingArray<3, double>(0.5))
                      ._random_samples(rand({1, 1, 3}));
  const auto [y3, places3] = F::fractional_max_pool3d_with_indices(x3, o3);
  EXPECT_EQ(y3.sizes(), IntArrayRef({1, 2, 2, 2}));
  EXPECT_TRUE(equal(F::fractional_max_pool3d(x3, o3), y3));
  EXPECT_TRUE(equal(FractionalMaxPool3d(o3)(x3), y3));
}

TEST(Pooling, ClonesHaveTheirOwnSamples) {
  const Tensor x = randn({1, 2, 6, 6});
  FractionalMaxPool2d m(
      FractionalMaxPool2dOptions(2).output_size(3)._random_samples(
          rand({1, 2, 2})));
  const auto copy = clone(m.ptr());
  EXPECT_TRUE(equal(copy->forward(x), m(x)));
  EXPECT_FALSE(copy->_random_samples.is_same(m->_random_samples));
  EXPECT_TRUE(
      copy->get_buffer("_random_samples").is_same(copy->_random_samples));
}

TEST(Pooling, PrintsWhatPythonPrints) {
  EXPECT_EQ(printed(AvgPool1d(2)),
            "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))");
  EXPECT_EQ(printed(AvgPool2d(AvgPool2dOptions({3, 2}).stride(2))),
            "AvgPool2d(kernel_size=(3, 2), stride=2, padding=0)");
  EXPECT_EQ(printed(MaxPool2d(MaxPool2dOptions(3).stride(2).ceil_mode(true))),
            "MaxPool2d(kernel_size=3, stride=2, padding=0, dilation=1, "
            "ceil_mode=True)");
  EXPECT_EQ(printed(MaxUnpool2d(2)),
            "MaxUnpool2d(kernel_size=(2, 2), stride=(2, 2), padding=(0, 0))");
  EXPECT_EQ(printed(LPPool1d(1.5, 3)),
            "LPPool1d(norm_type=1.5, kernel_size=3, stride=3, "
            "ceil_mode=False)");
  EXPECT_EQ(printed(AdaptiveAvgPool2d(1)), "AdaptiveAvgPool2d(output_size=1)");
  EXPECT_EQ(
      printed(AdaptiveMaxPool2d(AdaptiveMaxPool2dOptions({std::nullopt, 5}))),
      "AdaptiveMaxPool2d(output_size=(None, 5))");
  EXPECT_EQ(printed(FractionalMaxPool2d(
                FractionalMaxPool2dOptions(2).output_size(3))),
            "FractionalMaxPool2d()");
}

TEST(Pooling, NamesWrongOptions) {
  EXPECT_EQ(value_error([] { FractionalMaxPool2d(2); }),
            "[FractionalMaxPool2d] expected one of output_size and "
            "output_ratio, got none");
  EXPECT_EQ(value_error([] {
              FractionalMaxPool3d(FractionalMaxPool3dOptions(2).output_ratio(
                  ExpandingArray<3, double>({0.5, 1.5, 0.5})));
            }),
            "[FractionalMaxPool3d] output_ratio: expected values between 0 "
            "and 1, got 1.5");
  const Tensor y = ones({1, 2, 2}), places = zeros({1, 2, 2}, kLong);
  EXPECT_EQ(value_error([&] {
              MaxUnpool2d(2)->forward(y, places, Sizes{4, 6});
            }),
            "[max_unpool2d] output_size: expected 3 to 5 in dimension 1, "
            "got 6");
  EXPECT_EQ(value_error([&] { MaxUnpool2d(2)->forward(y, places, Sizes{4}); }),
            "[max_unpool2d] output_size: expected 2 or 4 values, got [4]");
  EXPECT_EQ(value_error([] {
              AdaptiveAvgPool2d(1)->forward(ones({2, 2}));
            }),
            "[adaptive_avg_pool2d] input: expected 3 or 4 dimensions, got 2");
}

}  // namespace
}  // namespace sy::nn

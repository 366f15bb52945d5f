#pragma once

#include <cstdint>
#include <vector>

#include "frontend/nn/arg.h"
#include "frontend/nn/options/enums.h"
#include "frontend/nn/options/expanding_array.h"

// Paddings are pairs of numbers, for before and after, the last dimension
// first. Negative ones take away.

namespace sy::nn {

namespace detail {

template <size_t D, class Mode>
struct PadOptions {
  PadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}

  SY_ARG(ExpandingArray<D * 2>, padding);
};

}  // namespace detail

template <size_t D>
using ReflectionPadOptions = detail::PadOptions<D, enumtype::kReflect>;
using ReflectionPad1dOptions = ReflectionPadOptions<1>;
using ReflectionPad2dOptions = ReflectionPadOptions<2>;
using ReflectionPad3dOptions = ReflectionPadOptions<3>;

template <size_t D>
using ReplicationPadOptions = detail::PadOptions<D, enumtype::kReplicate>;
using ReplicationPad1dOptions = ReplicationPadOptions<1>;
using ReplicationPad2dOptions = ReplicationPadOptions<2>;
using ReplicationPad3dOptions = ReplicationPadOptions<3>;

template <size_t D>
using CircularPadOptions = detail::PadOptions<D, enumtype::kCircular>;
using CircularPad1dOptions = CircularPadOptions<1>;
using CircularPad2dOptions = CircularPadOptions<2>;
using CircularPad3dOptions = CircularPadOptions<3>;

template <size_t D>
using ZeroPadOptions = detail::PadOptions<D, enumtype::kConstant>;
using ZeroPad1dOptions = ZeroPadOptions<1>;
using ZeroPad2dOptions = ZeroPadOptions<2>;
using ZeroPad3dOptions = ZeroPadOptions<3>;

template <size_t D>
struct ConstantPadOptions {
  ConstantPadOptions(ExpandingArray<D * 2> padding, double value)
      : padding_(padding), value_(value) {}

  SY_ARG(ExpandingArray<D * 2>, padding);
  SY_ARG(double, value);
};
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ConstantPad3dOptions = ConstantPadOptions<3>;

namespace functional {

struct PadFuncOptions {
  using mode_t = enumtype::OneOf<enumtype::kConstant, enumtype::kReflect,
                                 enumtype::kReplicate, enumtype::kCircular>;
  PadFuncOptions(std::vector<int64_t> pad) : pad_(std::move(pad)) {}

  SY_ARG(std::vector<int64_t>, pad);
  SY_ARG(mode_t, mode) = kConstant;
  // The value that kConstant pads with.
  SY_ARG(double, value) = 0;
};

}  // namespace functional
}  // namespace sy::nn

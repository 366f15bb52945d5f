#pragma once

#include "frontend/nn/module.h"
#include "frontend/nn/options/padding.h"

namespace sy::nn {

namespace detail {

// Pads the last D dimensions by the words of Mode.
template <size_t D, class Mode>
class SY_API PadImpl : public Module {
 public:
  PadImpl(ExpandingArray<D * 2> padding)
      : PadImpl(PadOptions<D, Mode>(padding)) {}
  explicit PadImpl(const PadOptions<D, Mode>& options) : options(options) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  PadOptions<D, Mode> options;
};

extern template class PadImpl<1, enumtype::kReflect>;
extern template class PadImpl<2, enumtype::kReflect>;
extern template class PadImpl<3, enumtype::kReflect>;
extern template class PadImpl<1, enumtype::kReplicate>;
extern template class PadImpl<2, enumtype::kReplicate>;
extern template class PadImpl<3, enumtype::kReplicate>;
extern template class PadImpl<1, enumtype::kCircular>;
extern template class PadImpl<2, enumtype::kCircular>;
extern template class PadImpl<3, enumtype::kCircular>;
extern template class PadImpl<1, enumtype::kConstant>;
extern template class PadImpl<2, enumtype::kConstant>;
extern template class PadImpl<3, enumtype::kConstant>;

}  // namespace detail

// The values beside the ends, mirrored at them.
template <size_t D>
using ReflectionPadImpl = detail::PadImpl<D, enumtype::kReflect>;

class SY_API ReflectionPad1dImpl : public ReflectionPadImpl<1> {
 public:
  using ReflectionPadImpl<1>::PadImpl;
};
SY_MODULE(ReflectionPad1d);

class SY_API ReflectionPad2dImpl : public ReflectionPadImpl<2> {
 public:
  using ReflectionPadImpl<2>::PadImpl;
};
SY_MODULE(ReflectionPad2d);

class SY_API ReflectionPad3dImpl : public ReflectionPadImpl<3> {
 public:
  using ReflectionPadImpl<3>::PadImpl;
};
SY_MODULE(ReflectionPad3d);

// The values at the ends.
template <size_t D>
using ReplicationPadImpl = detail::PadImpl<D, enumtype::kReplicate>;

class SY_API ReplicationPad1dImpl : public ReplicationPadImpl<1> {
 public:
  using ReplicationPadImpl<1>::PadImpl;
};
SY_MODULE(ReplicationPad1d);

class SY_API ReplicationPad2dImpl : public ReplicationPadImpl<2> {
 public:
  using ReplicationPadImpl<2>::PadImpl;
};
SY_MODULE(ReplicationPad2d);

class SY_API ReplicationPad3dImpl : public ReplicationPadImpl<3> {
 public:
  using ReplicationPadImpl<3>::PadImpl;
};
SY_MODULE(ReplicationPad3d);

// The values of the other end.
template <size_t D>
using CircularPadImpl = detail::PadImpl<D, enumtype::kCircular>;

class SY_API CircularPad1dImpl : public CircularPadImpl<1> {
 public:
  using CircularPadImpl<1>::PadImpl;
};
SY_MODULE(CircularPad1d);

class SY_API CircularPad2dImpl : public CircularPadImpl<2> {
 public:
  using CircularPadImpl<2>::PadImpl;
};
SY_MODULE(CircularPad2d);

class SY_API CircularPad3dImpl : public CircularPadImpl<3> {
 public:
  using CircularPadImpl<3>::PadImpl;
};
SY_MODULE(CircularPad3d);

// Zeros.
template <size_t D>
using ZeroPadImpl = detail::PadImpl<D, enumtype::kConstant>;

class SY_API ZeroPad1dImpl : public ZeroPadImpl<1> {
 public:
  using ZeroPadImpl<1>::PadImpl;
};
SY_MODULE(ZeroPad1d);

class SY_API ZeroPad2dImpl : public ZeroPadImpl<2> {
 public:
  using ZeroPadImpl<2>::PadImpl;
};
SY_MODULE(ZeroPad2d);

class SY_API ZeroPad3dImpl : public ZeroPadImpl<3> {
 public:
  using ZeroPadImpl<3>::PadImpl;
};
SY_MODULE(ZeroPad3d);

// One value.
template <size_t D>
class SY_API ConstantPadImpl : public Module {
 public:
  ConstantPadImpl(ExpandingArray<D * 2> padding, double value)
      : ConstantPadImpl(ConstantPadOptions<D>(padding, value)) {}
  explicit ConstantPadImpl(const ConstantPadOptions<D>& options)
      : options(options) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  ConstantPadOptions<D> options;
};

extern template class ConstantPadImpl<1>;
extern template class ConstantPadImpl<2>;
extern template class ConstantPadImpl<3>;

class SY_API ConstantPad1dImpl : public ConstantPadImpl<1> {
 public:
  using ConstantPadImpl<1>::ConstantPadImpl;
};
SY_MODULE(ConstantPad1d);

class SY_API ConstantPad2dImpl : public ConstantPadImpl<2> {
 public:
  using ConstantPadImpl<2>::ConstantPadImpl;
};
SY_MODULE(ConstantPad2d);

class SY_API ConstantPad3dImpl : public ConstantPadImpl<3> {
 public:
  using ConstantPadImpl<3>::ConstantPadImpl;
};
SY_MODULE(ConstantPad3d);

}  // namespace sy::nn

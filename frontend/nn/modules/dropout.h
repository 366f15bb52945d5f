#pragma once

#include "frontend/nn/modules/with_options.h"
#include "frontend/nn/options/dropout.h"

// Dropouts as modules: in eval mode they give back the input.
// functional/dropout.h says what each drops, and of which inputs.

namespace sy::nn {

namespace detail {

// Throws ValueError, which names the module, for p outside of [0, 1].
class SY_API DropoutModule : public WithOptions<DropoutOptions> {
 public:
  std::string extra_repr() const override;

 protected:
  DropoutModule(const char* module, const DropoutOptions& options);
  void check(const char* module) const;
};

}  // namespace detail

// Elements.
class SY_API DropoutImpl : public detail::DropoutModule {
 public:
  explicit DropoutImpl(const DropoutOptions& options = {})
      : DropoutModule("Dropout", options) {}
  void reset() { check("Dropout"); }
  Tensor forward(Tensor input);
};
SY_MODULE(Dropout);

// Channels of (N, C, L) or (C, L). Only Python has this one.
class SY_API Dropout1dImpl : public detail::DropoutModule {
 public:
  explicit Dropout1dImpl(const Dropout1dOptions& options = {})
      : DropoutModule("Dropout1d", options) {}
  void reset() { check("Dropout1d"); }
  Tensor forward(Tensor input);
};
SY_MODULE(Dropout1d);

// Channels of (N, C, H, W) or (C, H, W).
class SY_API Dropout2dImpl : public detail::DropoutModule {
 public:
  explicit Dropout2dImpl(const Dropout2dOptions& options = {})
      : DropoutModule("Dropout2d", options) {}
  void reset() { check("Dropout2d"); }
  Tensor forward(Tensor input);
};
SY_MODULE(Dropout2d);

// Channels of (N, C, D, H, W) or (C, D, H, W).
class SY_API Dropout3dImpl : public detail::DropoutModule {
 public:
  explicit Dropout3dImpl(const Dropout3dOptions& options = {})
      : DropoutModule("Dropout3d", options) {}
  void reset() { check("Dropout3d"); }
  Tensor forward(Tensor input);
};
SY_MODULE(Dropout3d);

// Elements, for networks of SELU. `inplace` is ignored, as in PyTorch.
class SY_API AlphaDropoutImpl : public detail::DropoutModule {
 public:
  explicit AlphaDropoutImpl(const AlphaDropoutOptions& options = {})
      : DropoutModule("AlphaDropout", options) {}
  void reset() { check("AlphaDropout"); }
  Tensor forward(const Tensor& input);
};
SY_MODULE(AlphaDropout);

// Channels of (N, C, ...), for networks of SELU. `inplace` is ignored, as in
// PyTorch.
class SY_API FeatureAlphaDropoutImpl : public detail::DropoutModule {
 public:
  explicit FeatureAlphaDropoutImpl(
      const FeatureAlphaDropoutOptions& options = {})
      : DropoutModule("FeatureAlphaDropout", options) {}
  void reset() { check("FeatureAlphaDropout"); }
  Tensor forward(const Tensor& input);
};
SY_MODULE(FeatureAlphaDropout);

}  // namespace sy::nn

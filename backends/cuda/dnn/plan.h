#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>

#include "aten/contract/convolution.h"
#include "backends/cuda/dnn/descriptor.h"
#include "c10/tensor/scalar_type.h"

// How cuDNN makes a convolution or a gradient of one, chosen once for all of
// the same sizes, strides and dtype.

namespace sy::cuda::dnn {

// The alignment of a tensor's first element, in bytes: many engines want it so.
inline constexpr int64_t kAlignment = 16;

// Sizes and strides are those of 2 or 3 dims of space, in elements.
struct Operand {
  static constexpr int kDims = 5;
  int64_t sizes[kDims] = {}, strides[kDims] = {};

  auto operator<=>(const Operand&) const = default;
};

// y = x * w. The channels of x and w tell the groups.
struct Problem {
  ScalarType dtype = ScalarType::Float;
  bool tf32 = false;
  ConvolutionPart made = ConvolutionPart::kForward;
  int space = 2;  // dims of it
  Operand x, w, y;
  int64_t stride[3] = {}, padding[3] = {}, dilation[3] = {};

  auto operator<=>(const Problem&) const = default;
};

// For people: "y of bfloat16 x[32, 64, 56, 56] w[64, 64, 3, 3], …".
std::string text_of(const Problem& problem);

struct Plan {
  bool works = false;
  Descriptor descriptor = nullptr;
  size_t workspace = 0;
  // How it was chosen, or why there is none.
  std::string text;
  // The objects that the plan is made of and may refer to. Never destroyed.
  std::shared_ptr<void> parts;
};

// Asks the library for a plan; under the session's mutex.
Plan make_plan(const Library& library, const Problem& problem);

Plans* make_plans();
// Lives as long as the process. Thread-safe.
const Plan& plan_of(const Library& library, const Problem& problem);
// The plan does not run after all: plan_of() says so from now on.
void give_up(const Library& library, const Problem& problem,
             const std::string& why);

// The addresses of the tensors and of the workspace.
struct Data {
  const void *x, *w, *y, *room;
};
Object pack_of(const Api& api, const Data& data);

// Runs the plan in a CUstream. Not kDone, and why, if it does not. Thread-safe.
Result execute(const Library& library, const Plan& plan, const Data& data,
               void* stream, std::string* why);

}  // namespace sy::cuda::dnn

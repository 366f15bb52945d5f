#include "backends/cuda/dnn/descriptor.h"

#include "c10/process/error.h"

namespace sy::cuda::dnn {

namespace {

const char* name_of(Kind kind) {
  switch (kind) {
    case kConvolution: return "the convolution";
    case kEngine: return "an engine";
    case kEngineConfig: return "an engine's configuration";
    case kHeuristics: return "the heuristics";
    case kPlan: return "a plan";
    case kForward:
    case kBackwardFilter:
    case kBackwardData: return "the operation";
    case kGraph: return "the graph";
    case kVariantPack: return "the pack of pointers";
    case kTensor: return "a tensor";
    case kDeviceProperties: return "the device";
  }
  return "a descriptor";
}

}  // namespace

Object::Object(const Api& api, Kind kind) : api_(&api), kind_(kind) {
  check(api.create_descriptor(kind, &descriptor_), "create", 0);
}

int64_t Object::read(Attribute what, Type type, int64_t most,
                     void* values) const {
  int64_t count = 0;
  check(api_->get(descriptor_, what, type, most, &count, values), "read", what);
  return count;
}

void Object::check(Result r, const char* step, int attribute) const {
  if (r == kDone) return;
  const std::string of =
      attribute == 0 ? "" : str("attribute {} of ", attribute);
  throw Refusal{
      str("to {} {}{}: {}", step, of, name_of(kind_), error_of(*api_, r))};
}

}  // namespace sy::cuda::dnn

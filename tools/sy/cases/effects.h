#pragma once

#include <string>
#include <vector>

#include "tools/sy/cases/arguments.h"
#include "tools/sy/cases/compare.h"

// The effects of a call on its arguments.

namespace sy::tools {

// The tensor arguments as they were before the call.
class Before {
 public:
  explicit Before(const Arguments& arguments);

  // Whether an argument had, or has now, that storage.
  bool has_storage(const Storage& s) const;
  // "" if the arguments that `mutated` names became what it says and no other
  // byte of any argument changed; otherwise what is wrong.
  std::string compare(const Json& mutated, const Safetensors& storages,
                      Tolerance tolerance) const;

 private:
  struct Tensor {
    const NamedTensor* argument;
    Storage storage;
    HostTensor host;
  };

  std::string compare_written(const Tensor& t, const Json& expected,
                              const Safetensors& storages,
                              Tolerance tolerance) const;
  std::string compare_untouched(const Tensor& t, const Json& mutated) const;

  std::vector<Tensor> tensors_;
};

}  // namespace sy::tools

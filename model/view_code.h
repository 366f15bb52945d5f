#pragma once

#include <optional>
#include <string>

#include "lang/index.h"
#include "model/model.h"

namespace sy::model {

// `view:`, compiled.
struct ViewCode {
  lang::IndexCode sizes;
  // They read what they share with the sizes by the name kSizes. None:
  // those of contiguous memory.
  std::optional<lang::IndexCode> strides;
  std::optional<lang::IndexCode> offset;  // none: that of self
  bool stays_within;                      // see lang::stays_within
};

// No name of the language holds a space.
inline constexpr char kSizes[] = "the sizes";

// `sizes`: what the C++ variable of the sizes is called. Throws LangError.
ViewCode view_code(const Operator& op, const std::string& sizes);

}  // namespace sy::model

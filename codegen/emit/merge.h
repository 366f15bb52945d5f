#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "codegen/text.h"

namespace sy::codegen {

// Several generated files made one: their #includes first, without those of
// each other.
class Merger {
 public:
  // `is_own` says of a header's name whether it is among the files.
  using IsOwn = std::function<bool(std::string_view)>;
  Merger(std::string banner, IsOwn is_own)
      : banner_(std::move(banner)), is_own_(std::move(is_own)) {}

  void add(const std::string& file);
  // `first_header` is included before the others; "": the file is a header.
  std::string str(const std::string& first_header) const;

 private:
  void line(std::string_view text);

  std::string banner_;
  IsOwn is_own_;
  std::set<std::string> headers_, system_;
  Writer body_;
};

}  // namespace sy::codegen

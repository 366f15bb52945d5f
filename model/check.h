#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace sy::model {

// Reports everything that can be wrong with an operator beyond its form: types,
// names across files, keys, derivatives. Fills in the contracts of `families`,
// which are those of `model`.
void check_model(const Model& model, std::vector<Family>& families,
                 const std::optional<std::vector<std::string>>& tags,
                 lang::Diagnostics& diagnostics);

// The operators that the expression of a `composite:` operator calls:
// "add.Tensor", sorted.
struct CompositeCalls {
  const Operator* op;
  std::vector<std::string> operators;
};
// Reports composites that call themselves, by way of others or at once.
void check_cycles(std::span<const CompositeCalls> composites,
                  lang::Diagnostics& diagnostics);

// The names in a tags.yaml.
std::vector<std::string> read_tags(std::string_view text, std::string_view file,
                                   lang::Diagnostics& diagnostics);

}  // namespace sy::model

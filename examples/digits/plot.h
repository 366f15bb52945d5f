#pragma once

#include <string>
#include <vector>

#include "examples/digits/train.h"

namespace digits {

// One picture of one or more runs (of equal options but the seed): the loss
// and the test accuracy after each epoch, and what the first run's model
// misreads, drawn. Throws std::runtime_error if the file cannot be written.
void plot(const std::vector<Run>& runs, const std::string& path);

}  // namespace digits

#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/io/named_tensors.h"

namespace sy::optim {

// Borrows the numbers.
class SchedulerNumbers {
 public:
  void add(std::string name, double* value) { add_one(std::move(name), value); }
  void add(std::string name, int64_t* value) {
    add_one(std::move(name), value);
  }
  void add(std::string name, bool* value) { add_one(std::move(name), value); }
  template <class T>
  void add(const std::string& name, std::vector<T>* values) {
    for (size_t i = 0; i < values->size(); ++i) {
      add(name + "." + std::to_string(i), &(*values)[i]);
    }
  }
  // Sets the prefix of the numbers that are added from then on.
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }
  const std::string& prefix() const { return prefix_; }

  NamedTensors save() const;
  // Throws ValueError "[scheduler] load_state_dict: missing ..."; nothing has
  // changed then.
  void load(const char* scheduler, const NamedTensors& from) const;

 private:
  using Value = std::variant<double*, int64_t*, bool*>;
  void add_one(std::string name, Value value) {
    values_.emplace_back(prefix_ + std::move(name), value);
  }

  std::string prefix_;
  std::vector<std::pair<std::string, Value>> values_;
};

}  // namespace sy::optim

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "c10/plugin/runtime_library.h"
#include "model/model.h"
#include "runtime/loader/known_operators.h"
#include "runtime/loader/operator_state.h"

namespace sy::runtime {

// The operators of one schema, registered: everything that their kernels point
// to. Freed only after unload().
class LoadedSchema {
 public:
  // All or nothing; throws RegistrationError. `operators`: full names of what
  // it defined.
  static std::unique_ptr<LoadedSchema> load(
      std::string_view text, const std::string& name,
      std::vector<std::string>* operators);

  void unload(std::chrono::milliseconds timeout) { library_.withdraw(timeout); }

 private:
  explicit LoadedSchema(const std::string& name)
      : known_(std::make_unique<KnownOperators>()), library_(name) {}

  void read(std::string_view text, const std::string& name);
  void build();
  void add(const model::Operator& op);
  void register_engines(OperatorState& state);
  void register_kernels(OperatorState& state, const model::Operator& op);
  void register_gradient(OperatorState& state);
  void impl(const OverloadState& form, const char* key, BoxedFunction f,
            bool checks_itself);
  Callee callee(const FunctionSchema& schema) const;
  int line(const OverloadState& form) const { return form.op->line; }

  // These live while the schema is read; calls need neither.
  std::unique_ptr<KnownOperators> known_;
  std::unique_ptr<model::Model> model_;
  std::vector<std::unique_ptr<OperatorState>> operators_;
  RuntimeLibrary library_;
};

}  // namespace sy::runtime

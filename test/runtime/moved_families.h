#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "c10/plugin/runtime_library.h"
#include "c10/schema/function_schema.h"
#include "test/runtime/moved.h"
#include "test/runtime/twins.h"

// Every file of schemas/ops, loaded once more under the namespace rt_FAMILY.
// C++ functions cannot be loaded: an entry with `dispatch:` is loaded without
// it, and the compiled operator is its kernel. So only its contract, the forms
// that have no kernel of their own and its gradient are interpreted.

namespace sy::test {

class MovedFamilies {
 public:
  static const MovedFamilies& get() {
    static const MovedFamilies* const all = new MovedFamilies();
    return *all;
  }

  // The operator of every form, by its name: "relu" -> rt_activation::relu.
  // In-place forms of `composed` are left out.
  std::map<std::string, OperatorHandle> operators;
  // The entries whose kernel is the compiled one.
  std::set<std::string> forwarded;
  // The forwarded entries that call other operators, which autograd records.
  std::set<std::string> composed;

 private:
  MovedFamilies() {
    for (const auto& file :
         std::filesystem::directory_iterator("schemas/ops")) {
      try {
        load(file.path());
      } catch (const Error& e) {
        ADD_FAILURE() << file.path() << ": " << e.what();
      }
    }
  }

  void load(const std::filesystem::path& file) {
    const std::string ns = "rt_" + file.stem().string();
    const auto entries = moved_entries(read_text(file.string()), ns);
    std::string text;
    for (const MovedEntry& e : entries) text += e.text;
    SchemaHandle schema = load_schema_text(text, file.string());
    for (const std::string& op : schema.operators()) {
      operators.emplace(op.substr(op.find("::") + 2), find(op));
    }
    schema.keep();
    RuntimeLibrary library(ns + "_kernels");
    for (const MovedEntry& e : entries) {
      if (!e.keys.empty()) add_kernels(library, e);
    }
    library.commit();
  }

  void add_kernels(RuntimeLibrary& library, const MovedEntry& e) {
    const bool implicit = std::count(e.keys.begin(), e.keys.end(),
                                     "CompositeImplicitAutograd") != 0;
    add_kernel(
        library, e.name,
        implicit ? "CompositeImplicitAutograd" : "CompositeExplicitAutograd");
    std::vector<std::string> unlike;
    for (const auto& [form, op] : operators) {
      const FunctionalForm* f = op.entry().functional();
      if (f == nullptr || f->op != operators.at(e.name).name()) continue;
      if (implicit && op.schema().is_inplace()) unlike.push_back(form);
      if (find("aten::" + form).entry().has_own_kernel(kCPU)) {
        add_kernel(library, form, "CPU");
      }
    }
    // Without `dispatch:` nothing says that autograd records their parts.
    for (const std::string& form : unlike) operators.erase(form);
    forwarded.insert(e.name);
    if (implicit) composed.insert(e.name);
  }

  void add_kernel(RuntimeLibrary& library, const std::string& name,
                  const char* key) {
    const OperatorEntry& twin = find("aten::" + name).entry();
    library.impl(
        operators.at(name).name(), key,
        Kernel::from_boxed(&forward, const_cast<OperatorEntry*>(&twin)), 1);
  }

  // The context of the kernel is the compiled operator.
  static void forward(const Kernel& k, const OperatorEntry&, DispatchKeySet,
                      Value* args, size_t num_args, Value* results, size_t n) {
    OperatorHandle(static_cast<const OperatorEntry*>(k.context))
        .call_boxed(args, num_args, results, n);
  }
};

}  // namespace sy::test

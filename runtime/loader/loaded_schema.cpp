#include "runtime/loader/loaded_schema.h"

#include "c10/device/backend.h"
#include "c10/process/error.h"
#include "model/form_plan.h"
#include "runtime/loader/checks.h"
#include "runtime/loader/gradient.h"
#include "runtime/loader/make_state.h"

namespace sy::runtime {
namespace {

using model::Operator;
using model::Overload;

// Calls f(backend, engines) for each backend that has engines.
template <class F>
void each_engines(const F& f) {
  for (const BackendInfo& b : backends()) {
    if (const BackendEngines* e = engines_of(b.type)) f(b, *e);
  }
}

}  // namespace

std::unique_ptr<LoadedSchema> LoadedSchema::load(
    std::string_view text, const std::string& name,
    std::vector<std::string>* operators) {
  std::unique_ptr<LoadedSchema> schema(
      new LoadedSchema(name.substr(name.rfind('/') + 1)));
  schema->read(text, name);
  try {
    schema->build();
    schema->library_.commit();
    schema->model_.reset();
    schema->known_.reset();
  } catch (const lang::LangError& e) {
    fail(ErrorKind::Registration,
         "cannot load schema {}; nothing has changed:\n{}", name, e.what());
  } catch (RegistrationError& e) {
    e.add_context(str("cannot load schema {}:", name));
    throw;
  }
  for (const auto& op : schema->operators_) {
    for (const auto& form : op->overloads) {
      operators->push_back(form.full_name);
    }
  }
  return schema;
}

void LoadedSchema::read(std::string_view text, const std::string& name) {
  const std::string path = model::short_path(name);
  lang::Diagnostics diagnostics;
  std::vector<model::Backend> present;
  for (const BackendInfo& info : backends()) {
    if (!info.present) continue;
    model::Backend b;
    b.key = lang::Text(info.key);
    present.push_back(std::move(b));
  }
  model_ = std::make_unique<model::Model>(model::Model::load_text(
      std::string(text), path, *known_, std::move(present), diagnostics));
  if (diagnostics.empty()) check_loadable(*model_, diagnostics);
  SY_CHECK(diagnostics.empty(), Registration,
           "cannot load schema {}; nothing has changed:\n{}", name,
           diagnostics.str_with_sources());
}

void LoadedSchema::build() {
  for (const model::Family& family : model_->families()) {
    if (family.operators.empty()) continue;
    if (family.is_own()) {
      library_.own_namespace(
          family.ns, static_cast<int>(family.operators[0].entry->at.line));
    }
    for (const Operator& op : family.operators) add(op);
  }
}

Callee LoadedSchema::callee(const FunctionSchema& schema) const {
  if (const auto handle = known_->handle(schema)) return Callee(*handle);
  std::string ns = "aten";
  for (const model::Family& family : model_->families()) ns = family.ns;
  // The name stays for ever, as the operator's entry does.
  return Callee(InternedString(ns + "::" + to_string(schema.name())).c_str());
}

void LoadedSchema::add(const Operator& op) {
  const FindCallee find =
      [&](const FunctionSchema& s) -> std::optional<Callee> {
    const bool helper = s.name().name == "result_type" && !known_->handle(s);
    if (helper) return std::nullopt;
    return callee(s);
  };
  auto state = make_state(op, *model_, find, library_.token());
  register_kernels(*state, op);
  register_gradient(*state);
  operators_.push_back(std::move(state));
}

void LoadedSchema::impl(const OverloadState& form, const char* key,
                        BoxedFunction f, bool checks_itself) {
  const Kernel k = Kernel::from_boxed(f, const_cast<OverloadState*>(&form));
  library_.impl(form.full_name, key, checks_itself ? k.checks_itself() : k,
                line(form));
}

void LoadedSchema::register_engines(OperatorState& state) {
  std::vector<std::pair<BackendInfo, BoxedFunction>> found;
  each_engines([&](const BackendInfo& b, const BackendEngines& engines) {
    const BoxedFunction f = engine_kernel(state.kind, engines);
    if (f != nullptr) found.emplace_back(b, f);
  });
  // Kernels point to them.
  state.engine_kernels.reserve(found.size() * state.overloads.size());
  for (const OverloadState& form : state.overloads) {
    for (const auto& [b, f] : found) {
      state.engine_kernels.push_back({&form, b.type});
      const Kernel k = Kernel::from_boxed(f, &state.engine_kernels.back());
      library_.impl(form.full_name, b.key, k.checks_itself(), line(form));
    }
  }
}

void LoadedSchema::register_kernels(OperatorState& state, const Operator& op) {
  const std::vector<const Overload*> overloads = op.overloads();
  register_engines(state);
  for (size_t i = 0; i < overloads.size(); ++i) {
    const OverloadState* const form = &state.overloads[i];
    const Overload& o = *overloads[i];
    OperatorDef def;
    def.flags = form->flags;
    def.info = form;
    if (form->functional.op != nullptr) def.functional = &form->functional;
    if (has_guard(op, o)) def.guard_boxed = guard_kernel();
    library_.def(op.ns + "::" + to_string(o.schema), def, line(*form));
    const model::FormKernel kernel = kernel_of(op, o);
    if (kernel != model::FormKernel::kNone) {
      impl(*form, is_implicit(kernel, o) ? model::kImplicit : model::kExplicit,
           form_kernel(kernel, *form), true);
    }
  }
  if (!has_sizes_kernel(op)) return;
  each_engines([&](const BackendInfo& b, const BackendEngines& engines) {
    if (engines.has_data) return;
    impl(state.overloads[0], b.key.c_str(), sizes_kernel(), true);
  });
}

void LoadedSchema::register_gradient(OperatorState& state) {
  using model::FormGradient;
  for (const OverloadState& form : state.overloads) {
    if (form.gradient == FormGradient::kNone) continue;
    if (form.gradient == FormGradient::kFallthrough) {
      library_.impl(form.full_name, "Autograd", Kernel::fallthrough(),
                    line(form));
    } else {
      impl(form, "Autograd", gradient_kernel(form.gradient), false);
    }
  }
}

}  // namespace sy::runtime

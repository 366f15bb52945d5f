#include "c10/plugin/runtime_library.h"

#include "c10/dispatch/registry.h"

namespace sy {

namespace {

// A token's name lives for ever.
Site site_of(LibraryToken* token, int line) {
  return {token->name().c_str(), line, token};
}

}  // namespace

RuntimeLibrary::RuntimeLibrary(const std::string& name) {
  init();
  token_ = Registry::singleton().new_token(name, nullptr);
  batch_ = std::make_unique<RegistrationBatch>(token_);
}

RuntimeLibrary::~RuntimeLibrary() = default;

void RuntimeLibrary::own_namespace(std::string_view ns, int line) {
  batch_->namespaces.emplace_back(ns, site_of(token_, line));
}

void RuntimeLibrary::def(std::string_view schema, const OperatorDef& def,
                         int line) {
  RegistrationBatch::Def d;
  d.def = def;
  d.def.schema = nullptr;
  d.def.signature = nullptr;
  d.full_name = std::string(schema.substr(0, schema.find('(')));
  d.schema = std::string(schema);
  d.site = site_of(token_, line);
  batch_->defs.push_back(std::move(d));
}

void RuntimeLibrary::impl(std::string_view full_name, std::string_view key,
                          const Kernel& kernel, int line) {
  batch_->impls.push_back({std::string(full_name), std::string(key), kernel,
                           site_of(token_, line)});
}

void RuntimeLibrary::commit() {
  SY_INTERNAL_ASSERT(batch_ != nullptr);
  const std::unique_ptr<RegistrationBatch> batch = std::move(batch_);
  Registry::singleton().commit(*batch);
}

void RuntimeLibrary::withdraw(std::chrono::milliseconds timeout) {
  Registry::singleton().withdraw(token_, timeout);
}

}  // namespace sy

#include "frontend/nn/container/any_module.h"

#include "c10/process/demangle.h"

namespace sy::nn {

namespace detail {

void wrong_argument(const Module& m, size_t index,
                    const std::type_info& expected, const std::type_info& got) {
  fail(ErrorKind::Type, "[AnyModule] {}: argument {}: expected {}, got {}",
       m.name(), index, demangled(expected.name()), demangled(got.name()));
}

void wrong_count(const Module& m, size_t most, size_t got) {
  fail(ErrorKind::Type,
       "[AnyModule] {}: expected {} arguments, or fewer if the last ones have "
       "defaults; got {}",
       m.name(), most, got);
}

void wrong_result(const std::type_info& expected, const std::type_info& got) {
  fail(ErrorKind::Type, "[AnyValue] expected {}, got {}",
       demangled(expected.name()),
       got == typeid(void) ? "nothing" : demangled(got.name()));
}

}  // namespace detail

Tensor AnyModule::forward(const Tensor& x) const {
  Module& m = *module_;
  if (calls_->plain != nullptr) return calls_->plain(m, x);
  detail::AnyArguments all{x};
  return call(all).get<Tensor>();
}

AnyValue AnyModule::call(detail::AnyArguments& arguments) const {
  Module& m = *module_;
  if (calls_->plain != nullptr && arguments.size() == 1) {
    if (const Tensor* const x = std::any_cast<Tensor>(arguments.data())) {
      return AnyValue(calls_->plain(m, *x));
    }
  }
  SY_CHECK(calls_->general != nullptr, Type,
           "[AnyModule] {}: its forward is overloaded or a template, and takes "
           "one tensor only here; got {} arguments",
           m.name(), arguments.size());
  return AnyValue(calls_->general(m, arguments));
}

const std::shared_ptr<Module>& AnyModule::checked(
    const std::type_info& type) const {
  const std::shared_ptr<Module>& m = module_.ptr();
  SY_CHECK(calls_->type == type || type == typeid(Module), Type,
           "[AnyModule] expected {}, got {}", demangled(type.name()),
           demangled(calls_->type.name()));
  return m;
}

}  // namespace sy::nn

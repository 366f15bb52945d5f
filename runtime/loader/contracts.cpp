#include "aten/engine/operator_steps.h"
#include "runtime/loader/operator_state.h"

namespace sy::runtime {
namespace {

// Reads `v` as a parameter of that type would be; throws TypeError.
void read_as(const Value& v, Type type) {
  if (type.is_optional()) {
    if (v.is_none()) return;
    type = type.element();
  }
  if (type.is_list()) {
    switch (type.element().without_optional().kind()) {
      case TypeKind::kTensor: v.to_tensor_list(); return;
      case TypeKind::kInt:
      case TypeKind::kSymInt: v.to_int_list(); return;
      case TypeKind::kFloat:
      case TypeKind::kSymFloat: v.to_double_list(); return;
      case TypeKind::kBool: v.to_bool_list(); return;
      case TypeKind::kScalar: v.to_scalar_list(); return;
      default: v.to_string_list(); return;
    }
  }
  switch (type.kind()) {
    case TypeKind::kTensor: v.to_tensor(); return;
    case TypeKind::kInt:
    case TypeKind::kSymInt: v.to_int(); return;
    case TypeKind::kFloat:
    case TypeKind::kSymFloat: v.to_double(); return;
    case TypeKind::kBool:
    case TypeKind::kSymBool: v.to_bool(); return;
    case TypeKind::kScalar: v.to_scalar(); return;
    case TypeKind::kStr: v.to_string_view(); return;
    case TypeKind::kScalarType: v.to_scalar_type(); return;
    case TypeKind::kDevice: v.to_device(); return;
    case TypeKind::kLayout: v.to_layout(); return;
    case TypeKind::kMemoryFormat: v.to_memory_format(); return;
    case TypeKind::kGenerator: v.to_generator(); return;
    default: return;
  }
}

// The value as a generated message shows it.
std::string shown(const Value& v) {
  switch (v.tag()) {
    case Value::Tag::String: return std::string(v.to_string_view());
    case Value::Tag::Double: return str("{}", v.to_double());
    default: return to_string(v);
  }
}

}  // namespace

void check_boxes(const OverloadState& form, const Value* args) {
  for (size_t i = 0; i < form.boxes.size(); ++i) {
    const OverloadState::Box& box = form.boxes[i];
    if (SY_LIKELY(args[i].tag() == box.tag && !args[i].is_none())) continue;
    read_as(args[i], box.type);
    if (box.length == 0 || args[i].is_none()) continue;
    generated::check_list_size(form.op->base_name(),
                               std::string(box.name.view()).c_str(),
                               args[i].to_bool_list().size(), box.length);
  }
}

void check_requirements(const OverloadState& form, const Value* args) {
  if (!form.contract_applies) return;
  const CallNames names(form, args);
  for (const RequireState& r : form.op->require) {
    if (r.condition.truth(names)) continue;
    std::string text = r.head;
    bool first = true;
    for (const RequireState::Got& got : r.got) {
      if (got.reached && !got.reached->truth(names)) continue;
      text += str("{}{} = {}", first ? ", got " : ", ", got.label,
                  shown(got.value.value(names)));
      first = first && got.reached;
    }
    fail(ErrorKind::Value, "{}", text);
  }
}

}  // namespace sy::runtime

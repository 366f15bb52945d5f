#include "c10/tensor/scalar_type.h"

#include <algorithm>
#include <atomic>
#include <ostream>

#include "c10/process/error.h"

namespace sy {
namespace {

std::atomic<ScalarType> default_type{kFloat};

static_assert(std::ranges::all_of(kScalarTypeInfo, [](const auto& t) {
  return t.size <= kMaxElementSize;
}));

bool equal_but_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

}  // namespace

std::optional<ScalarType> parse_scalar_type(std::string_view name) {
  for (int i = 0; i < kNumScalarTypes; ++i) {
    const ScalarTypeInfo& info = kScalarTypeInfo[i];
    if (name == info.name || equal_but_case(name, info.enum_name)) {
      return static_cast<ScalarType>(i);
    }
  }
  return std::nullopt;
}

ScalarType default_dtype() noexcept {
  return default_type.load(std::memory_order_relaxed);
}

void set_default_dtype(ScalarType t) {
  SY_CHECK(t <= ScalarType::Undefined && is_floating_type(t), Type,
           "[set_default_dtype] dtype: expected a floating type, got {}",
           t <= ScalarType::Undefined ? dtype_name(t) : "no dtype");
  default_type.store(t, std::memory_order_relaxed);
}

std::ostream& operator<<(std::ostream& out, ScalarType t) {
  return out << dtype_name(t);
}

}  // namespace sy

#include "tools/sy/prove/varied_values.h"

#include <cmath>

#include "c10/process/error.h"
#include "c10/schema/function_schema.h"
#include "tools/sy/cases/arguments.h"

namespace sy::tools {

namespace {

constexpr size_t kMost = 200;

// Texts that operators of the library take.
constexpr const char* kTexts[] = {
    "none",    "mean",      "sum",      "tanh",     "floor",   "trunc",
    "reflect", "replicate", "circular", "constant", "linear",  "lower",
    "higher",  "midpoint",  "nearest",  "fro",      "nuc",     "prod",
    "amax",    "amin",      "max",      "min",      "reduced", "complete",
    "r",       "ij",        "xy",       "U",        "L"};

// Other values for an argument. A value that the operator does not take makes
// no call.
std::vector<Value> values_for(const Argument& a, const Hints& hints) {
  const Type t = a.type.without_optional();
  std::vector<Value> out;
  if (t == TypeKind::kBool) out = {Value(true), Value(false)};
  if (t == TypeKind::kScalar) {
    out = {Value(2.5), Value(-0.5), Value(0.4), Value(0), Value(3)};
    for (const double x : hints.numbers) out.emplace_back(x);
  }
  if (t == TypeKind::kFloat) {
    out = {Value(0.25), Value(1.5), Value(-0.5), Value(0.0), Value(3.0)};
    for (const double x : hints.numbers) out.emplace_back(x);
  }
  if (t == TypeKind::kInt || t == TypeKind::kSymInt) {
    out = {Value(int64_t{0}), Value(int64_t{1}), Value(int64_t{2}),
           Value(int64_t{3}), Value(int64_t{-1})};
    for (const double x : hints.numbers) {
      if (x == std::floor(x) && x < 100) {
        out.emplace_back(static_cast<int64_t>(x));
      }
    }
  }
  if (t.is_list() &&
      (t.element() == TypeKind::kInt || t.element() == TypeKind::kSymInt)) {
    const int64_t list[] = {0, 1}, last[] = {-1};
    out = {Value(IntArrayRef(list, 1)), Value(IntArrayRef(list + 1, 1)),
           Value(IntArrayRef(last, 1)), Value(IntArrayRef(list, 2))};
  }
  if (t == TypeKind::kStr) {
    for (const std::string& text : hints.texts) {
      out.emplace_back(std::string_view(text));
    }
    for (const char* text : kTexts) out.emplace_back(std::string_view(text));
  }
  if (a.type.is_optional() && !out.empty()) out.emplace_back();
  return out;
}

bool same(const Value& a, const Value& b) {
  return a.tag() == b.tag() && to_string(a) == to_string(b);
}

// Whether the operator takes the arguments.
bool is_taken(OperatorHandle op, const std::vector<Value>& args) {
  try {
    call_with(op, args);
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return false;
  }
  return true;
}

}  // namespace

std::vector<OtherValue> other_values(OperatorHandle op,
                                     const std::vector<Value>& args,
                                     const Hints& hints) {
  struct Change {
    size_t argument;
    Value value;
  };
  const auto arguments = op.schema().arguments();
  const auto changed = [&](const std::vector<Change>& changes, OtherValue* o) {
    o->args = args;
    for (const Change& c : changes) {
      o->args[c.argument] = c.value;
      if (!o->id.empty()) o->id += ", ";
      o->id +=
          str("{} = {}", arguments[c.argument].name.view(), to_string(c.value));
    }
    return is_taken(op, o->args);
  };
  std::vector<Change> single;
  std::vector<OtherValue> out;
  for (size_t k = 0; k < arguments.size(); ++k) {
    for (const Value& v : values_for(arguments[k], hints)) {
      OtherValue o;
      if (same(v, args[k]) || !changed({{k, v}}, &o)) continue;
      single.push_back({k, v});
      out.push_back(std::move(o));
    }
  }
  for (size_t i = 0; i < single.size(); ++i) {
    for (size_t j = i + 1; j < single.size() && out.size() < kMost; ++j) {
      OtherValue o;
      if (single[i].argument == single[j].argument ||
          !changed({single[i], single[j]}, &o)) {
        continue;
      }
      out.push_back(std::move(o));
    }
  }
  return out;
}

}  // namespace sy::tools

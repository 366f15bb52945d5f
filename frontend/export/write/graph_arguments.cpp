#include <algorithm>
#include <cmath>

#include "frontend/export/write/enumerations.h"
#include "frontend/export/write/graph_writer.h"

namespace sy::exporting {

namespace {

template <class List>
bool same(const List& a, const List& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool same_scalar(const Scalar& a, const Scalar& b) {
  return a.is_floating_point() == b.is_floating_point() &&
         a.to<double>() == b.to<double>();
}

}  // namespace

bool same_value(const Value& a, const Value& b) {
  if (a.tag() != b.tag()) return false;
  using Tag = Value::Tag;
  switch (a.tag()) {
    case Tag::None: return true;
    case Tag::Bool: return a.to_bool() == b.to_bool();
    case Tag::Int: return a.to_int() == b.to_int();
    case Tag::Double: return a.to_double() == b.to_double();
    case Tag::ScalarType: return a.to_scalar_type() == b.to_scalar_type();
    case Tag::MemoryFormat: return a.to_memory_format() == b.to_memory_format();
    case Tag::Layout: return a.to_layout() == b.to_layout();
    case Tag::Device: return a.to_device() == b.to_device();
    case Tag::String: return a.to_string_view() == b.to_string_view();
    case Tag::IntList: return a.to_int_list() == b.to_int_list();
    case Tag::BoolList: return same(a.to_bool_list(), b.to_bool_list());
    case Tag::DoubleList: return same(a.to_double_list(), b.to_double_list());
    case Tag::StringList: return same(a.to_string_list(), b.to_string_list());
    case Tag::ScalarList: {
      const auto x = a.to_scalar_list(), y = b.to_scalar_list();
      return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_scalar);
    }
    default: return false;
  }
}

void GraphWriter::write_argument(JsonWriter& out, size_t node, size_t argument,
                                 Type type) {
  using Kind = TracedArgument::Kind;
  const TracedArgument& a = trace_.nodes[node].arguments[argument];
  out.begin_object();
  if (a.kind == Kind::Tensor) {
    out.key("as_tensor").only("name", name_of(a.values[0]));
  } else if (a.kind == Kind::Tensors) {
    const bool optional = type.without_optional().element().is_optional();
    out.key(optional ? "as_optional_tensors" : "as_tensors").begin_array();
    for (const int32_t v : a.values) {
      if (!optional) {
        out.only("name", name_of(v));
      } else if (v == kNoValue) {
        out.begin_object().key("as_none").boolean(true).end_object();
      } else {
        out.begin_object().key("as_tensor").only("name", name_of(v));
        out.end_object();
      }
    }
    out.end_array();
  } else {
    write_constant(out, of_runs(node, argument), type.without_optional());
  }
  out.end_object();
}

void GraphWriter::write_constant(JsonWriter& out,
                                 const std::vector<const Value*>& runs,
                                 Type type) {
  const Value& v = *runs[0];
  using Tag = Value::Tag;
  if (v.tag() == Tag::Int || v.tag() == Tag::IntList) {
    return write_ints(out, runs, type);
  }
  if (v.tag() == Tag::Double) return write_double(out, runs);
  for (const Value* other : runs) {
    if (same_value(v, *other)) continue;
    refuse({}, str("expected the same argument for all sizes, got {} and {}",
                   to_string(v), to_string(*other)));
  }
  switch (v.tag()) {
    case Tag::None: out.key("as_none").boolean(true); return;
    case Tag::Bool: out.key("as_bool").boolean(v.to_bool()); return;
    case Tag::ScalarType:
      out.key("as_scalar_type").integer(number_of(v.to_scalar_type()));
      return;
    case Tag::Device: write_device(out.key("as_device"), v.to_device()); return;
    case Tag::Layout: out.key("as_layout").integer(kStridedLayout); return;
    case Tag::MemoryFormat:
      out.key("as_memory_format").integer(number_of(v.to_memory_format()));
      return;
    case Tag::String: out.key("as_string").text(v.to_string_view()); return;
    default: return write_scalars(out, v);
  }
}

void GraphWriter::write_scalars(JsonWriter& out, const Value& v) {
  using Tag = Value::Tag;
  if (v.tag() == Tag::BoolList) {
    out.key("as_bools").begin_array();
    for (const bool b : v.to_bool_list()) out.boolean(b);
  } else if (v.tag() == Tag::DoubleList) {
    out.key("as_floats").begin_array();
    for (const double d : v.to_double_list()) out.real(d);
  } else if (v.tag() == Tag::ScalarList) {
    const auto list = v.to_scalar_list();
    const bool real =
        std::any_of(list.begin(), list.end(),
                    [](const Scalar& s) { return s.is_floating_point(); });
    out.key(real ? "as_floats" : "as_ints").begin_array();
    for (const Scalar& s : list) {
      real ? out.real(s.to<double>()) : out.integer(s.to<int64_t>());
    }
  } else if (v.tag() == Tag::StringList) {
    out.key("as_strings").begin_array();
    for (const std::string& s : v.to_string_list()) out.text(s);
  } else {
    fail(ErrorKind::NotImplemented,
         "[export_program] {}: an argument {} cannot be written", place_,
         tag_name(v.tag()));
  }
  out.end_array();
}

void GraphWriter::write_ints(JsonWriter& out,
                             const std::vector<const Value*>& runs, Type type) {
  const bool single = runs[0]->is_int();
  std::vector<Number> numbers;
  const size_t n = single ? 1 : runs[0]->to_int_list().size();
  for (size_t i = 0; i < n; ++i) {
    Numbers values;
    for (const Value* v : runs) {
      if (single) {
        values.push_back(v->to_int());
      } else if (v->to_int_list().size() == n) {
        values.push_back(v->to_int_list()[i]);
      } else {
        refuse({}, "expected a list of one length for all sizes");
      }
    }
    numbers.push_back(number(values));
  }
  // One number for a list of several.
  const bool list = !single || type.is_list();
  if (single && type.size() > 1)
    numbers.resize(size_t(type.size()), numbers[0]);
  const bool symbolic =
      std::any_of(numbers.begin(), numbers.end(),
                  [](const Number& x) { return !x.name.empty(); });
  if (!list) {
    if (symbolic) {
      out.key("as_sym_int").only("as_name", numbers[0].name);
    } else {
      out.key("as_int").integer(numbers[0].number);
    }
    return;
  }
  out.key(symbolic ? "as_sym_ints" : "as_ints").begin_array();
  for (const Number& x : numbers) {
    if (!symbolic) {
      out.integer(x.number);
    } else if (x.name.empty()) {
      out.only("as_int", x.number);
    } else {
      out.only("as_name", x.name);
    }
  }
  out.end_array();
}

void GraphWriter::write_double(JsonWriter& out,
                               const std::vector<const Value*>& runs) {
  const double first = runs[0]->to_double();
  bool whole = true, inverse = true, varies = false;
  Numbers wholes, inverses;
  for (const Value* v : runs) {
    const double x = v->to_double();
    varies = varies || (x != first && !(std::isnan(x) && std::isnan(first)));
    wholes.push_back(static_cast<int64_t>(std::llround(x)));
    inverses.push_back(x == 0 ? 0 : static_cast<int64_t>(std::llround(1 / x)));
    whole = whole && x == static_cast<double>(wholes.back());
    inverse = inverse && inverses.back() != 0 &&
              x == 1.0 / static_cast<double>(inverses.back());
  }
  if (!varies) {
    out.key("as_float").real(first);
    return;
  }
  const auto term = whole     ? solver_.find(wholes)
                    : inverse ? solver_.find(inverses)
                              : std::nullopt;
  if (!term) {
    refuse({}, str("a number that depends on sizes, {}, is neither a formula "
                   "of them nor 1 divided by one",
                   first));
  }
  out.key("as_sym_float");
  out.only("as_name",
           float_node(whole ? "torch.sym_float" : "_operator.truediv", *term));
}

}  // namespace sy::exporting

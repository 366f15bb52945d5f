#include "c10/schema/check.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c10/schema/source_map.h"

namespace sy {
namespace {

using detail::Fault;
using detail::FaultPlace;
using detail::SourceMap;

// PyTorch's mark for an out argument that is working memory, not a result.
constexpr std::string_view kScratchPrefix = "_scratch_";

std::string quote(std::string_view text) {
  std::string out = "'";
  out += text;
  return out += '\'';
}

std::string annotation(AliasInfo alias) {
  return fmt::format("'({})'", to_string(alias));
}

// The named constants that PyTorch's signatures use as defaults. Any other name
// is that of a dtype, of which each build knows its own.
constexpr std::string_view kReductions[] = {"Mean", "Sum"};
constexpr std::string_view kMemoryFormats[] = {
    "contiguous_format", "preserve_format", "channels_last",
    "channels_last_3d"};
constexpr std::string_view kLayouts[] = {"strided", "sparse_coo", "jagged"};

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool names(DefaultValue value, TypeKind kind) {
  if (!value.is(DefaultValue::Kind::kIdentifier)) return false;
  const std::string_view word = value.str();
  switch (kind) {
    case TypeKind::kInt: return is_one_of(word, kReductions);
    case TypeKind::kMemoryFormat: return is_one_of(word, kMemoryFormats);
    case TypeKind::kLayout: return is_one_of(word, kLayouts);
    case TypeKind::kScalarType:
      return !is_one_of(word, kReductions) &&
             !is_one_of(word, kMemoryFormats) && !is_one_of(word, kLayouts);
    default: return true;
  }
}

bool fits(DefaultValue value, Type type);

bool fits_list(DefaultValue value, Type list) {
  if (!value.is(DefaultValue::Kind::kList)) {
    // `int[2] stride=1` stands for two ones.
    return list.size() > 0 && fits(value, list.element());
  }
  // `int[1]` takes any number of them, and [] stands for another argument's.
  const std::size_t n = value.items().size();
  if (list.size() > 1 && n != 0 && n != std::size_t(list.size())) return false;
  return std::ranges::all_of(value.items(), [&](DefaultValue item) {
    return fits(item, list.element());
  });
}

// Whether a literal can be the value of a type.
bool fits(DefaultValue value, Type type) {
  using Kind = DefaultValue::Kind;
  const Kind kind = value.kind();
  switch (type.kind()) {
    case TypeKind::kOptional:
      return kind == Kind::kNone || fits(value, type.element());
    case TypeKind::kList: return fits_list(value, type);
    case TypeKind::kScalar:
      return kind == Kind::kInt || kind == Kind::kDouble || kind == Kind::kBool;
    // An identifier is a named constant, as in `int reduction=Mean`.
    case TypeKind::kInt: return kind == Kind::kInt || names(value, type.kind());
    case TypeKind::kSymInt:
    case TypeKind::kDeviceIndex: return kind == Kind::kInt;
    case TypeKind::kFloat:
    case TypeKind::kSymFloat:
      return kind == Kind::kInt || kind == Kind::kDouble;
    case TypeKind::kBool:
    case TypeKind::kSymBool: return kind == Kind::kBool;
    case TypeKind::kStr: return kind == Kind::kString;
    case TypeKind::kScalarType:
    case TypeKind::kLayout:
    case TypeKind::kMemoryFormat:
    case TypeKind::kQScheme: return names(value, type.kind());
    case TypeKind::kDevice:
    case TypeKind::kDimname:
      return kind == Kind::kString || kind == Kind::kIdentifier;
    case TypeKind::kAny: return true;
    default: return false;
  }
}

class Checker {
 public:
  explicit Checker(const FunctionSchema& schema)
      : schema_(schema),
        arguments_(schema.arguments()),
        returns_(schema.returns()) {}

  std::vector<Fault> run() {
    if (schema_.name().overload == "default") {
      add(FaultPlace::kOverload, 0,
          "the overload name 'default' is reserved for the empty one");
    }
    check_arguments();
    check_written_sets();
    check_after_sets();
    check_returns();
    if (schema_.name().is_inplace()) check_inplace();
    if (has_out()) check_out();
    return std::move(faults_);
  }

 private:
  template <class... A>
  void add(FaultPlace place, std::size_t index, fmt::format_string<A...> text,
           A&&... arguments) {
    faults_.push_back({place, static_cast<std::uint16_t>(index),
                       fmt::format(text, std::forward<A>(arguments)...)});
  }

  bool has_out() const {
    return std::ranges::any_of(arguments_, &Argument::is_out);
  }

  // Faults of each argument by itself and of its place among the others.
  void check_arguments() {
    const Argument* defaulted = nullptr;
    const Argument* out = nullptr;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const Argument& a = arguments_[i];
      if (schema_.argument_index(a.name) != static_cast<int>(i)) {
        add(FaultPlace::kArgumentName, i, "argument name '{}' appears twice",
            a.name);
      }
      check_default(i);
      check_nesting(FaultPlace::kArgument, i, a.type);
      check_alias(FaultPlace::kArgument, i, a.type, a.alias);
      if (!a.kwarg_only) {
        if (a.default_value) {
          defaulted = &a;
        } else if (defaulted) {
          add(FaultPlace::kArgumentName, i,
              "argument '{}' without a default follows '{}', which has one",
              a.name, defaulted->name);
        }
      }
      if (a.is_out()) {
        out = &a;
      } else if (out) {
        add(FaultPlace::kArgumentName, i,
            "argument '{}' follows the out argument '{}'; out arguments come "
            "last",
            a.name, out->name);
      }
    }
  }

  void check_default(std::size_t i) {
    const Argument& a = arguments_[i];
    if (!a.default_value) return;
    if (a.is_out()) {
      add(FaultPlace::kDefault, i, "out argument '{}' cannot have a default",
          a.name);
    } else if (!fits(a.default_value, a.type)) {
      add(FaultPlace::kDefault, i,
          "default {} does not fit type '{}' of argument '{}'",
          a.default_value.str(), a.type.str(), a.name);
    }
  }

  // No value holds lists of lists.
  void check_nesting(FaultPlace place, std::size_t i, Type type) {
    const Type t = type.without_optional();
    if (!t.is_list() || !t.element().without_optional().is_list()) return;
    add(place, i, "type '{}' is a list of lists", type.str());
  }

  void check_alias(FaultPlace place, std::size_t i, Type type,
                   AliasInfo alias) {
    if (!alias) return;
    if (!type.is_tensor_like()) {
      add(place, i,
          "type '{}' cannot alias: only Tensor has an alias annotation",
          type.str());
    }
    if (alias.is_write() && alias.before().has_several()) {
      add(place, i, "a written alias set has one letter, got {}",
          annotation(alias));
    } else if (alias.before().has_several() && alias.has_after() &&
               alias.after().has_several()) {
      add(place, i,
          "the alias sets before and after '->' cannot both have several "
          "letters, got {}",
          annotation(alias));
    }
  }

  // A written argument is the only one of its alias set.
  void check_written_sets() {
    for (std::size_t i = 1; i < arguments_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const Argument& a = arguments_[j];
        const Argument& b = arguments_[i];
        if (!a.is_write() && !b.is_write()) continue;
        if (!a.alias.before().intersects(b.alias.before())) continue;
        add(FaultPlace::kArgument, i,
            "arguments '{}' and '{}' share an alias set that is written",
            a.name, b.name);
      }
    }
  }

  AliasSet argument_sets() const {
    AliasSet all = AliasSet::of('*');
    for (const Argument& a : arguments_) all = all | a.alias.before();
    return all;
  }

  void check_known(FaultPlace place, std::size_t i, AliasSet set) {
    const AliasSet unknown = set - argument_sets();
    if (unknown.empty()) return;
    add(place, i, "alias set '{}' is not that of an argument",
        to_string(AliasInfo(unknown, false)));
  }

  void check_after_sets() {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      check_known(FaultPlace::kArgument, i, arguments_[i].alias.after());
    }
  }

  void check_returns() {
    bool written = false;
    bool fresh = false;
    for (std::size_t i = 0; i < returns_.size(); ++i) {
      const Return& r = returns_[i];
      const auto same_name = [&](const Return& other) {
        return !r.name.empty() && other.name == r.name;
      };
      if (std::ranges::any_of(returns_.first(i), same_name)) {
        add(FaultPlace::kReturnName, i, "return name '{}' appears twice",
            r.name);
      }
      check_nesting(FaultPlace::kReturn, i, r.type);
      check_alias(FaultPlace::kReturn, i, r.type, r.alias);
      check_known(FaultPlace::kReturn, i, r.alias.before());
      if (r.alias.is_write()) check_written_return(i);
      (r.alias.is_write() ? written : fresh) = true;
    }
    if (written && fresh) {
      add(FaultPlace::kReturn, 0,
          "the returns are a mixture of written arguments and new values");
    }
  }

  void check_written_return(std::size_t i) {
    const int source = schema_.aliased_argument(i);
    if (source < 0) return;
    const Argument& a = arguments_[source];
    if (!a.is_write()) {
      add(FaultPlace::kReturn, i,
          "return {} is marked as written, but '{}' is not", i + 1, a.name);
    } else if (!a.is_out() && source != inplace_index()) {
      add(FaultPlace::kReturn, i,
          "a written return must be 'self' or an out argument, but '{}' is "
          "positional",
          a.name);
    }
  }

  // The argument an in-place form writes.
  int inplace_index() const {
    const int self = schema_.self_index();
    return self < 0 && schema_.num_positional() > 0 ? 0 : self;
  }

  void check_inplace() {
    const std::string name = quote(schema_.name().name);
    if (has_out()) {
      add(FaultPlace::kName, 0, "in-place {} cannot have out arguments", name);
      return;
    }
    const int index = inplace_index();
    if (index < 0) {
      add(FaultPlace::kName, 0, "in-place {} has no argument to write", name);
      return;
    }
    const Argument& self = arguments_[index];
    if (!self.is_write()) {
      add(FaultPlace::kArgument, index,
          "in-place {} must write its argument '{}', as in 'Tensor(a!)'", name,
          self.name);
    } else if (!(self.type == TypeKind::kTensor)) {
      if (!returns_.empty()) {
        add(FaultPlace::kReturn, 0, "in-place {} on a list must return nothing",
            name);
      }
    } else if (returns_.size() != 1 || returns_[0].alias != self.alias) {
      add(returns_.empty() ? FaultPlace::kName : FaultPlace::kReturn, 0,
          "in-place {} must return '{}' as 'Tensor({})'", name, self.name,
          to_string(self.alias));
    }
  }

  // The returns of an `out=` form are its out arguments, in their order; where
  // one of them is a list, nothing is returned.
  void check_out() {
    const auto outs = schema_.out_arguments();
    const auto found = std::ranges::count_if(arguments_, &Argument::is_out);
    // Reported already, with a better message.
    if (found != std::ssize(outs) || schema_.name().is_inplace()) return;
    const bool plain = std::ranges::all_of(
        outs, [](const Argument& a) { return a.type == TypeKind::kTensor; });
    const auto scratch = [](const Argument& a) {
      return a.name.view().starts_with(kScratchPrefix);
    };
    const std::size_t expected =
        plain ? outs.size() - std::ranges::count_if(outs, scratch) : 0;
    if (returns_.size() != expected) {
      add(returns_.empty() ? FaultPlace::kName : FaultPlace::kReturn, 0,
          "an out= form must return its out arguments{}: expected {} returns, "
          "got {}",
          plain ? "" : ", or nothing where one is a list", expected,
          returns_.size());
      return;
    }
    for (std::size_t i = 0; i < expected; ++i) {
      if (returns_[i].alias == outs[i].alias) continue;
      add(FaultPlace::kReturn, i,
          "return {} must be the out argument '{}', 'Tensor({})'", i + 1,
          outs[i].name, to_string(outs[i].alias));
    }
  }

  const FunctionSchema& schema_;
  std::span<const Argument> arguments_;
  std::span<const Return> returns_;
  std::vector<Fault> faults_;
};

}  // namespace

std::uint32_t SourceMap::offset(FaultPlace place, std::uint16_t index) const {
  switch (place) {
    case FaultPlace::kName: return name;
    case FaultPlace::kOverload: return overload;
    case FaultPlace::kArgument: return arguments[index].start;
    case FaultPlace::kArgumentName: return arguments[index].name;
    case FaultPlace::kDefault: return arguments[index].default_value;
    case FaultPlace::kReturn: return returns[index].start;
    case FaultPlace::kReturnName: return returns[index].name;
  }
  return 0;
}

std::vector<Fault> detail::find_faults(const FunctionSchema& schema) {
  return Checker(schema).run();
}

std::vector<SchemaError> detail::locate(std::vector<Fault> faults,
                                        const SourceMap& map) {
  std::vector<SchemaError> errors;
  errors.reserve(faults.size());
  for (Fault& fault : faults) {
    errors.emplace_back(std::move(fault.message),
                        map.offset(fault.place, fault.index));
  }
  std::ranges::stable_sort(errors, {}, &SchemaError::offset);
  return errors;
}

std::vector<SchemaError> check_schema(const FunctionSchema& schema) {
  // Parsing the printed text gives the offsets, and catches what only a schema
  // that was put together by hand can have wrong: bad names, a bad order.
  const std::string text = to_string(schema);
  try {
    SourceMap map;
    if (detail::parse_mapped(text, &map) != schema) {
      return {SchemaError("the signature reads differently when parsed", 0)};
    }
    return detail::locate(detail::find_faults(schema), map);
  } catch (const SchemaError& error) {
    return {error};
  }
}

}  // namespace sy

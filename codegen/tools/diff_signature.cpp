#include "codegen/tools/diff_signature.h"

#include <algorithm>
#include <vector>

#include "lang/format.h"

namespace sy::codegen {
namespace {

std::string quoted(std::string_view s) { return fmt::format("'{}'", s); }

// Whether every value of `from` may be given where `to` is asked for.
bool widens(Type from, Type to) {
  if (from == to) return true;
  const bool list = from.without_optional().is_list();
  if (to.is_optional() &&
      widens(from.without_optional(), to.without_optional())) {
    return true;
  }
  if (from.is_optional() || list) return false;
  if (to == TypeKind::kScalar) {
    return from == TypeKind::kInt || from == TypeKind::kFloat ||
           from == TypeKind::kBool;
  }
  return to == TypeKind::kSymInt && from == TypeKind::kInt;
}

class Comparer {
 public:
  Comparer(const FunctionSchema& before, const FunctionSchema& after,
           const SignatureReport& report)
      : before_(before), after_(after), report_(report) {}

  void run() {
    bool moved = false;
    std::size_t last = 0;
    for (const Argument& a : before_.arguments()) {
      const int at = after_.argument_index(a.name.view());
      if (at < 0) {
        removed(a);
        continue;
      }
      const Argument& b = after_.arguments()[static_cast<std::size_t>(at)];
      if (!a.kwarg_only && !b.kwarg_only) {
        moved |= static_cast<std::size_t>(at) < last;
        last = static_cast<std::size_t>(at);
      }
      argument(a, b);
    }
    if (moved) {
      report_("arguments-reordered", false,
              "positional arguments changed "
              "places",
              "calls by position pass them for each other");
    }
    for (std::size_t i = 0; i < after_.arguments().size(); ++i) {
      const Argument& b = after_.arguments()[i];
      if (before_.argument_index(b.name.view()) < 0) added(b, i);
    }
    returns();
  }

 private:
  void removed(const Argument& a) {
    report_("argument-removed", false,
            fmt::format("argument {} removed", quoted(a.name.view())),
            "calls that give it are errors");
  }

  // Whether a positional argument that was there stands behind place i.
  bool is_before_known(std::size_t i) const {
    for (std::size_t k = i + 1; k < after_.num_positional(); ++k) {
      const int old = before_.argument_index(after_.arguments()[k].name.view());
      if (old >= 0 &&
          !before_.arguments()[static_cast<std::size_t>(old)].kwarg_only) {
        return true;
      }
    }
    return false;
  }

  void added(const Argument& b, std::size_t i) {
    const std::string detail =
        fmt::format("argument {} added", quoted(to_string(b)));
    if (!b.default_value) {
      report_("argument-added", false, detail,
              "it has no default, so every call must give it");
    } else if (!b.kwarg_only && is_before_known(i)) {
      report_("argument-added", false, detail + " in the middle",
              "calls by position pass the next argument for it");
    } else {
      report_("argument-added", true,
              detail + (b.kwarg_only ? "" : " at the end"),
              "calls without it get the default");
    }
  }

  void argument(const Argument& a, const Argument& b) {
    const std::string name = quoted(a.name.view());
    if (!(a.type == b.type)) {
      const bool wider = widens(a.type, b.type);
      report_("argument-type-changed", wider,
              fmt::format("type of {} changed from {} to {}", name,
                          a.type.str(), b.type.str()),
              wider ? "every value that was taken still is"
                    : "values that were taken no longer are");
    }
    if (!(a.alias == b.alias)) {
      report_("alias-changed", false,
              fmt::format("alias annotation of {} changed from '{}' to '{}'",
                          name, to_string(a.alias), to_string(b.alias)),
              "other memory is written or shared");
    }
    if (!a.kwarg_only && b.kwarg_only) {
      report_("argument-keyword-only", false, name + " became keyword-only",
              "calls by position are errors");
    } else if (a.kwarg_only && !b.kwarg_only) {
      report_("argument-positional", true, name + " became positional",
              "calls by keyword stay as they are");
    }
    defaults(a, b, name);
  }

  void defaults(const Argument& a, const Argument& b, const std::string& name) {
    if (a.default_value == b.default_value ||
        (a.default_value && a.default_value.same_value(b.default_value))) {
      return;
    }
    if (!a.default_value) {
      report_("default-added", true,
              fmt::format("{} got the default {}", name, text(b)),
              "calls that give it stay as they are");
    } else if (!b.default_value) {
      report_("default-removed", false,
              fmt::format("{} lost its default {}", name, text(a)),
              "calls that leave it out are errors");
    } else {
      report_("default-changed", false,
              fmt::format("default of {} changed from {} to {}", name, text(a),
                          text(b)),
              "calls that leave it out mean something else");
    }
  }

  // The text behind the '=' of the printed argument.
  static std::string text(const Argument& a) {
    const std::string all = to_string(a);
    const std::size_t at = all.find('=');
    return at == std::string::npos ? "" : all.substr(at + 1);
  }

  void returns() {
    const auto a = before_.returns();
    const auto b = after_.returns();
    if (a.size() != b.size()) {
      report_("return-changed", false,
              fmt::format("number of results changed from {} to {}", a.size(),
                          b.size()),
              "code that takes the result gets another type");
      return;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::string which =
          a.size() == 1 ? "result" : fmt::format("result {}", i);
      if (!(a[i].type == b[i].type)) {
        report_("return-changed", false,
                fmt::format("type of the {} changed from {} to {}", which,
                            a[i].type.str(), b[i].type.str()),
                "code that takes the result gets another type");
      }
      if (!(a[i].alias == b[i].alias)) {
        report_(
            "alias-changed", false,
            fmt::format("alias annotation of the {} changed from '{}' to '{}'",
                        which, to_string(a[i].alias), to_string(b[i].alias)),
            "whether it shares memory is another answer");
      }
      if (!(a[i].name == b[i].name)) {
        const bool named = !a[i].name.empty();
        report_("return-renamed", !named,
                named ? fmt::format("result {} renamed to {}",
                                    quoted(a[i].name.view()),
                                    quoted(b[i].name.view()))
                      : "result named " + quoted(b[i].name.view()),
                named ? "code that reads it by name finds nothing"
                      : "nobody could know it by a name");
      }
    }
  }

  const FunctionSchema& before_;
  const FunctionSchema& after_;
  const SignatureReport& report_;
};

}  // namespace

void compare_signatures(const FunctionSchema& before,
                        const FunctionSchema& after,
                        const SignatureReport& report) {
  Comparer(before, after, report).run();
}

}  // namespace sy::codegen

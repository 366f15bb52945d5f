#include "codegen/emit/apart.h"

#include "codegen/model_names.h"
#include "lang/cpp_text.h"
#include "model/cpp_types.h"
#include "model/form_plan.h"

namespace sy::codegen {
namespace {

void call_again(Writer& w, const Overload& o, const Rerun& again,
                const std::string& condition, const char* replace,
                const std::string& outs) {
  std::vector<std::string> args;
  for (const Argument& a : o.schema.arguments()) {
    args.push_back(parameter_name(a));
  }
  for (const int i : read_tensors(o.schema)) {
    std::string& given = args[static_cast<std::size_t>(i)];
    given = fmt::format("generated::{}({}, {})", replace, given, outs);
  }
  w.include("aten/engine/apart.h");
  w.line("  if (SY_UNLIKELY(" + again.condition + condition + ")) {");
  w.line("    return " + again.function + "(" + again.first + join(args, ", ") +
         ");");
  w.line("  }");
}

}  // namespace

void emit_apart(Writer& w, const Overload& o, const Rerun& again) {
  const std::string outs = join(written_arguments(o), ", ");
  std::vector<std::string> shared;
  for (const int i : read_tensors(o.schema)) {
    const Argument& a = o.schema.arguments()[static_cast<std::size_t>(i)];
    shared.push_back(
        fmt::format("generated::shares({}, {})", parameter_name(a), outs));
  }
  if (outs.empty() || shared.empty()) return;
  std::string condition = join(shared, " || ");
  if (shared.size() > 1 && !again.condition.empty()) {
    condition = "(" + condition + ")";
  }
  call_again(w, o, again, condition, "apart", outs);
}

void emit_pointwise_apart(Writer& w, const Operator& op, const Overload& o,
                          const Rerun& again, const std::string& args) {
  const std::string out = written_arguments(o)[0];
  if (read_tensors(o.schema).empty()) return;
  const std::string condition =
      fmt::format("reads_what_it_writes({}, {}, {}, {})", descriptor(op), args,
                  out, o.schema.is_inplace());
  w.include("aten/engine/pointwise.h");
  call_again(w, o, again, condition, "another_apart", out);
}

void emit_outs_apart(Writer& w, const Overload& o) {
  if (!are_outs_apart(o)) return;
  std::vector<std::string> outs;
  for (const std::string& name : written_arguments(o)) {
    outs.push_back("&" + name);
  }
  w.include("aten/engine/apart.h");
  w.line("  generated::check_outs_apart(" + entry_of(o) + ", {" +
         join(outs, ", ") + "});");
}

}  // namespace sy::codegen

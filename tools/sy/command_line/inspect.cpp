#include <CLI/CLI.hpp>

#include "codegen/tools/completion.h"
#include "tools/sy/calls/claims.h"
#include "tools/sy/command_line/commands.h"
#include "tools/sy/inspect/inspect.h"

namespace sy::tools {

void plugin_option(CLI::App* c, std::vector<std::string>& plugins) {
  c->add_option("--plugin", plugins, "load this library first (repeatable)")
      ->allow_extra_args(false);
}

namespace {

CLI::App* inspect_command(CLI::App& app, const char* name, const char* help,
                          InspectOptions& o) {
  CLI::App* c = app.add_subcommand(name, help);
  plugin_option(c, o.plugins);
  c->add_flag("--json", o.json, "as JSON");
  return c;
}

}  // namespace

InspectCommands::InspectCommands(CLI::App& app) {
  CLI::App* ops = inspect_command(app, "ops", "list the operators", options_);
  ops->add_option("GLOB", options_.subject, "only those that fit, as add*");
  ops->add_option("--search", words_,
                  "only those with this word in their name or description "
                  "(repeatable)")
      ->allow_extra_args(false);
  ops_ = ops;
  names_ = app.add_subcommand("operator-names")->group("");
  codegen::add_completion(app);
  completion_ = app.get_subcommand("completion");
  CLI::App* explain = inspect_command(
      app, "explain", "the parts of an operator, where calls go", options_);
  explain->add_option("OP", options_.subject, "add.Tensor, or add")->required();
  CLI::Option* const lazy_flag =
      explain->add_flag("--lazy", lazily_, "how the lazy device records it");
  CLI::Option* const jit_flag =
      explain->add_flag("--jit", compiled_, "its compiled code, and the times");
  jit_flag->excludes(lazy_flag);
  explain
      ->add_option("--call", call_words_,
                   "with --jit: its arguments, as 4096x1000 0.5 (float64 "
                   "becomes float32); else tensors have a million elements")
      ->needs(jit_flag);
  explain_ = explain;
  inspect_command(app, "doctor", "why a plugin does or does not load", options_)
      ->add_option("LIB", options_.subject, "the library")
      ->required();
  version_ =
      inspect_command(app, "version", "version, layout, compiler", options_);
}

int InspectCommands::run() const {
  load_plugins(options_.plugins);
  if (completion_->parsed()) return 0;
  if (names_->parsed()) return print_operator_names();
  if (ops_->parsed()) {
    return list_operators({options_.subject, words_}, options_.json);
  }
  if (explain_->parsed()) {
    if (compiled_) {
      return explain_jit(options_.subject, call_words_, options_.json);
    }
    return lazily_ ? explain_recording(options_.subject, options_.json)
                   : explain_operator(options_.subject, options_.json);
  }
  if (version_->parsed()) return print_version(options_.json);
  return examine_library(options_.subject, options_.json);
}

}  // namespace sy::tools

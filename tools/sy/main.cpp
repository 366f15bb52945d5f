#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include <cstdio>

#include "c10/process/error.h"
#include "c10/schema/nearest.h"
#include "tools/sy/command_line/commands.h"

// bin/sy: what Switchyard has, and whether it does what it should.

namespace {

using namespace sy::tools;

std::string nearest_of(const std::string& given,
                       const std::vector<std::string>& names) {
  sy::NearestName nearest(given);
  for (const std::string& n : names) nearest.consider(n);
  return nearest.question();
}

std::string unknown_command(const CLI::App& app, const std::string& given) {
  std::vector<std::string> names;
  for (const CLI::App* c : app.get_subcommands(
           [](const CLI::App* c) { return !c->get_group().empty(); })) {
    names.push_back(c->get_name());
  }
  return sy::str("no command '{}'{}", given, nearest_of(given, names));
}

std::string unknown_option(const CLI::App& command, const std::string& given) {
  std::vector<std::string> names;
  for (const CLI::Option* o : command.get_options()) {
    if (o->nonpositional()) names.push_back(o->get_name());
  }
  return sy::str("{} takes no '{}'{}", command.get_name(), given,
                 nearest_of(given, names));
}

// One line, with the nearest name for what is not known.
std::string explain_failure(const CLI::App* app, const CLI::Error& e) {
  std::string text = e.what();
  const std::vector<std::string> rest = app->remaining(true);
  const std::vector<CLI::App*> commands = app->get_subcommands();
  if (!rest.empty()) {
    text = commands.empty() ? unknown_command(*app, rest.front())
                            : unknown_option(*commands.front(), rest.front());
  }
  return sy::str("sy: {} (`sy {}--help`)\n", text,
                 commands.empty() ? "" : commands.front()->get_name() + " ");
}

int run(int argc, char** argv) {
  CLI::App app("Switchyard's operators: list, explain and test them", "sy");
  app.require_subcommand(1);
  app.failure_message(explain_failure);
  const InspectCommands inspect(app);
  TrialCommands trials(app);
  const ModelCommands models(app);
  const RankCommands ranks(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (const std::optional<int> status = ranks.run()) return *status;
  if (const std::optional<int> status = trials.run()) return *status;
  if (const std::optional<int> status = models.run()) return *status;
  return inspect.run();
}

}  // namespace

// 0 all is well, 1 something does not work, 2 the command cannot be run.
int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "sy: {}\n", e.what());
    return 2;
  }
}

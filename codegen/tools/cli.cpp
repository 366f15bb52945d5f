#include "codegen/tools/cli.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "codegen/tools/commands.h"
#include "codegen/tools/completion.h"
#include "codegen/tools/diff.h"
#include "codegen/tools/explain.h"
#include "codegen/tools/new_backend.h"
#include "codegen/tools/new_op.h"
#include "codegen/tools/schema_files.h"
#include "codegen/tools/site.h"
#include "lang/format.h"

namespace sy::codegen {
namespace {

using Paths = std::vector<std::string>;

void add_fmt(CLI::App& app, int& status) {
  CLI::App* c = app.add_subcommand("fmt", "schema files in the one layout");
  const auto files = std::make_shared<Paths>();
  const auto check = std::make_shared<bool>(false);
  c->add_option("FILE", *files, "schema files, or folders of them")->required();
  c->add_flag("--check", *check, "name files that differ, write nothing");
  c->callback([=, &status] {
    status = format_files(*files, *check, std::cout, std::cerr);
  });
}

void add_new_op(CLI::App& app, int& status) {
  CLI::App* c = app.add_subcommand("new-op", "a new entry, to be filled in");
  const auto options = std::make_shared<NewOpOptions>();
  c->add_option("SIGNATURE", options->signature,
                "as in native_functions.yaml: 'f(Tensor self) -> Tensor'")
      ->required();
  c->add_option("--kind", options->kind, "one of " + op_kinds());
  c->add_option("--family", options->family, "the file to add it to");
  c->add_option("--key", options->key,
                "of kind dispatch: the key of the backend that gets a kernel");
  c->callback(
      [=, &status] { status = new_op(*options, std::cout, std::cerr); });
}

void add_new_backend(CLI::App& app, int& status) {
  CLI::App* c = app.add_subcommand(
      "new-backend", "a project for a backend outside the tree, that works");
  const auto options = std::make_shared<NewBackendOptions>();
  c->add_option("NAME", options->name, "of its devices: npu")->required();
  c->add_option("--dir", options->folder, "where to; a folder NAME here");
  c->callback(
      [=, &status] { status = new_backend(*options, std::cout, std::cerr); });
}

void add_diff(CLI::App& app, int& status) {
  CLI::App* c = app.add_subcommand(
      "diff", "changes, and whether callers notice; exit status 1 if so");
  const auto before = std::make_shared<std::string>();
  const auto after = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  c->add_option("OLD", *before, "a schema file or folder")->required();
  c->add_option("NEW", *after, "a schema file or folder")->required();
  c->add_flag("--json", *json, "for programs");
  c->callback([=, &status] {
    status = diff_schemas(*before, *after, *json, std::cout, std::cerr);
  });
}

void add_explain(CLI::App& app, int& status) {
  CLI::App* c = app.add_subcommand(
      "explain", "the code that is made of an operator, and where");
  const auto name = std::make_shared<std::string>();
  const auto with = std::make_shared<Paths>();
  c->add_option("OP", *name,
                "add.Tensor, or add for all its overloads; mine::bump of a "
                "library's own")
      ->required();
  c->add_option("--with", *with,
                "schema files or folders beside the library's, which are "
                "those of schemas/ here, else of the installation");
  c->callback([=, &status] {
    const auto schemas = schemas_with(*with, std::cerr);
    status = schemas ? explain_operator(*name, schemas->files(), std::cout,
                                        std::cerr)
                     : 1;
  });
}

void add_json_schema(CLI::App& app, int& status) {
  CLI::App* c = app.add_subcommand(
      "json-schema", "the JSON Schema of schema files, for editors");
  const auto tags = std::make_shared<std::string>();
  c->add_option("TAGS", *tags, "tags.yaml, for its names");
  c->callback([=, &status] {
    status = print_json_schema(*tags, std::cout, std::cerr);
  });
}

constexpr const char* kWith =
    "schema files or folders beside the library's; it is about their "
    "operators, about all if none is named";

void add_describe(CLI::App& app, int& status) {
  CLI::App* c = app.add_subcommand(
      "describe", "operators as JSON, which `site` and other programs read");
  const auto with = std::make_shared<Paths>();
  const auto file = std::make_shared<std::string>();
  c->add_option("--with", *with, kWith);
  c->add_option("--out", *file, "the file to write; else it is printed");
  c->callback([=, &status] {
    status = describe_schemas(*with, *file, std::cout, std::cerr);
  });
}

void add_site(CLI::App& app, int& status) {
  CLI::App* c = app.add_subcommand(
      "site", "guides and the reference of all operators as HTML, with search");
  const auto options = std::make_shared<SiteOptions>();
  const auto folder = std::make_shared<std::string>();
  c->add_option("DIR", *folder, "the folder to write it to")->required();
  c->add_option("--with", options->with, kWith);
  const std::pair<const char*, const char*> passed[] = {
      {"--title", "the name of the site; by default that of its guides"},
      {"--guides",
       "a folder of Markdown; guides.txt there may give the order, the start "
       "page and files elsewhere"},
      {"--facts", "the output of `sy facts`: examples, errors, dtypes, curves"},
      {"--timings", "the output of `./sy bench --peer --json`"}};
  for (const auto& [name, meaning] : passed) {
    c->add_option_function<std::string>(
        name,
        [=, name = name](const std::string& value) {
          options->arguments.push_back(fmt::format("{}={}", name, value));
        },
        meaning);
  }
  c->callback([=, &status] {
    options->arguments.insert(options->arguments.end(), {"--", *folder});
    status = make_site(*options, std::cerr);
  });
}

// The hidden command that completion scripts run.
void add_operator_names(CLI::App& app) {
  app.add_subcommand("operator-names")->group("")->callback([] {
    lang::Diagnostics ignored;
    const Model model =
        Model::load(schema_files(library_of("schemas/ops/any.yaml")), ignored);
    for (const Family& family : model.families()) {
      for (const Operator& op : family.operators) {
        std::cout << op.base.name << '\n';
      }
    }
  });
}

}  // namespace

void add_tools(CLI::App& app, int& status) {
  add_fmt(app, status);
  add_new_op(app, status);
  add_new_backend(app, status);
  add_diff(app, status);
  add_explain(app, status);
  add_json_schema(app, status);
  add_describe(app, status);
  add_site(app, status);
  add_operator_names(app);
  add_completion(app);
}

}  // namespace sy::codegen

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "codegen/commands.h"
#include "codegen/tools/cli.h"
#include "codegen/tools/schema_files.h"

namespace sy::codegen {
namespace {

using Paths = std::vector<std::string>;

void add_print(CLI::App& app, int& status) {
  CLI::App* c = app.add_subcommand("print", "the signatures, one a line");
  const auto files = std::make_shared<Paths>();
  const auto options = std::make_shared<PrintOptions>();
  c->add_option("FILE", *files, "schema files, PyTorch's too")->required();
  c->add_flag("--autogen", options->autogen, "with the derived forms");
  c->add_flag("--uses", options->uses,
              "the values that each formula of derivatives.yaml uses");
  c->callback(
      [=, &status] { status = print(*files, *options, std::cout, std::cerr); });
}

// Schema files, and those that they may refer to.
struct KnowingFiles {
  Paths files, with;

  Paths known() const {
    const bool one = with.empty() && files.size() == 1;
    return known_files(files, one ? Paths{library_of(files[0])} : with);
  }
};

void add_check(CLI::App& app, int& status) {
  CLI::App* c = app.add_subcommand(
      "check", "every error, as file:line:col: error: …; silent if none");
  const auto of = std::make_shared<KnowingFiles>();
  c->add_option("FILE", of->files, "schema files, PyTorch's too")->required();
  c->add_option(
      "--with", of->with,
      "schema files or folders that FILE may refer to; by default the "
      "library's where only one FILE is named");
  c->callback([=, &status] {
    status = check_files(of->files, of->known(), std::cerr);
  });
}

void add_examples(CLI::App& app, int& status) {
  CLI::App* c = app.add_subcommand(
      "examples", "the arguments of example calls, for `sy prove --examples`");
  const auto of = std::make_shared<KnowingFiles>();
  c->add_option("FILE", of->files, "schema files")->required();
  c->add_option(
      "--with", of->with,
      "schema files or folders that FILE may refer to; by default the "
      "library's where only one FILE is named");
  c->callback([=, &status] {
    status = print_examples(of->files, of->known(), std::cout, std::cerr);
  });
}

void add_import(CLI::App& app, int& status) {
  CLI::App* c = app.add_subcommand(
      "import", "functions of PyTorch's native_functions.yaml, as ours");
  const auto options = std::make_shared<ImportOptions>();
  c->add_option("FILE", options->files, "PyTorch's files")->required();
  c->add_option("--op", options->ops, "their names, as globs: 'add.*'")
      ->required()
      ->allow_extra_args(false);
  c->add_option("--derivatives", options->derivatives,
                "derivatives.yaml, to take formulas from")
      ->allow_extra_args(false);
  c->add_option("--with", options->with,
                "our schema files: operators that formulas may call, and tags");
  c->callback([=, &status] {
    status = import_entries(*options, std::cout, std::cerr);
  });
}

void add_emit(CLI::App& app, int& status) {
  CLI::App* c = app.add_subcommand("emit", "the files that the build asks for");
  const auto options = std::make_shared<EmitOptions>();
  c->add_option("--kind", options->kind, "the kind of files")->required();
  c->add_option("--input", options->inputs, "a file to make it of")
      ->allow_extra_args(false);
  c->add_option("--backend", options->backend,
                "of kind backend: the backend.yaml of a backend in the tree");
  c->add_flag("--per-family", options->per_family,
              "of kind backend: the kernels of families are in files of their "
              "own");
  c->add_option("--extra", options->extra, "a file to know of")
      ->allow_extra_args(false);
  c->add_option("--out", options->outs, "a file to write")
      ->required()
      ->allow_extra_args(false);
  c->callback([=, &status] { status = emit(*options, std::cerr); });
}

void add_emit_all(CLI::App& app, int& status) {
  CLI::App* c = app.add_subcommand(
      "emit-all", "all generated files of a tree of schemas, into a folder");
  const auto files = std::make_shared<Paths>();
  const auto folder = std::make_shared<std::string>();
  c->add_option("FILE", *files, "schema files")->required();
  c->add_option("--folder", *folder, "where to")->required();
  c->callback([=, &status] { status = emit_all(*files, *folder, std::cerr); });
}

}  // namespace
}  // namespace sy::codegen

int main(int argc, char** argv) {
  using namespace sy::codegen;
  CLI::App app("Generates C++ from the descriptions of operators.", "sygen");
  app.require_subcommand(1);
  int status = 0;
  add_print(app, status);
  add_check(app, status);
  add_examples(app, status);
  add_import(app, status);
  add_emit(app, status);
  add_emit_all(app, status);
  add_tools(app, status);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  } catch (const std::exception& e) {
    std::cerr << "sygen: error: " << e.what() << '\n';
    return 1;
  }
  return status;
}

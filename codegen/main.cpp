#include <CLI/CLI.hpp>
#include <iostream>

#include "codegen/commands.h"
#include "codegen/tools/cli.h"
#include "codegen/tools/schema_files.h"

int main(int argc, char** argv) {
  using namespace sy::codegen;
  CLI::App app("Generates C++ from the descriptions of operators.", "sygen");
  app.require_subcommand(1);
  int status = 0;
  std::vector<std::string> files;

  CLI::App* print_command =
      app.add_subcommand("print", "the signatures, one a line");
  PrintOptions print_options;
  print_command->add_option("FILE", files, "schema files, PyTorch's too")
      ->required();
  print_command->add_flag("--autogen", print_options.autogen,
                          "with the derived forms");
  print_command->add_flag("--uses", print_options.uses,
                          "the values that each formula of derivatives.yaml "
                          "uses");
  print_command->callback(
      [&] { status = print(files, print_options, std::cout, std::cerr); });

  CLI::App* check_command = app.add_subcommand(
      "check", "every error, as file:line:col: error: …; silent if none");
  check_command->add_option("FILE", files, "schema files, PyTorch's too")
      ->required();
  std::vector<std::string> with;
  check_command->add_option("--with", with,
                            "schema files or folders that FILE may refer to; "
                            "by default the library's "
                            "where only one FILE is named");
  check_command->callback([&] {
    if (with.empty() && files.size() == 1) with = {library_of(files[0])};
    status = check_files(files, known_files(files, with), std::cerr);
  });

  CLI::App* examples_command = app.add_subcommand(
      "examples", "the arguments of example calls, for `sy prove --examples`");
  examples_command->add_option("FILE", files, "schema files")->required();
  examples_command->add_option("--with", with,
                               "schema files or folders that FILE may refer "
                               "to; by default the library's where only one "
                               "FILE is named");
  examples_command->callback([&] {
    if (with.empty() && files.size() == 1) with = {library_of(files[0])};
    status =
        print_examples(files, known_files(files, with), std::cout, std::cerr);
  });

  CLI::App* import_command = app.add_subcommand(
      "import", "functions of PyTorch's native_functions.yaml, as ours");
  ImportOptions import_options;
  import_command->add_option("FILE", import_options.files, "PyTorch's files")
      ->required();
  import_command
      ->add_option("--op", import_options.ops, "their names, as globs: 'add.*'")
      ->required()
      ->allow_extra_args(false);
  import_command
      ->add_option("--derivatives", import_options.derivatives,
                   "derivatives.yaml, to take formulas from")
      ->allow_extra_args(false);
  import_command->add_option(
      "--with", import_options.with,
      "our schema files: operators that formulas may call, and tags");
  import_command->callback(
      [&] { status = import_entries(import_options, std::cout, std::cerr); });

  CLI::App* emit_command =
      app.add_subcommand("emit", "the files that the build asks for");
  EmitOptions options;
  emit_command->add_option("--kind", options.kind, "the kind of files")
      ->required();
  emit_command->add_option("--input", options.inputs, "a file to make it of")
      ->allow_extra_args(false);
  emit_command->add_option("--backend", options.backend,
                           "of kind backend: the backend.yaml of a backend in "
                           "the tree");
  emit_command->add_flag("--per-family", options.per_family,
                         "of kind backend: the kernels of families are in "
                         "files of their own");
  emit_command->add_option("--extra", options.extra, "a file to know of")
      ->allow_extra_args(false);
  emit_command->add_option("--out", options.outs, "a file to write")
      ->required()
      ->allow_extra_args(false);
  emit_command->callback([&] { status = emit(options, std::cerr); });

  CLI::App* all_command = app.add_subcommand(
      "emit-all", "all generated files of a tree of schemas, into a folder");
  std::string folder;
  all_command->add_option("FILE", files, "schema files")->required();
  all_command->add_option("--folder", folder, "where to")->required();
  all_command->callback([&] { status = emit_all(files, folder, std::cerr); });

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

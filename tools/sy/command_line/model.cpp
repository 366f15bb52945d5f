#include <CLI/CLI.hpp>

#include "tools/sy/calls/claims.h"
#include "tools/sy/command_line/commands.h"

namespace sy::tools {

ModelCommands::ModelCommands(CLI::App& app) {
  CLI::App* model = app.add_subcommand(
      "model", "an exported program (.pt2): what it takes, has and computes");
  model->add_option("FILE", options_.file, "what torch.export.save wrote")
      ->required();
  model->add_option("--model", options_.model,
                    "the program of that name, in a file of several");
  model->add_option("--picture", options_.picture,
                    "draw its graph into this file, .svg or .dot");
  model->add_flag("--json", options_.json, "as JSON");
  plugin_option(model, plugins_);
  model_ = model;

  CLI::App* run = model->add_subcommand("run", "run it once");
  run->add_option("--inputs", run_options_.inputs,
                  "a safetensors file with input.0, input.1, ...");
  run->add_option("--outputs", run_options_.outputs,
                  "write output.0, output.1, ... to this safetensors file");
  run->add_option("--grads", run_options_.gradients,
                  "write the gradient of the sum of all floating outputs for "
                  "each parameter");
  run->add_option("--device", run_options_.device, "run it on this device");
  run->add_flag("--compile", run_options_.compiled, "replay it by sy::compile");
  plugin_option(run, plugins_);
  run_ = run;
}

std::optional<int> ModelCommands::run() const {
  if (!model_->parsed()) return {};
  load_plugins(plugins_);
  return run_->parsed() ? run_model(options_, run_options_)
                        : describe_model(options_);
}

}  // namespace sy::tools

#include "backends/pjrt/client.h"

#include <map>
#include <mutex>
#include <string_view>

#include "backends/pjrt/ffi.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"

namespace sy::pjrt {

namespace {

// Note [Compile options]
// The options are a serialized message. Field 3 says one replica and one
// partition. Field 7 is a map of debug options by name: entries of a name
// (field 1) and a value (field 2), which has a bool in its field 2. By default
// maximum and minimum lose NaNs, and roundings to bfloat16 may be left out.
void set_off(std::string* options, std::string_view name) {
  const auto length = static_cast<char>(name.size());
  *options += '\x3a';
  *options += static_cast<char>(length + 6);
  *options += '\x0a';
  *options += length;
  *options += name;
  *options += std::string_view("\x12\x02\x10\x00", 4);
}

const std::string& compile_options() {
  static const auto& options = *new std::string([] {
    std::string text("\x1a\x04\x20\x01\x28\x01", 6);
    set_off(&text, "xla_cpu_enable_fast_min_max");
    set_off(&text, "xla_allow_excess_precision");
    return text;
  }());
  return options;
}

template <class T>
abi::NamedValue option(std::string_view name, abi::ValueType type,
                       T abi::NamedValue::*field, T value) {
  abi::NamedValue v;
  v.head.size = sizeof v;
  v.name = name.data();
  v.name_length = name.size();
  v.type = type;
  v.*field = value;
  return v;
}

// Small programs run on the calling thread where the plugin can do that. By
// default there are several devices, and no less threads than devices.
abi::Client* create_client(const Plugin& plugin) {
  const abi::NamedValue options[] = {
      option("asynchronous", abi::kFlag, &abi::NamedValue::flag, false),
      option<int64_t>("cpu_device_count", abi::kNumber,
                      &abi::NamedValue::number, 1)};
  abi::ClientCreate args;
  args.options = options;
  args.num_options = environment("PJRT_NPROC") != nullptr ? 2 : 1;
  abi::Error* const refused = plugin.try_call(args);
  if (refused == nullptr) return args.client;
  // Perhaps it does not know the options.
  plugin.drop(refused);
  args = {};
  plugin.call(args);
  return args.client;
}

}  // namespace

Client::Client(const Plugin& plugin)
    : plugin_(plugin), client_(create_client(plugin)) {
  abi::ClientPlatformName name;
  name.client = client_;
  plugin.call(name);
  const std::string_view platform(name.text, name.length);
  SY_CHECK(platform == "cpu", NotImplemented,
           "[pjrt] {}: its platform is {}; only cpu is supported",
           plugin.path(), platform);
  abi::ClientDevices devices;
  devices.client = client_;
  plugin.call(devices);
  SY_CHECK(devices.count > 0, Error, "[pjrt] {} has no devices", plugin.path());
  device_ = devices.devices[0];
  register_kernels(plugin);
}

Client& Client::open(const std::string& path) {
  static auto& mutex = *new std::mutex;
  static auto& clients = *new std::map<const Plugin*, std::unique_ptr<Client>>;
  const Plugin& plugin = Plugin::open(path);
  const std::lock_guard lock(mutex);
  auto& client = clients[&plugin];
  if (client == nullptr) {
    try {
      client.reset(new Client(plugin));
    } catch (Error& e) {
      e.add_context(str("while opening {}", path));
      throw;
    }
  }
  return *client;
}

std::string Client::describe() const {
  return str("cpu, {}, {}", plugin_.versions(), plugin_.path());
}

std::unique_ptr<Executable> Client::compile(
    const std::string& stablehlo, std::vector<Shape> inputs,
    std::vector<Shape> outputs, ArrayRef<Donation> donations) const {
  abi::ProgramText program;
  program.head.size = sizeof program;
  program.code = stablehlo.data();
  program.code_length = stablehlo.size();
  constexpr std::string_view kFormat = "mlir";
  program.format = kFormat.data();
  program.format_length = kFormat.size();
  abi::ClientCompile args;
  args.client = client_;
  args.program = &program;
  args.options = compile_options().data();
  args.options_length = compile_options().size();
  plugin_.call(args);
  std::unique_ptr<Executable> executable(
      new Executable(plugin_, client_, device_, args.loaded, std::move(inputs),
                     std::move(outputs), donations));
  executable->check_outputs();
  return executable;
}

}  // namespace sy::pjrt

#include "tools/sy/conform/failure_file.h"

#include <fmt/core.h>

#include <cstring>

#include "c10/dispatch/dispatcher.h"
#include "c10/process/error.h"
#include "tools/sy/calls/claims.h"
#include "tools/sy/calls/reproduction.h"
#include "tools/sy/cases/case_file.h"
#include "tools/sy/device/device_trials.h"
#include "tools/sy/device/red_zones.h"
#include "tools/sy/device/witness.h"
#include "tools/sy/trials/trials.h"

namespace sy::tools {

namespace {

std::string to_hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::string from_hex(const std::string& text, const std::string& where) {
  const auto digit = [&](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    SY_CHECK(c >= 'a' && c <= 'f', Value, "{}: expected hex digits", where);
    return c - 'a' + 10;
  };
  SY_CHECK(text.size() % 2 == 0, Value, "{}: half a byte", where);
  std::string out;
  for (size_t i = 0; i < text.size(); i += 2) {
    out += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
  }
  return out;
}

// Keys of the storages that a VALUE names.
void collect_keys(const Json& v, std::vector<std::string>& keys) {
  if (v.is_object() && v.contains("tensor") && v["tensor"].is_string()) {
    keys.push_back(v["tensor"]);
  }
  if (v.is_structured()) {
    for (const Json& e : v) collect_keys(e, keys);
  }
}

Json storages_json(const Json& c, const Safetensors& storages) {
  std::vector<std::string> keys;
  collect_keys(c, keys);
  Json out = Json::object();
  for (const std::string& key : keys) {
    const Safetensors::Entry& e = storages.at(key);
    out[key] = {{"dtype", safetensors_name(e.dtype)},
                {"shape", e.shape},
                {"bytes", to_hex(e.bytes)}};
  }
  return out;
}

Safetensors read_storages(const Json& v, const std::string& where) {
  Json header = Json::object();
  std::string data;
  for (const auto& [key, s] : v.items()) {
    const size_t begin = data.size();
    data += from_hex(s.at("bytes"), where);
    header[key] = {{"dtype", s.at("dtype")},
                   {"shape", s.at("shape")},
                   {"data_offsets", {begin, data.size()}}};
  }
  const std::string text = dump(header);
  const uint64_t length = text.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return Safetensors(bytes + text + data, where);
}

// The trials that the failure is one of.
struct Found {
  std::unique_ptr<CaseFile> file;
  std::unique_ptr<Trials> trials;
  size_t index = 0;
};

Found find_trial(OperatorHandle op, const Failure& f, const Claims* claims,
                 std::unique_ptr<CaseFile> file) {
  const Device device = device_of_tensors(f.device);
  Found out{std::move(file), nullptr, 0};
  if (!f.dtype.empty()) {
    const auto dtype = parse_scalar_type(f.dtype);
    SY_CHECK(dtype, Value, "unknown dtype {}", f.dtype);
    out.trials = device_trials(
        op, recast_calls(op, recorded_calls(op, *out.file), *dtype), device,
        f.gradients, claims != nullptr && claims->supports(op.name()));
  } else if (out.file != nullptr) {
    out.trials =
        make_trials(TrialKind::Replay, op, *out.file, {device, f.gradients});
  } else {
    out.trials =
        made_trials(op, device, f.tensors, f.words, claims, f.gradients);
  }
  for (size_t i = 0; i < out.trials->size(); ++i) {
    if (out.trials->id(i) == f.id) {
      out.index = i;
      return out;
    }
  }
  fail(ErrorKind::Value, "{}: there is no case {}", f.op, f.id);
}

std::unique_ptr<CaseFile> load_cases(const Failure& f) {
  if (f.cases.empty()) return nullptr;
  return std::make_unique<CaseFile>(CaseFile::load(f.cases, f.op));
}

}  // namespace

Json failure_json(const Failure& f) {
  Json out = {{"op", f.op},           {"id", f.id},
              {"why", f.why},         {"device", f.device},
              {"plugins", f.plugins}, {"gradients", f.gradients}};
  if (!f.dtype.empty()) out["dtype"] = f.dtype;
  if (f.cases.empty()) {
    out["tensors"] = f.tensors;
    if (!f.words.empty()) out["words"] = f.words;
    return out;
  }
  const std::string path = str("{}/{}.json", f.cases, f.op);
  const Json all = parse_json(read_file(path), path);
  const std::string as = f.dtype.empty() ? "" : " as " + f.dtype;
  for (const Json& c : all.at("cases")) {
    if (c.at("id").get<std::string>() + as == f.id) out["case"] = c;
  }
  SY_CHECK(out.contains("case"), Value, "{}: there is no case {}", path, f.id);
  out["storages"] = storages_json(out["case"], load_cases(f)->storages);
  return out;
}

std::string failure_cpp(const Failure& f, const Claims* claims) {
  const OperatorHandle op = Dispatcher::singleton().find_or_throw(f.op);
  const Found found = find_trial(op, f, claims, load_cases(f));
  const Reproduction r{op, f.device, f.plugins,
                       str("{}, {}: {}", op.name(), f.id, f.why)};
  return to_cpp(r, found.trials->arguments(found.index));
}

int replay_trial(const std::string& path) {
  const Json v = parse_json(read_file(path), path);
  Failure f;
  std::unique_ptr<CaseFile> file;
  try {
    f.op = v.at("op");
    f.id = v.at("id");
    f.device = v.at("device");
    f.plugins = v.at("plugins").get<std::vector<std::string>>();
    f.gradients = v.at("gradients");
    f.dtype = v.value("dtype", "");
    if (v.contains("case")) {
      file = std::make_unique<CaseFile>(CaseFile::parse(
          {{"op", f.op}, {"schema", ""}, {"cases", Json::array({v["case"]})}},
          read_storages(v.at("storages"), path), path));
    } else {
      f.tensors = v.at("tensors");
      f.words = v.value("words", "");
    }
  } catch (const Json::exception& e) {
    fail(ErrorKind::Value, "{}: {}", path, e.what());
  }
  const std::vector<Plugin> plugins = load_plugins(f.plugins);
  init();
  const OperatorHandle op = Dispatcher::singleton().find_or_throw(f.op);
  const Device device(f.device);
  const Claims* claims = claims_for(plugins, device);
  if (claims != nullptr) lay_red_zones(device);
  const Found found = find_trial(op, f, claims, std::move(file));
  const CaseResult r =
      Witness(op, device, claims).run(*found.trials, found.index);
  fmt::print("{} {} {}{}{}\n", r.why.empty() ? "PASS" : "FAIL", f.op, f.id,
             r.why.empty() ? "" : ": ", r.why);
  return r.why.empty() ? 0 : 1;
}

}  // namespace sy::tools

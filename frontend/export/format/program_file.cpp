#include "frontend/export/format/program_file.h"

#include <algorithm>

namespace sy::exporting {

namespace {

constexpr std::string_view kModels = "models/";
constexpr std::string_view kJson = ".json";

bool starts(const io::FileView& file, std::string_view bytes) {
  return file.size >= bytes.size() && file.text(0, bytes.size(), "") == bytes;
}

}  // namespace

ProgramFile::ProgramFile(std::string_view op, const std::string& path)
    : op_(op), file_(io::MappedFile::open(op, path)) {
  const io::FileView file = view();
  if (!starts(file, "PK")) {
    file.fail(
        "expected an archive of torch.export.save, got no archive: see "
        "docs/models.md");
  }
  for (io::ZipMember& member : io::read_zip(file)) {
    if (folder_.empty()) {
      folder_ = member.name.substr(0, member.name.find('/') + 1);
    }
    if (!member.name.starts_with(folder_)) {
      file.fail_key(member.name, "expected a member below {}",
                    io::in_quotes(folder_));
    }
    std::string name = member.name.substr(folder_.size());
    if (name.starts_with(kModels) && name.ends_with(kJson)) {
      models_.push_back(name.substr(
          kModels.size(), name.size() - kModels.size() - kJson.size()));
    }
    members_.emplace(std::move(name), std::move(member));
  }
  check_kind();
}

void ProgramFile::check_kind() const {
  const io::FileView file = view();
  const auto has = [&](std::string_view start) {
    return std::any_of(members_.begin(), members_.end(), [&](const auto& m) {
      return m.first.starts_with(start);
    });
  };
  if (models_.empty() && has("data/aotinductor/")) {
    file.fail(
        "expected a program of torch.export.save, got a package of "
        "AOTInductor: save the ExportedProgram itself");
  }
  if (has("constants.pkl") || has("code/")) {
    file.fail(
        "expected a program of torch.export.save, got a TorchScript archive: "
        "export the model with torch.export.export");
  }
  if (has("data.pkl")) {
    file.fail(
        "expected a program of torch.export.save, got tensors of torch.save: "
        "read_torch_file() reads them");
  }
  if (const auto old = members_.find("serialized_exported_program.json");
      old != members_.end()) {
    file.fail(
        "expected an archive of PyTorch 2.6 or newer, got one of an older "
        "version: export the model again");
  }
  const io::ZipMember* const format = find("archive_format");
  if (format == nullptr || models_.empty()) {
    file.fail("expected an archive of torch.export.save, got another one");
  }
  const Bytes text = bytes(*format);
  if (text.view.text(text.begin, text.end - text.begin, "") != "pt2") {
    file.fail_key("archive_format", "expected 'pt2'");
  }
  if (const io::ZipMember* const order = find("byteorder")) {
    const Bytes bytes_of = bytes(*order);
    const auto value =
        bytes_of.view.text(bytes_of.begin, bytes_of.end - bytes_of.begin, "");
    if (value != "little") {
      file.fail_key("byteorder", "expected 'little', got {}",
                    io::in_quotes(value));
    }
  }
}

const io::ZipMember* ProgramFile::find(const std::string& name) const {
  const auto found = members_.find(name);
  return found == members_.end() ? nullptr : &found->second;
}

ProgramFile::Bytes ProgramFile::bytes(const io::ZipMember& member) const {
  const io::FileView file = view();
  if (!member.deflated) {
    return {file, member.data, member.data + member.size, nullptr};
  }
  const auto text = std::make_shared<std::string>(member.size, '\0');
  auto* const data = reinterpret_cast<uint8_t*>(text->data());
  io::inflate_member(file, member, data);
  return {{file.op, file.path, data, text->size()}, 0, text->size(), text};
}

ProgramText ProgramFile::program(const std::string& model) const {
  const io::ZipMember* const member =
      find(std::string(kModels) + model + std::string(kJson));
  if (member == nullptr) {
    std::string names;
    for (const std::string& m : models_) {
      names += (names.empty() ? "" : ", ") + io::in_quotes(m);
    }
    view().fail("model: expected one of {}, got {}", names,
                io::in_quotes(model));
  }
  const Bytes text = bytes(*member);
  return read_program_text(text.view, text.begin, text.end);
}

ProgramFile::Payloads ProgramFile::payloads(const std::string& config,
                                            const std::string& folder) const {
  Payloads out;
  const io::ZipMember* const member = find(folder + config);
  if (member == nullptr) return out;
  const Bytes text = bytes(*member);
  for (auto& [name, payload] : read_payloads(text.view, text.begin, text.end)) {
    Payload& made = out[name];
    const io::ZipMember* const data = find(folder + payload.path);
    if (data == nullptr) {
      view().fail_key(name, "expected a member {}, which is not there",
                      io::in_quotes(folder + payload.path));
    }
    if (data->deflated) {
      view().fail_key(name, "expected a stored member {}, got a deflated one",
                      io::in_quotes(data->name));
    }
    made.text = std::move(payload);
    made.begin = data->data;
    made.size = data->size;
  }
  return out;
}

ProgramFile::Payloads ProgramFile::weights(const std::string& model) const {
  return payloads(model + "_weights_config.json", "data/weights/");
}

ProgramFile::Payloads ProgramFile::constants(const std::string& model) const {
  return payloads(model + "_constants_config.json", "data/constants/");
}

}  // namespace sy::exporting

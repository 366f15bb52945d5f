#include "frontend/export/write/archive.h"

#include <map>
#include <utility>

#include "aten/operators.h"
#include "frontend/export/write/json_writer.h"
#include "frontend/io/format/output_file.h"
#include "frontend/io/format/zip.h"
#include "frontend/io/tensor_bytes.h"
#include "frontend/io/torch_file.h"

namespace sy::exporting {

namespace {

constexpr const char* kOp = "export_program";
constexpr std::string_view kFolder = "archive/";

// The elements of a storage that the file has, as a row.
struct Row {
  Tensor elements;
  int64_t begin = 0;  // in the storage
};

struct Named {
  std::string name;
  Tensor tensor;
  bool is_parameter;
};

// Tensors in a folder of the archive, "data/weights/".
class Payloads {
 public:
  Payloads(std::string folder, std::string prefix)
      : folder_(std::move(folder)), prefix_(std::move(prefix)) {}

  void add(Named n) {
    io::check_savable(kOp, n.name, n.tensor);
    const auto key = key_of(n.tensor);
    const auto [at, added] = numbers_.try_emplace(key, rows_.size());
    if (added) {
      rows_.push_back(row_of(n.tensor));
    } else if (!is_within(rows_[at->second], n.tensor)) {
      rows_[at->second] = {row(n.tensor, 0, room(n.tensor)), 0};
    }
    tensors_.push_back(std::move(n));
  }

  std::string config() const {
    JsonWriter w;
    w.begin_object().key("config").begin_object();
    for (const Named& n : tensors_) {
      const size_t number = numbers_.at(key_of(n.tensor));
      const Tensor& t = n.tensor;
      w.key(n.name).begin_object();
      w.key("path_name").text(str("{}{}", prefix_, number));
      w.key("is_param").boolean(n.is_parameter);
      w.key("use_pickle").boolean(false);
      w.key("tensor_meta");
      w.json(tensor_meta(t.scalar_type(), t.sizes(), t.strides(),
                         t.storage_offset() - rows_[number].begin, t.device(),
                         t.requires_grad()));
      w.end_object();
    }
    return w.end_object().end_object().str();
  }

  template <class F>  // f(name, bytes, size)
  void each_row(const F& f) const {
    for (size_t i = 0; i < rows_.size(); ++i) {
      const Tensor data = io::on_cpu(kOp, rows_[i].elements);
      f(str("{}{}{}", folder_, prefix_, i), data.raw_data(), data.nbytes());
    }
  }

 private:
  using Key = std::pair<const StorageImpl*, ScalarType>;

  static Key key_of(const Tensor& t) {
    return {t.storage().get(), t.scalar_type()};
  }
  static int64_t room(const Tensor& t) {
    return static_cast<int64_t>(t.storage()->nbytes() / t.element_size());
  }
  static Tensor row(const Tensor& t, int64_t begin, int64_t size) {
    return Tensor(t.impl()->alias({size}, {1}, begin));
  }
  // Its own elements alone if they lie in a row.
  static Row row_of(const Tensor& t) {
    if (!t.is_non_overlapping_and_dense()) return {row(t, 0, room(t)), 0};
    return {row(t, t.storage_offset(), t.numel()), t.storage_offset()};
  }
  static bool is_within(const Row& r, const Tensor& t) {
    if (r.begin == 0 && r.elements.numel() == room(t)) return true;
    return t.is_non_overlapping_and_dense() && t.storage_offset() == r.begin &&
           t.numel() == r.elements.numel();
  }

  std::string folder_, prefix_;
  std::vector<Named> tensors_;
  std::vector<Row> rows_;
  std::map<Key, size_t> numbers_;
};

class Archive {
 public:
  explicit Archive(io::Output& file) : file_(file), zip_(file) {}

  void member(const std::string& name, const void* data, uint64_t size) {
    zip_.member(kOp, std::string(kFolder) + name, size,
                io::crc32(0, data, size));
    file_.write(data, size);
  }
  void member(const std::string& name, std::string_view text) {
    member(name, text.data(), text.size());
  }
  void finish() { zip_.finish(); }

 private:
  io::Output& file_;
  io::ZipWriter zip_;
};

// The arguments of the export, as torch.save writes (args, kwargs).
std::string sample_inputs(const Recorded& r) {
  const size_t positional = r.inputs.size() - r.keywords;
  std::vector<ArchiveValue> first(r.inputs.begin(),
                                  r.inputs.begin() + long(positional));
  std::vector<ArchiveEntry> named;
  for (size_t i = positional; i < r.inputs.size(); ++i) {
    named.push_back({ArchiveValue(r.input_names[i]), r.inputs[i]});
  }
  return torch_file_bytes(
      ArchiveValue::tuple({ArchiveValue::tuple(std::move(first)),
                           ArchiveValue::dict(std::move(named))}));
}

}  // namespace

void write_archive(const std::string& path, const std::string& model,
                   const Recorded& recorded, const ProgramJson& program) {
  Payloads weights("data/weights/", "weight_");
  Payloads constants("data/constants/", "tensor_");
  for (const HeldTensor& h : recorded.held) {
    Payloads& to = h.is_parameter || h.persistent ? weights : constants;
    to.add({h.name, h.tensor, h.is_parameter});
  }
  const auto& lifted = recorded.runs[0].constants;
  for (size_t i = 0; i < lifted.size(); ++i) {
    constants.add({program.constants[i], lifted[i].tensor, false});
  }
  const std::string samples = sample_inputs(recorded);

  io::OutputFile file(kOp, path);
  Archive archive(file);
  archive.member("archive_format", "pt2");
  const auto write = [&](const std::string& name, const void* data,
                         uint64_t size) { archive.member(name, data, size); };
  weights.each_row(write);
  archive.member(str("data/weights/{}_weights_config.json", model),
                 weights.config());
  constants.each_row(write);
  archive.member(str("data/constants/{}_constants_config.json", model),
                 constants.config());
  archive.member(str("models/{}.json", model), program.text);
  archive.member(str("data/sample_inputs/{}.pt", model), samples);
  archive.member("archive_version", "0");
  archive.member("byteorder", "little");
  archive.member(".data/version", "6\n");
  archive.finish();
  file.commit();
}

}  // namespace sy::exporting

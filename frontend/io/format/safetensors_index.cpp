#include "frontend/io/format/safetensors_index.h"

#include <algorithm>

#include "frontend/io/format/json.h"

namespace sy::io {

namespace {

constexpr const char* kMetadata = "metadata";
constexpr const char* kWeightMap = "weight_map";
constexpr const char* kTotalSize = "total_size";

class IndexReader final : public JsonHandler {
 public:
  IndexReader(const FileView& file, SafetensorsIndex& out)
      : file_(file), out_(out) {}

  bool has_files() const { return seen_[kFilesObject]; }

  void begin_object(uint64_t at) override {
    if (++depth_ == 1) return;
    if (depth_ > 2) unexpected(at, "an object");
    object_ = name_ == kWeightMap ? kFilesObject : kMetadataObject;
    if (seen_[object_]) {
      file_.fail_at(at, "{}: expected once, got twice", in_quotes(name_));
    }
    seen_[object_] = true;
  }
  void end_object(uint64_t) override { --depth_; }
  void begin_array(uint64_t at) override { unexpected(at, "a list"); }
  void end_array(uint64_t at) override { unexpected(at, "a list"); }

  void key(uint64_t at, std::string& name) override {
    if (depth_ == 1 && name != kMetadata && name != kWeightMap) {
      file_.fail_at(at, "expected metadata and weight_map, got {}",
                    in_quotes(name));
    }
    name_ = std::move(name);
  }

  void string(uint64_t at, std::string& value) override {
    if (depth_ != 2) unexpected(at, "a string");
    if (object_ == kFilesObject) {
      check_name(at, value);
      out_.files.emplace_back(std::move(name_), std::move(value));
    } else {
      out_.metadata.emplace_back(std::move(name_), std::move(value));
    }
  }
  void unsigned_number(uint64_t at, uint64_t value) override {
    other(at, std::to_string(value));
  }
  void other(uint64_t at, const std::string& value) override {
    if (depth_ != 2 || object_ == kFilesObject) unexpected(at, value);
    out_.metadata.emplace_back(std::move(name_), value);
  }

 private:
  enum Object { kFilesObject, kMetadataObject };

  [[noreturn]] void unexpected(uint64_t at, std::string_view got) {
    if (depth_ == 0) file_.fail_at(at, "expected an object, got {}", got);
    file_.fail_at(at, "{}: expected {}, got {}", in_quotes(name_),
                  depth_ == 1               ? "an object"
                  : object_ == kFilesObject ? "the name of a file"
                                            : "a string or a number",
                  got);
  }

  // An index that came with a model must not reach into other folders.
  void check_name(uint64_t at, std::string_view path) {
    bool good = !path.empty() && path.find('\0') == path.npos;
    for (size_t begin = 0; good && begin <= path.size();) {
      const size_t end = std::min(path.find('/', begin), path.size());
      const std::string_view part = path.substr(begin, end - begin);
      good = !part.empty() && part != "." && part != "..";
      begin = end + 1;
    }
    if (good) return;
    file_.fail_at(at, "{}: expected a file in the folder of the index, got {}",
                  in_quotes(name_), in_quotes(path));
  }

  const FileView& file_;
  SafetensorsIndex& out_;
  int depth_ = 0;
  Object object_ = kFilesObject;  // at depth 2
  bool seen_[2] = {};
  std::string name_;
};

}  // namespace

SafetensorsIndex parse_safetensors_index(const FileView& file) {
  SafetensorsIndex index;
  IndexReader reader(file, index);
  read_json(file, 0, file.size, reader);
  if (!reader.has_files()) file.fail_key(kWeightMap, "expected once, got none");
  const std::string* twice = repeated(index.files);
  if (twice == nullptr) twice = repeated(index.metadata);
  if (twice != nullptr) file.fail_key(*twice, "expected once, got twice");
  return index;
}

std::string safetensors_index(std::string_view op,
                              const SafetensorsIndex& index,
                              uint64_t total_size) {
  std::string out = str("{{\"{}\":", kMetadata);
  StringPairs metadata = index.metadata;
  std::erase_if(metadata, [](const auto& m) { return m.first == kTotalSize; });
  append_json_object(out, metadata, op, "metadata");
  // A number, as others write it.
  out.pop_back();
  out += str("{}\"{}\":{}}},\"{}\":", metadata.empty() ? "" : ",", kTotalSize,
             total_size, kWeightMap);
  append_json_object(out, index.files, op, "tensors");
  return out + "}\n";
}

}  // namespace sy::io

#pragma once

#include <sy/io.h>
#include <sy/sy.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace vision {

// The command line of a program: words in order, and options "--name value".
// --device, --plugin and --save are options of all programs: models run on the
// device, whose library is loaded by its name or from the file `plugin`, and
// their numbers are saved.
class Arguments {
 public:
  // `usage` has a word for each argument in capitals, and [--option VALUE]s.
  // Ends the program with it unless the words are as many and the options some
  // of these.
  Arguments(int argc, char** argv, std::string_view usage);

  const std::string& operator[](size_t i) const { return words_.at(i); }
  std::string option(const std::string& name, std::string otherwise) const;
  // A whole number over 0, and any number. These end the program if the option
  // is something else.
  int64_t number(const std::string& name, int64_t otherwise) const;
  double real(const std::string& name, double otherwise) const;
  sy::Device device() const { return device_; }

 private:
  double parsed(const std::string& name, double otherwise) const;

  std::string usage_;
  std::vector<std::string> words_;
  std::map<std::string, std::string> options_;
  sy::Device device_{sy::kCPU};
};

// Lines of the file that --labels names: the words of label i.
class Labels {
 public:
  explicit Labels(const std::string& path);  // "": none
  // "12" if there is no word for it.
  std::string operator[](int64_t label) const;

 private:
  std::vector<std::string> words_;
};

// Writes tensors to the file that --save names, as safetensors.
void save(const Arguments& arguments, const sy::NamedTensors& results);

// Prints how many calls of the model's operators ran on the CPU, if it was
// elsewhere.
void tell_fallbacks(sy::Device device);

}  // namespace vision

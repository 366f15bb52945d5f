#include "aten/print.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <ostream>
#include <vector>

#include "aten/engine/copy.h"

namespace sy {

namespace {

constexpr int64_t kLineWidth = 80;

// How the numbers of one matrix or vector are written: all divided by `scale`,
// right-aligned.
struct Style {
  const char* format = "%*.0f";
  int width = 0;
  double scale = 1;
};

Style style_of(const double* x, int64_t n) {
  bool whole = true, special = false;
  double low = 0, high = 0;
  bool first = true;
  for (int64_t i = 0; i < n; ++i) {
    const double z = std::fabs(x[i]);
    if (!std::isfinite(z)) {
      special = true;
      continue;
    }
    whole = whole && z == std::ceil(z);
    low = first ? z : std::min(low, z);
    high = first ? z : std::max(high, z);
    first = false;
  }
  const auto digits = [](double z) {
    return z == 0 ? 1 : static_cast<int>(std::floor(std::log10(z))) + 1;
  };
  const int least = first ? 1 : digits(low), most = first ? 1 : digits(high);
  Style s;
  if (whole) {
    s.width = most + 1;
    if (most > 9) s = {"%*.4e", 11, 1};
  } else if (most - least > 4) {
    s = {"%*.4e", std::abs(most) > 99 || std::abs(least) > 99 ? 12 : 11, 1};
  } else if (most > 5 || most < 0) {
    s = {"%*.4f", 7, std::pow(10.0, most - 1)};
  } else {
    s = {"%*.4f", most == 0 ? 7 : most + 6, 1};
  }
  if (special) s.width = std::max(s.width, 5);  // " -inf"
  return s;
}

class Printer {
 public:
  std::string text;

  void vector(const double* x, int64_t n) {
    const Style s = style_of(x, n);
    scale(s);
    for (int64_t i = 0; i < n; ++i) {
      number(s, x[i]);
      text += '\n';
    }
  }

  void matrix(const double* x, int64_t rows, int64_t columns, int64_t indent) {
    if (rows == 0 || columns == 0) return;
    const Style s = style_of(x, rows * columns);
    const int64_t per_line =
        std::max<int64_t>(1, (kLineWidth - indent) / (s.width + 1));
    const std::string margin(static_cast<size_t>(indent), ' ');
    for (int64_t first = 0; first < columns; first += per_line) {
      const int64_t end = std::min(columns, first + per_line);
      if (per_line < columns) {
        if (first != 0) text += '\n';
        text += str("Columns {} to {}\n", first + 1, end);
      }
      if (s.scale != 1) text += margin;
      scale(s);
      for (int64_t r = 0; r < rows; ++r) {
        text += margin;
        for (int64_t c = first; c < end; ++c) {
          if (c != first) text += ' ';
          number(s, x[r * columns + c]);
        }
        text += '\n';
      }
    }
  }

  // The matrices of a tensor of more dims, the first of which counts fastest.
  void batches(const double* x, IntArrayRef sizes) {
    const size_t n = sizes.size() - 2;
    const int64_t rows = sizes[n], columns = sizes[n + 1];
    std::vector<int64_t> at(n, 0);
    for (bool more = true, first = true; more; first = false) {
      if (!first) text += '\n';
      text += '(';
      int64_t batch = 0;
      for (size_t d = 0; d < n; ++d) {
        text += str("{},", at[d] + 1);
        batch = batch * sizes[d] + at[d];
      }
      text += ".,.) = \n";
      matrix(x + batch * rows * columns, rows, columns, 1);
      more = false;
      for (size_t d = 0; d < n && !more; ++d) {
        if (++at[d] < sizes[d]) {
          more = true;
        } else {
          at[d] = 0;
        }
      }
    }
  }

 private:
  void scale(const Style& s) {
    if (s.scale == 1) return;
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%g *\n", s.scale);
    text += buffer;
  }
  void number(const Style& s, double v) {
    char buffer[352];
    std::snprintf(buffer, sizeof buffer, s.format, s.width, v / s.scale);
    text += buffer;
  }
};

// "[ CPUFloatType{2,3} ]"
std::string type_line(const Tensor& t) {
  std::string device = Device(t.device().type()).str();
  if (t.device().is_meta()) {
    device = "Meta";
  } else {
    for (char& c : device) {
      c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
  }
  std::string out = "[ " + device;
  out += kScalarTypeInfo[static_cast<int>(t.dtype())].enum_name;
  out += "Type{";
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (d != 0) out += ',';
    out += std::to_string(t.sizes()[static_cast<size_t>(d)]);
  }
  return out + "} ]";
}

std::string scalar(const Tensor& t, double v) {
  // int64 beyond 2^53 is no double.
  if (t.dtype() == kLong) {
    return std::to_string(*static_cast<const int64_t*>(t.raw_data()));
  }
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", v);
  return buffer;
}

}  // namespace

std::string to_string(const Tensor& t) {
  if (!t.defined()) return "[ Tensor (undefined) ]";
  if (t.is_meta()) return type_line(t);
  Printer p;
  if (t.numel() != 0) {
    t.impl()->const_data("print");
    const Tensor host = t.is_cpu() ? t : to_device(t, Device(kCPU));
    const Tensor numbers = contiguous_cpu(host, kDouble);
    const auto* x = static_cast<const double*>(numbers.raw_data());
    switch (t.dim()) {
      case 0: p.text = scalar(host, *x) + "\n"; break;
      case 1: p.vector(x, t.numel()); break;
      case 2: p.matrix(x, t.sizes()[0], t.sizes()[1], 0); break;
      default: p.batches(x, t.sizes());
    }
  }
  return p.text + type_line(t);
}

std::ostream& operator<<(std::ostream& stream, const Tensor& t) {
  return stream << to_string(t);
}

}  // namespace sy

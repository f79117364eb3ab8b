// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "python/interpreter/builtins.hpp"

namespace schedmate::python {
namespace {

constexpr std::string_view kinds = "bcdeEfFgGnosxX%";

bool plausible(std::string_view how) {
  // fmt would take widths and precisions of any size.
  int digits = 0;
  for (const char c : how) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 3 || c == '{' || c == '}') return false;
  }
  return true;
}

template <class T>
std::optional<std::string> with_fmt(std::string_view how, const T& value) {
  try {
    return fmt::format(fmt::runtime(fmt::format("{{:{}}}", how)), value);
  } catch (const fmt::format_error&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<std::string> format_value(const Value& value, std::string_view how) {
  if (!plausible(how)) return std::nullopt;
  // Python's "," groups digits in threes; the value matters here, not its looks.
  std::string plain(how);
  std::erase_if(plain, [](char c) { return c == ',' || c == '_'; });
  const char kind = plain.empty() ? 's' : plain.back();
  const bool of_numbers = kind != 's' && kinds.find(kind) != std::string_view::npos;
  const auto* whole = value.integer();
  if (kind == '%') {
    const auto number = value.number();
    if (!number) return std::nullopt;
    plain.back() = 'f';
    auto text = with_fmt(plain, *number * 100);
    return text ? std::optional(*text + "%") : text;
  }
  if (whole != nullptr && (kind == 'f' || kind == 'e' || kind == 'g' || kind == 'F' || kind == 'E'))
    return with_fmt(plain, static_cast<double>(*whole));
  if (whole != nullptr) return with_fmt(plain, *whole);
  if (value.real() != nullptr) return with_fmt(plain, *value.real());
  if (value.text() != nullptr && !of_numbers) return with_fmt(plain, *value.text());
  if (value.boolean() != nullptr)
    return of_numbers ? with_fmt(plain, *value.boolean() ? 1 : 0) : with_fmt(plain, repr(value));
  return std::nullopt;
}

std::optional<std::string> percent_format(Interpreter& in, const std::string& format,
                                          const Value& values) {
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out += format[i];
      continue;
    }
    if (format[++i] == '%') {
      out += '%';
      continue;
    }
    Value value;
    if (format[i] == '(') {
      const auto end = format.find(')', i);
      if (end == std::string::npos) return std::nullopt;
      value = in.item(values, Value(format.substr(i + 1, end - i - 1)));
      i = end + 1;
    } else if (const List* list = values.items()) {
      if (next >= list->size()) return std::nullopt;
      value = (*list)[next++];
    } else {
      value = values;
    }
    const auto end = format.find_first_of("diouxXeEfFgGcrsa", i);
    if (end == std::string::npos) return std::nullopt;
    bool known = true;
    std::string shown = in.to_text(value, &known);
    if (!known) return std::nullopt;
    std::string how = format.substr(i, end - i + 1);
    const char kind = how.back();
    if (kind == 'r' && value.text() != nullptr) shown = repr(value);
    if (kind == 'i' || kind == 'u') how.back() = 'd';
    if (kind == 'd' && value.real() != nullptr)
      value = Value(static_cast<std::int64_t>(*value.real()));
    if (how.size() > 1 || (kind != 's' && kind != 'r')) {
      if (auto formatted = format_value(value, how)) shown = std::move(*formatted);
    }
    out += shown;
    i = end;
  }
  return out;
}

}  // namespace schedmate::python

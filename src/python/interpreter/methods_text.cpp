// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <map>

#include "base/text.hpp"
#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {
namespace {

using Text = const std::string&;
using MaybeValue = std::optional<Value>;
using TextMethod = MaybeValue (*)(Text self, const Arguments& arguments);

constexpr std::string_view blanks = " \t\n\r\f\v";

const std::string* text_at(const Arguments& arguments, std::size_t position) {
  return position < arguments.positional.size() ? arguments.positional[position].text() : nullptr;
}

template <int (*convert)(int)>
MaybeValue each_letter(Text self, const Arguments&) {
  std::string out = self;
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(convert(c)); });
  return Value(std::move(out));
}

template <int (*test)(int)>
MaybeValue all_letters(Text self, const Arguments&) {
  const bool all = std::ranges::all_of(self, [](unsigned char c) { return test(c) != 0; });
  return Value(!self.empty() && all);
}

/// islower and isupper: at least one letter, and none of the other case.
template <int (*test)(int), int (*other)(int)>
MaybeValue cased(Text self, const Arguments&) {
  const auto any = [&](int (*what)(int)) {
    return std::ranges::any_of(self, [&](unsigned char c) { return what(c) != 0; });
  };
  return Value(any(test) && !any(other));
}

MaybeValue capitalised(Text self, const Arguments& arguments) {
  MaybeValue low = each_letter<std::tolower>(self, arguments);
  std::string out = *low->text();
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return Value(std::move(out));
}

MaybeValue titled(Text self, const Arguments&) {
  std::string out = self;
  bool inside = false;
  for (char& c : out) {
    const auto letter = static_cast<unsigned char>(c);
    c = static_cast<char>(inside ? std::tolower(letter) : std::toupper(letter));
    inside = std::isalpha(letter) != 0;
  }
  return Value(std::move(out));
}

template <bool left, bool right>
MaybeValue stripped(Text self, const Arguments& arguments) {
  const std::string* marks = text_at(arguments, 0);
  if (!arguments.positional.empty() && marks == nullptr && !arguments.positional[0].is_none())
    return std::nullopt;
  const std::string_view what = marks == nullptr ? blanks : std::string_view(*marks);
  std::string_view rest = self;
  if (left) rest.remove_prefix(std::min(rest.find_first_not_of(what), rest.size()));
  if (right) rest = rest.substr(0, rest.find_last_not_of(what) + 1);
  return Value(std::string(rest));
}

template <bool at_start>
MaybeValue has_end(Text self, const Arguments& arguments) {
  if (arguments.positional.empty()) return std::nullopt;
  const auto fits = [&](const std::string& part) {
    return at_start ? self.starts_with(part) : self.ends_with(part);
  };
  if (const std::string* part = text_at(arguments, 0)) return Value(fits(*part));
  const List* parts = arguments.positional[0].items();
  if (parts == nullptr) return std::nullopt;
  for (const Value& part : *parts) {
    if (part.text() == nullptr) return std::nullopt;
    if (fits(*part.text())) return Value(true);
  }
  return Value(false);
}

List split_blanks(std::string_view text) {
  List parts;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    if (text.empty()) return parts;
    const auto end = std::min(text.find_first_of(blanks), text.size());
    parts.emplace_back(std::string(text.substr(0, end)));
    text.remove_prefix(end);
  }
}

template <bool from_right>
MaybeValue split_at(Text self, const Arguments& arguments) {
  const Value* separator = arguments.find("sep", 0);
  const Value* most = arguments.find("maxsplit", 1);
  if (separator == nullptr || separator->is_none()) return Value::list(split_blanks(self));
  if (separator->text() == nullptr || separator->text()->empty()) return std::nullopt;
  const std::string& mark = *separator->text();
  std::int64_t left = most == nullptr || most->integer() == nullptr ? -1 : *most->integer();
  List parts;
  std::string_view rest = self;
  while (left-- != 0) {
    const auto at = from_right ? rest.rfind(mark) : rest.find(mark);
    if (at == std::string_view::npos) break;
    const auto after = at + mark.size();
    parts.emplace_back(std::string(from_right ? rest.substr(after) : rest.substr(0, at)));
    rest = from_right ? rest.substr(0, at) : rest.substr(after);
  }
  parts.emplace_back(std::string(rest));
  if (from_right) std::ranges::reverse(parts);
  return Value::list(std::move(parts));
}

template <bool from_right>
MaybeValue partition(Text self, const Arguments& arguments) {
  const std::string* mark = text_at(arguments, 0);
  if (mark == nullptr || mark->empty()) return std::nullopt;
  const auto at = from_right ? self.rfind(*mark) : self.find(*mark);
  if (at == std::string::npos) {
    List parts{Value(self), Value(""), Value("")};
    if (from_right) std::ranges::reverse(parts);
    return Value::list(std::move(parts));
  }
  return Value::list(
      {Value(self.substr(0, at)), Value(*mark), Value(self.substr(at + mark->size()))});
}

MaybeValue replaced(Text self, const Arguments& arguments) {
  const std::string* old = text_at(arguments, 0);
  const std::string* fresh = text_at(arguments, 1);
  if (old == nullptr || fresh == nullptr || old->empty()) return std::nullopt;
  std::string out;
  std::size_t from = 0;
  for (auto at = self.find(*old); at != std::string::npos; at = self.find(*old, from)) {
    out.append(self, from, at - from).append(*fresh);
    from = at + old->size();
    if (out.size() > 1'000'000) return std::nullopt;
  }
  return Value(out.append(self, from));
}

MaybeValue joined_parts(Text self, const Arguments& arguments) {
  const List* parts = arguments.positional.empty() ? nullptr : arguments.positional[0].items();
  if (parts == nullptr) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    if ((*parts)[i].text() == nullptr) return std::nullopt;
    out += (i > 0 ? self : "") + *(*parts)[i].text();
    if (out.size() > 1'000'000) return std::nullopt;
  }
  return Value(std::move(out));
}

MaybeValue lines_of(Text self, const Arguments&) {
  List lines;
  for (auto line : split(self, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(std::string(line));
  }
  if (!self.empty() && self.back() == '\n') lines.pop_back();
  return Value::list(std::move(lines));
}

template <bool from_right>
MaybeValue found_at(Text self, const Arguments& arguments) {
  const std::string* part = text_at(arguments, 0);
  if (part == nullptr || arguments.positional.size() > 1) return std::nullopt;
  const auto at = from_right ? self.rfind(*part) : self.find(*part);
  return Value(at == std::string::npos ? std::int64_t{-1} : static_cast<std::int64_t>(at));
}

MaybeValue counted(Text self, const Arguments& arguments) {
  const std::string* part = text_at(arguments, 0);
  if (part == nullptr || part->empty()) return std::nullopt;
  std::int64_t count = 0;
  for (auto at = self.find(*part); at != std::string::npos;
       at = self.find(*part, at + part->size()))
    ++count;
  return Value(count);
}

template <bool at_start>
MaybeValue without_end(Text self, const Arguments& arguments) {
  const std::string* part = text_at(arguments, 0);
  if (part == nullptr) return std::nullopt;
  if (at_start) return Value(self.starts_with(*part) ? self.substr(part->size()) : self);
  return Value(self.ends_with(*part) ? self.substr(0, self.size() - part->size()) : self);
}

MaybeValue filled(Text self, const Arguments& arguments) {
  const auto* width = arguments.positional.empty() ? nullptr : arguments.positional[0].integer();
  if (width == nullptr || *width > 1000) return std::nullopt;
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(*width, 0));
  return Value(self.size() >= wanted ? self : std::string(wanted - self.size(), '0') + self);
}

MaybeValue itself(Text self, const Arguments&) { return Value(self); }

const std::map<std::string_view, TextMethod>& text_methods() {
  static const std::map<std::string_view, TextMethod> table = {
      {"lower", each_letter<std::tolower>},
      {"casefold", each_letter<std::tolower>},
      {"upper", each_letter<std::toupper>},
      {"capitalize", capitalised},
      {"title", titled},
      {"strip", stripped<true, true>},
      {"lstrip", stripped<true, false>},
      {"rstrip", stripped<false, true>},
      {"startswith", has_end<true>},
      {"endswith", has_end<false>},
      {"split", split_at<false>},
      {"rsplit", split_at<true>},
      {"partition", partition<false>},
      {"rpartition", partition<true>},
      {"splitlines", lines_of},
      {"replace", replaced},
      {"join", joined_parts},
      {"find", found_at<false>},
      {"rfind", found_at<true>},
      {"index", found_at<false>},
      {"count", counted},
      {"removeprefix", without_end<true>},
      {"removesuffix", without_end<false>},
      {"isdigit", all_letters<std::isdigit>},
      {"isnumeric", all_letters<std::isdigit>},
      {"isdecimal", all_letters<std::isdigit>},
      {"isalpha", all_letters<std::isalpha>},
      {"isalnum", all_letters<std::isalnum>},
      {"isupper", cased<std::isupper, std::islower>},
      {"islower", cased<std::islower, std::isupper>},
      {"isspace", all_letters<std::isspace>},
      {"zfill", filled},
      {"encode", itself},
      {"decode", itself},
      {"expandtabs", itself},
  };
  return table;
}

}  // namespace

bool is_text_method(std::string_view name) {
  return name == "format" || name == "format_map" || text_methods().contains(name);
}

std::optional<Value> text_method(const std::string& self, std::string_view name,
                                 const Arguments& arguments) {
  const auto found = text_methods().find(name);
  return found == text_methods().end() ? std::nullopt : found->second(self, arguments);
}

}  // namespace schedmate::python

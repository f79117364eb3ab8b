// SPDX-License-Identifier: Apache-2.0
#include "face/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_reader.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace schedmate::face {
namespace {

constexpr std::size_t largest_request = std::size_t{16} << 20U;
constexpr JsonBounds bounds{.deepest = 4, .most_values = 200'000};

/// A setting's value as --set takes it; nothing for what cannot be one.
std::optional<std::string> as_text(const Document& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean() || value.is_number()) return value.dump();
  if (!value.is_array()) return std::nullopt;
  std::string all;
  for (const Document& each : value) {
    if (!each.is_string()) return std::nullopt;
    if (!all.empty()) all += ',';
    all += each.get<std::string>();
  }
  return all;
}

}  // namespace

Request::Request(std::string_view name, std::string_view text)
    : name_(name), object_(std::make_unique<Document>(Document::object())) {
  if (text.size() > largest_request) {
    complain(ErrorCode::invalid,
             fmt::format("the request is longer than {} MiB", largest_request >> 20U));
  } else if (!trim(text).empty()) {
    auto read = read_json(text, bounds);
    if (!read)
      complain(read.error().code, "the request: " + read.error().message);
    else if (!read->is_object())
      complain(ErrorCode::invalid, "the request is no JSON object");
    else
      *object_ = *std::move(read);
  }
}

Request::~Request() = default;

void Request::text(const char* key, std::string& into) {
  if (const Document* value = find(key)) take(*value, key, into);
}

void Request::texts(const char* key, std::vector<std::string>& into) {
  const Document* const value = find(key);
  if (value == nullptr) return;
  if (!value->is_array()) return complain_of_kind(key, "a list of texts");
  std::vector<std::string> all(value->size());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!take((*value)[i], key, all[i])) return;
  into = std::move(all);
}

void Request::file(const char* key, std::string& into) {
  text(key, into);
  refuse_pipe(key, into);
}

void Request::files(const char* key, std::vector<std::string>& into) {
  texts(key, into);
  for (const std::string& name : into) refuse_pipe(key, name);
}

void Request::flag(const char* key, bool& into) {
  const Document* const value = find(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) return complain_of_kind(key, "true or false");
  into = value->get<bool>();
}

void Request::whole(const char* key, std::int64_t& into, std::int64_t least) {
  std::optional<std::int64_t> value;
  whole(key, value, least);
  into = value.value_or(into);
}

void Request::whole(const char* key, std::optional<std::int64_t>& into, std::int64_t least) {
  const Document* const value = find(key);
  if (value == nullptr) return;
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool fits = value->is_number_integer() &&
                    !(value->is_number_unsigned() && value->get<std::uint64_t>() > most) &&
                    value->get<std::int64_t>() >= least;
  if (!fits) return complain_of_kind(key, fmt::format("a whole number, at least {}", least));
  into = value->get<std::int64_t>();
}

void Request::number(const char* key, std::optional<double>& into) {
  const Document* const value = find(key);
  if (value == nullptr) return;
  if (!value->is_number() || !std::isfinite(value->get<double>()))
    return complain_of_kind(key, "a number");
  into = value->get<double>();
}

void Request::pairs(const char* key, std::vector<std::pair<std::string, std::string>>& into) {
  const Document* const object = find(key);
  if (object == nullptr) return;
  if (!object->is_object()) return complain_of_kind(key, "an object");
  for (const auto& [name, value] : object->items()) {
    auto text = as_text(value);
    if (!text) return complain_of_kind(key, "an object of texts, numbers, true and false");
    if (text->contains('\0') || name.contains('\0'))
      return complain(ErrorCode::invalid, fmt::format("\"{}\" has a zero byte", key));
    into.emplace_back(name, *std::move(text));
  }
}

void Request::need(const char* key) {
  const Document& value = part(*object_, key);
  const bool is_empty = value.is_null() ||
                        (value.is_string() && value.get_ref<const std::string&>().empty()) ||
                        (value.is_array() && value.empty());
  if (is_empty) complain(ErrorCode::unsupported, fmt::format("\"{}\" is missing", key));
}

Result<void> Request::done() {
  if (error_) return tl::unexpected(*error_);
  for (const auto& [key, value] : object_->items()) {
    if (std::ranges::find(known_, key) != known_.end()) continue;
    return fail(ErrorCode::not_found,
                fmt::format("{}: {}", name_, unknown_name("key", printable(key), known_)));
  }
  return {};
}

const Document* Request::find(const char* key) {
  known_.emplace_back(key);
  const Document& value = part(*object_, key);
  return value.is_null() ? nullptr : &value;
}

void Request::complain(ErrorCode code, std::string_view what) {
  if (!error_) error_ = Error{code, fmt::format("{}: {}", name_, what)};
}

void Request::complain_of_kind(const char* key, std::string_view wanted) {
  complain(ErrorCode::unsupported, fmt::format("\"{}\" must be {}", key, wanted));
}

void Request::refuse_pipe(const char* key, std::string_view name) {
  if (name == "-" || name.ends_with(":-") || name.ends_with("=-"))
    complain(
        ErrorCode::unsupported,
        fmt::format("\"{}\": - is standard input, which is not the library's: give a file", key));
}

bool Request::take(const Document& value, const char* key, std::string& into) {
  if (!value.is_string()) {
    complain_of_kind(key, "a text");
    return false;
  }
  into = value.get<std::string>();
  if (!into.contains('\0')) return true;
  complain(ErrorCode::invalid, fmt::format("\"{}\" has a zero byte", key));
  return false;
}

}  // namespace schedmate::face

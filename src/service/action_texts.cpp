// SPDX-License-Identifier: Apache-2.0
#include "service/action_texts.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "secrets/outgoing.hpp"

namespace schedmate::service {
namespace {

constexpr std::array<std::string_view, 5> texts{"before", "note", "seen", "text", "why"};

void redact(Document& value) {
  if (value.is_string()) value = secrets::redacted(value.get_ref<const std::string&>());
  if (value.is_array())
    for (Document& each : value) redact(each);
}

void redact_texts(Document& document) {
  if (document.is_array())
    for (Document& each : document) redact_texts(each);
  if (!document.is_object()) return;
  for (auto& [key, value] : document.items())
    if (std::ranges::binary_search(texts, key))
      redact(value);
    else
      redact_texts(value);
}

}  // namespace

Document without_secrets(Document shown) {
  redact_texts(shown);
  return shown;
}

}  // namespace schedmate::service

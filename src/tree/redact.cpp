// SPDX-License-Identifier: Apache-2.0
#include "tree/redact.hpp"

#include <algorithm>

#include "tree/secret_spans.hpp"

namespace schedmate::tree {

std::string redact(std::string_view text) {
  Spans found;
  find_private_keys(text, found);
  find_key_forms(text, found);
  find_url_passwords(text, found);
  find_assigned_secrets(text, found);
  find_wandb_keys(text, found);
  std::ranges::sort(found, {}, &Span::begin);
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < found.size();) {
    Span span = found[i++];
    while (i < found.size() && found[i].begin <= span.end) {
      span.end = std::max(span.end, found[i++].end);
    }
    const std::string_view secret = text.substr(span.begin, span.end - span.begin);
    out += text.substr(at, span.begin - at);
    out += redaction_mark;
    out.append(static_cast<std::size_t>(std::ranges::count(secret, '\n')), '\n');
    at = span.end;
  }
  return out.append(text.substr(at));
}

}  // namespace schedmate::tree

// SPDX-License-Identifier: Apache-2.0
#include "slurm_live/answer.hpp"

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace schedmate::slurm_live {
namespace {

using Kind = LibraryAnswer::Kind;

constexpr unsigned bits_of_byte = 8;

std::string length_text(std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < frame_head_bytes; ++i)
    text += static_cast<char>(length >> (bits_of_byte * i) & 0xFFU);
  return text;
}

std::size_t length_in(std::string_view head) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < frame_head_bytes; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(head[i])) << (bits_of_byte * i);
  return length;
}

/// Takes the parts of an answer one by one.
class Parts {
 public:
  explicit Parts(std::string_view rest) : rest_(rest) {}
  [[nodiscard]] bool over() const { return rest_.empty(); }
  std::optional<std::string_view> next() {
    if (rest_.size() < frame_head_bytes) return std::nullopt;
    const std::size_t length = length_in(rest_);
    if (length > rest_.size() - frame_head_bytes) return std::nullopt;
    const auto part = rest_.substr(frame_head_bytes, length);
    rest_.remove_prefix(frame_head_bytes + length);
    return part;
  }

 private:
  std::string_view rest_;
};

tl::unexpected<Error> garbled() {
  return fail(ErrorCode::invalid, "what Slurm's library answered cannot be read");
}

Result<LibraryAnswer> read_news(Parts parts) {
  LibraryAnswer answer{.kind = Kind::news};
  while (!parts.over()) {
    const auto name = parts.next();
    const auto value = name ? parts.next() : std::nullopt;
    if (!value) return garbled();
    if (*name == last_update_name) {
      const auto changed = parse_number<std::int64_t>(*value);
      if (!changed || *changed < 0 || !parts.over()) return garbled();
      answer.changed = *changed;
      return answer;
    }
    if (*name == "JobId" || *name == "NodeName") answer.records.emplace_back();
    if (answer.records.empty()) return garbled();
    answer.records.back().put(with_valid_utf8(*name), with_valid_utf8(*value));
  }
  return garbled();  // cut off: the last part says when it was read
}

}  // namespace

std::optional<std::size_t> frame_bytes(std::string_view head) {
  if (head.size() < frame_head_bytes) return std::nullopt;
  const std::size_t length = length_in(head);
  return length > most_answer_bytes ? std::nullopt : std::optional(length);
}

AnswerWriter::AnswerWriter(Kind kind) : frame_(frame_head_bytes, '\0') {
  frame_ += static_cast<char>('a' + static_cast<int>(kind));
}

void AnswerWriter::put(std::string_view text) {
  if (frame_.size() > most_answer_bytes) return;
  frame_ += length_text(text.size());
  frame_ += text;
}

std::string AnswerWriter::finish() && {
  if (frame_.size() - frame_head_bytes > most_answer_bytes) {
    AnswerWriter other(Kind::failed);
    other.put("there are more jobs than can be told");
    return std::move(other).finish();
  }
  frame_.replace(0, frame_head_bytes, length_text(frame_.size() - frame_head_bytes));
  return std::move(frame_);
}

Result<LibraryAnswer> read_answer(std::string_view body) {
  constexpr char first = 'a', last = 'a' + static_cast<int>(Kind::failed);
  if (body.empty() || body.front() < first || body.front() > last) return garbled();
  const auto kind = static_cast<Kind>(body.front() - first);
  Parts parts(body.substr(1));
  if (kind == Kind::news) return read_news(parts);
  LibraryAnswer answer{.kind = kind};
  const bool has_text = kind == Kind::ready || kind == Kind::failed;
  if (has_text) {
    const auto text = parts.next();
    if (!text) return garbled();
    answer.text = with_valid_utf8(*text);
  }
  if (!parts.over()) return garbled();
  return answer;
}

}  // namespace schedmate::slurm_live

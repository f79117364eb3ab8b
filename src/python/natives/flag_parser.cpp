// SPDX-License-Identifier: Apache-2.0
#include "python/natives/flag_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace schedmate::python::natives {
namespace {

enum class Kind : std::uint8_t { value, option, divider };

/// What one word is before any is consumed.
struct Item {
  Kind kind = Kind::value;
  std::optional<std::size_t> spec;  ///< nothing for an unknown option
  std::string name;
  std::optional<std::string> attached;  ///< text after `=`, or after the letter of `-x5`
  bool negated = false;
  bool by_letter = false;  ///< `attached` follows a single letter without `=`
};

bool looks_like_number(std::string_view text) {
  return text.size() > 1 && text[0] == '-' && parse_number<double>(text).has_value() &&
         (std::isdigit(static_cast<unsigned char>(text[1])) != 0 || text[1] == '.');
}

class Matcher {
 public:
  Matcher(std::span<const FlagSpec> specs, std::span<const command::Word> words,
          const FlagSyntax& syntax)
      : specs_(specs), words_(words), syntax_(syntax) {}
  FlagMatch run();

 private:
  void classify_all();
  Item classify(const command::Word& word);
  std::optional<Item> exact(std::string_view text) const;
  std::vector<Item> candidates(std::string_view text) const;
  Item option_item(std::size_t spec, std::string_view name, bool negated) const;
  void take_option();
  void take_bundle(Item item);
  void take_values(const Item& item);
  std::size_t run_of_values(std::size_t from) const;
  bool may_be_nothing() const;
  void take_positionals();
  void share_out(std::size_t count);
  void check_required();
  void error(std::string message, const PlacePtr& place) {
    result_.errors.push_back({std::move(message), place});
  }
  command::Word attached_word(const Item& item) const;
  bool is_prefix(char c) const { return syntax_.prefix.find(c) != std::string::npos; }

  std::span<const FlagSpec> specs_;
  std::span<const command::Word> words_;
  const FlagSyntax& syntax_;
  std::vector<Item> items_;
  std::vector<std::size_t> positionals_;  ///< not yet matched
  bool numbers_are_flags_ = false;
  std::size_t at_ = 0;
  FlagMatch result_;
};

Item Matcher::option_item(std::size_t spec, std::string_view name, bool negated) const {
  Item item;
  item.kind = Kind::option;
  item.spec = spec;
  item.name = std::string(name);
  item.negated = negated;
  return item;
}

/// torch.distributed.launch adds it to the words of each process, in one spelling or the other.
bool is_rank(std::string_view name) { return name == "--local_rank" || name == "--local-rank"; }

std::optional<Item> Matcher::exact(std::string_view text) const {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (std::ranges::find(specs_[i].names, text) != specs_[i].names.end())
      return option_item(i, text, false);
    if (std::ranges::find(specs_[i].negations, text) != specs_[i].negations.end())
      return option_item(i, text, true);
  }
  return std::nullopt;
}

/// Options that `text` (without any `=`) abbreviates, and for one dash those that it starts with.
std::vector<Item> Matcher::candidates(std::string_view text) const {
  std::vector<Item> found;
  const bool one_dash = text.size() > 1 && !is_prefix(text[1]);
  if (!one_dash && !syntax_.abbreviations) return found;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    for (const std::string& name : specs_[i].names) {
      if (one_dash && syntax_.bundles && name == text.substr(0, 2)) {
        Item item = option_item(i, name, false);
        item.attached = std::string(text.substr(2));
        item.by_letter = true;
        found.push_back(std::move(item));
      } else if (syntax_.abbreviations && name.starts_with(text)) {
        found.push_back(option_item(i, name, false));
      }
    }
    for (const std::string& name : specs_[i].negations) {
      if (syntax_.abbreviations && name.starts_with(text))
        found.push_back(option_item(i, name, true));
    }
  }
  return found;
}

Item Matcher::classify(const command::Word& word) {
  const std::string_view text = word.text;
  if (text.size() < 2 || !is_prefix(text[0])) return {};
  if (auto item = exact(text)) return *item;
  const auto equals = text.find('=');
  const auto head = text.substr(0, equals);
  auto found = std::vector<Item>{};
  auto same = equals == std::string_view::npos ? std::nullopt : exact(head);
  if (!same && is_rank(head))
    same = exact(head == "--local_rank" ? "--local-rank" : "--local_rank");
  if (same) {
    found = {*same};
  } else {
    found = candidates(head);
  }
  if (found.size() > 1 && std::ranges::all_of(found, [&](const Item& item) {
        return item.spec == found.front().spec && item.negated == found.front().negated;
      }))
    found.resize(1);
  if (found.size() == 1) {
    if (equals != std::string_view::npos)
      found[0].attached =
          found[0].by_letter ? std::string(text.substr(2)) : std::string(text.substr(equals + 1));
    return found[0];
  }
  if (found.size() > 1)
    error(fmt::format("the flag {} could be {} or {}", head, found[0].name, found[1].name),
          word.place);
  if (looks_like_number(text) && !numbers_are_flags_) return {};
  if (text.find(' ') != std::string_view::npos) return {};
  Item unknown;
  unknown.kind = Kind::option;
  unknown.name = std::string(head);
  return unknown;
}

void Matcher::classify_all() {
  bool only_values = false;
  for (const command::Word& word : words_) {
    if (only_values) {
      items_.emplace_back();
    } else if (word.text == "--") {
      only_values = true;
      items_.emplace_back().kind = Kind::divider;
    } else {
      items_.push_back(classify(word));
      if (!syntax_.free_order && items_.back().kind == Kind::value) {
        const auto before = items_.size() > 1 ? items_[items_.size() - 2] : Item{};
        const bool taken = before.kind == Kind::option && before.spec && !before.attached &&
                           specs_[*before.spec].most > 0;
        only_values = !taken;
      }
    }
  }
}

command::Word Matcher::attached_word(const Item& item) const {
  return {item.attached.value_or(""), words_[at_].place, words_[at_].known};
}

std::size_t Matcher::run_of_values(std::size_t from) const {
  std::size_t count = 0;
  while (from + count < items_.size() && items_[from + count].kind == Kind::value) ++count;
  return count;
}

/// `-vvx5`: flags without values in one word.
void Matcher::take_bundle(Item item) {
  while (item.by_letter && item.attached && !item.attached->empty() &&
         specs_[*item.spec].most == 0) {
    result_.uses.push_back({*item.spec, {}, item.name, false, words_[at_].place});
    const auto next = exact(std::string{item.name[0], (*item.attached)[0]});
    if (!next) {
      error(fmt::format("the flag {} takes no value", item.name), words_[at_].place);
      ++at_;
      return;
    }
    const std::string left = item.attached->substr(1);
    item = *next;
    item.by_letter = true;
    item.attached = left.empty() ? std::nullopt : std::optional(left);
  }
  take_values(item);
}

void Matcher::take_values(const Item& item) {
  const FlagSpec& spec = specs_[*item.spec];
  FlagUse use{*item.spec, {}, item.name, item.negated, words_[at_].place};
  const int most = item.negated ? 0 : spec.most;
  if (item.attached) {
    if (most == 0) error(fmt::format("the flag {} takes no value", item.name), use.place);
    if (spec.least > 1)
      error(fmt::format("the flag {} needs {} values", item.name, spec.least), use.place);
    use.values.push_back(attached_word(item));
    ++at_;
  } else {
    ++at_;
    std::size_t count = std::min(run_of_values(at_), static_cast<std::size_t>(most));
    if (spec.attached_only) count = 0;
    if (spec.rest && !item.negated) count = words_.size() - at_;
    if (!item.negated && count < static_cast<std::size_t>(spec.least))
      error(fmt::format("the flag {} needs a value", item.name), use.place);
    for (std::size_t i = 0; i < count; ++i) use.values.push_back(words_[at_++]);
  }
  result_.uses.push_back(std::move(use));
}

void Matcher::take_option() {
  const Item item = items_[at_];
  if (item.spec) return item.by_letter ? take_bundle(item) : take_values(item);
  if (is_rank(item.name) && words_[at_].text.contains('=')) {
    ++at_;
    return;
  }
  result_.leftover.push_back(words_[at_++]);
}

/// Shares `count` words among the waiting positionals, each as many as it may while the later ones
/// keep their least; those that get too few wait for the next run of words.
void Matcher::share_out(std::size_t count) {
  std::size_t ready = 0;
  std::size_t needed = 0;
  for (const std::size_t index : positionals_) {
    const auto least = static_cast<std::size_t>(specs_[index].least);
    if (needed + least > count) break;
    needed += least;
    ++ready;
  }
  std::size_t left = count;
  for (std::size_t i = 0; i < ready; ++i) {
    const FlagSpec& spec = specs_[positionals_[i]];
    needed -= static_cast<std::size_t>(spec.least);
    std::size_t take = std::min(static_cast<std::size_t>(spec.most), left - needed);
    if (spec.rest) take = words_.size() - at_;
    FlagUse use{positionals_[i], {}, "", false, take > 0 ? words_[at_].place : PlacePtr{}};
    for (std::size_t k = 0; k < take; ++k) use.values.push_back(words_[at_++]);
    left -= std::min(left, take);
    result_.uses.push_back(std::move(use));
  }
  positionals_.erase(positionals_.begin(),
                     positionals_.begin() + static_cast<std::ptrdiff_t>(ready));
}

/// A bare $ARGS may be no word at all: it does not open the rest while flags follow.
bool Matcher::may_be_nothing() const {
  if (positionals_.empty() || !specs_[positionals_.front()].rest) return false;
  if (words_[at_].known || !words_[at_].text.starts_with('$')) return false;
  return std::ranges::any_of(items_.begin() + static_cast<std::ptrdiff_t>(at_), items_.end(),
                             [](const Item& item) { return item.spec.has_value(); });
}

void Matcher::take_positionals() {
  if (may_be_nothing()) return result_.leftover.push_back(words_[at_++]);
  const std::size_t count = run_of_values(at_);
  const std::size_t end = at_ + count;
  share_out(count);
  while (at_ < end) result_.leftover.push_back(words_[at_++]);
}

void Matcher::check_required() {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const FlagSpec& spec = specs_[i];
    if (!spec.required && (!spec.names.empty() || spec.least == 0)) continue;
    if (std::ranges::find(result_.uses, i, &FlagUse::spec) != result_.uses.end()) continue;
    const std::string& name = spec.names.empty() ? spec.dest : spec.names.front();
    if (is_rank(name)) continue;
    error(fmt::format("the required argument {} is missing", name), {});
  }
}

FlagMatch Matcher::run() {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].names.empty()) positionals_.push_back(i);
    for (const std::string& name : specs_[i].names)
      numbers_are_flags_ = numbers_are_flags_ || looks_like_number(name);
  }
  for (const command::Word& word : words_) {
    // A quoted "$DATA/x" is one value; a bare $ARGS may be any number of words.
    if (!word.known && word.text.starts_with('$')) result_.certain = false;
  }
  classify_all();
  while (at_ < words_.size()) {
    switch (items_[at_].kind) {
      case Kind::option:
        take_option();
        break;
      case Kind::divider:
        ++at_;
        break;
      case Kind::value:
        take_positionals();
        break;
    }
  }
  share_out(0);
  check_required();
  return std::move(result_);
}

}  // namespace

void set_nargs(FlagSpec& spec, std::string_view nargs) {
  spec.least = 1;
  spec.most = 1;
  spec.rest = false;
  if (nargs == "?" || nargs == "*") spec.least = 0;
  if (nargs == "*" || nargs == "+") spec.most = any_number;
  if (nargs == "...") spec.least = 0;
  spec.rest = nargs == "..." || nargs == "A...";
  if (const auto count = parse_number<int>(nargs)) spec.least = spec.most = *count;
}

FlagMatch match_flags(std::span<const FlagSpec> specs, std::span<const command::Word> words,
                      const FlagSyntax& syntax) {
  return Matcher(specs, words, syntax).run();
}

}  // namespace schedmate::python::natives

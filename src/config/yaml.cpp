// SPDX-License-Identifier: Apache-2.0

/// YAML through yaml-cpp's events rather than its nodes: events come with lines, and aliases can be
/// bounded before they are expanded.

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <ranges>
#include <sstream>
#include <unordered_map>

#include "config/places.hpp"
#include "config/readers.hpp"
#include "config/scalars.hpp"

namespace schedmate::config {
namespace {

/// Too large or too deep; leaves yaml-cpp's parser the only way there is.
struct DocumentTooLarge {
  int line;
  const char* why;
};

/// A finished node and what it holds when its aliases are written out.
struct Built {
  Value value;
  std::size_t nodes = 1;
  int depth = 1;
};

/// A list or dict that is being read.
struct Open {
  bool is_dict = false;
  std::string tag;
  YAML::anchor_t anchor = 0;
  PlacePtr place;
  List items;
  Dict entries;
  std::vector<Value> merges;  ///< values of `<<`
  std::optional<std::string> key;
  std::size_t nodes = 1;
  int depth = 1;
};

bool is_plain_tag(std::string_view tag) {
  return tag.empty() || tag == "?" || tag == "!" || tag.starts_with("tag:yaml.org,2002:map") ||
         tag.starts_with("tag:yaml.org,2002:seq") ||
         tag.starts_with("tag:yaml.org,2002:python/tuple") ||
         tag.starts_with("tag:yaml.org,2002:omap") || tag.starts_with("tag:yaml.org,2002:set");
}

Value::Data typed_word(std::string_view tag, const std::string& text) {
  if (tag == "!" || tag == "tag:yaml.org,2002:str") return text;
  auto word = read_word(text, Dialect::pyyaml);
  if (tag != "tag:yaml.org,2002:float") return word;
  if (const auto* whole = std::get_if<std::int64_t>(&word)) return static_cast<double>(*whole);
  return read_word(text, Dialect::omegaconf);
}

// Other keys than text become text, as Python's str() would write them.
std::string key_of(const Value& key) {
  if (const auto* text = key.text()) return *text;
  return repr(key);
}

class ValueBuilder : public YAML::EventHandler {
 public:
  explicit ValueBuilder(Places& places) : places_(places) {}

  std::optional<Value> root;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add({Value::none(place(mark))}, anchor, mark);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    const bool is_known = is_plain_tag(tag) || (tag.starts_with("tag:yaml.org,2002:") &&
                                                !tag.starts_with("tag:yaml.org,2002:python/"));
    Value value(is_known ? typed_word(tag, text) : read_word(text, Dialect::pyyaml), place(mark));
    if (!is_known) value = tagged(tag, std::move(value));
    add({std::move(value)}, anchor, mark);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto held = anchors_.find(anchor);
    if (held == anchors_.end()) return add({Value({}, place(mark))}, 0, mark);
    check(held->second.nodes, held->second.depth, mark);
    add({held->second.value.deep_copy(), held->second.nodes, held->second.depth}, 0, mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(false, tag, anchor, mark);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(true, tag, anchor, mark);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  PlacePtr place(const YAML::Mark& mark) {
    return places_.at(mark.line + 1, static_cast<std::size_t>(std::max(mark.column, 0)));
  }

  void check(std::size_t more_nodes, int more_depth, const YAML::Mark& mark) {
    nodes_ += more_nodes;
    if (nodes_ > most_nodes) throw DocumentTooLarge{mark.line + 1, "more than a million values"};
    if (static_cast<int>(stack_.size()) + more_depth > most_nesting)
      throw DocumentTooLarge{mark.line + 1, "nested more than 200 levels deep"};
  }

  void open(bool is_dict, const std::string& tag, YAML::anchor_t anchor, const YAML::Mark& mark) {
    check(1, 1, mark);
    Open made;
    made.is_dict = is_dict;
    made.tag = tag;
    made.anchor = anchor;
    made.place = place(mark);
    stack_.push_back(std::move(made));
  }

  static Value tagged(const std::string& tag, Value value) {
    Dict entries;
    const auto where = value.place;
    entries.set("!tag", Value(tag, where));
    entries.set("!value", std::move(value));
    return Value::dict(std::move(entries), where);
  }

  void close() {
    Open done = std::move(stack_.back());
    stack_.pop_back();
    Built built{{}, done.nodes, done.depth};
    const bool is_plain = is_plain_tag(done.tag);
    if (!done.is_dict) {
      built.value = Value::list(std::move(done.items), done.place);
      if (!is_plain) built.value = tagged(done.tag, std::move(built.value));
    } else {
      built.value = finish_dict(done, is_plain);
    }
    place_in_parent(std::move(built), done.anchor);
  }

  // Merged entries come first and own ones win; of several merged dicts the first wins.
  static Value finish_dict(Open& done, bool is_plain) {
    Dict entries;
    if (!is_plain) entries.set("!tag", Value(done.tag, done.place));
    for (const Value& merge : done.merges) {
      const List* several = merge.items();
      const List all = several != nullptr ? *several : List{merge};
      for (const Value& one : all | std::views::reverse) {
        if (one.entries() == nullptr) continue;
        for (const auto& [key, value] : one.entries()->all()) entries.set(key, value);
      }
    }
    if (entries.empty()) return Value::dict(std::move(done.entries), done.place);
    for (const auto& [key, value] : done.entries.all()) entries.set(key, value);
    return Value::dict(std::move(entries), done.place);
  }

  void add(Built built, YAML::anchor_t anchor, const YAML::Mark& mark) {
    check(1, 1, mark);
    place_in_parent(std::move(built), anchor);
  }

  void place_in_parent(Built built, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = built;  // a handle: copied where used
    if (stack_.empty()) {
      root = std::move(built.value);
      return;
    }
    Open& parent = stack_.back();
    parent.nodes += built.nodes;
    parent.depth = std::max(parent.depth, built.depth + 1);
    if (!parent.is_dict) {
      parent.items.push_back(std::move(built.value));
    } else if (!parent.key) {
      parent.key = key_of(built.value);
    } else {
      if (*parent.key == "<<") {
        parent.merges.push_back(std::move(built.value));
      } else {
        parent.entries.set(*parent.key, std::move(built.value));
      }
      parent.key.reset();
    }
  }

  Places& places_;
  std::vector<Open> stack_;
  std::unordered_map<YAML::anchor_t, Built> anchors_;
  std::size_t nodes_ = 0;
};

}  // namespace

Result<Value> read_yaml(const ConfigText& config) {
  const auto text = without_bom(config.text);
  Places places(text, config.file);
  ValueBuilder builder(places);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
  } catch (const DocumentTooLarge& error) {
    return fail_at(config.file, error.line, error.why);
  } catch (const YAML::Exception& error) {
    return fail_at(config.file, error.mark.line + 1, error.msg);
  }
  if (builder.root) return *std::move(builder.root);
  return Value::none(places.at(1, 0));
}

}  // namespace schedmate::config

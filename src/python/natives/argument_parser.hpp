// SPDX-License-Identifier: Apache-2.0
#pragma once

/// argparse.ArgumentParser and the parsers that extend it.

#include <set>

#include "python/natives/flag_parser.hpp"
#include "python/natives/namespace_object.hpp"
#include "python/natives/table.hpp"

namespace schedmate::python::natives {

/// One add_argument call.
struct Declared {
  FlagSpec spec;
  std::string action = "store";
  Value type = Value::none();
  Value fallback = Value::none();  ///< with its own place
  Value constant = Value::none();
  Value action_class;  ///< a user's action; unknown otherwise
  List choices;
  bool one_value = true;     ///< the value itself, not a list
  bool suppressed = false;   ///< default=SUPPRESS
  bool config_file = false;  ///< configargparse: names a file with more settings
  PlacePtr place;
};

class ArgumentParser : public NativeObject, public std::enable_shared_from_this<ArgumentParser> {
 public:
  explicit ArgumentParser(std::string type = "argparse.ArgumentParser") : type_(std::move(type)) {}

  [[nodiscard]] std::string type_name() const override { return type_; }
  std::optional<Value> attribute(Machine& machine, std::string_view name) override;

  void construct(const Arguments& arguments);
  void declare(const Arguments& arguments);
  void add(Declared declared);
  void set_default(std::string_view dest, const Value& value);
  [[nodiscard]] const Value* default_of(std::string_view dest) const;
  void include(const ArgumentParser& parent);

  /// What the words give: values by dest, in order of declaration.
  struct Parsed {
    Dict values;
    std::vector<command::Word> leftover;
    std::set<std::string, std::less<>> given;
    bool certain = true;
  };
  Parsed parse(Machine& machine, const std::vector<command::Word>& words);
  [[nodiscard]] const std::vector<Declared>& declared() const { return declared_; }
  /// It may have flags that were not seen: their names are not known, or code outside adds them.
  [[nodiscard]] bool is_open() const { return open_; }
  void handed_out() override { open_ = true; }
  void open_defaults() { defaults_open_ = true; }

  Value add_group(const Arguments& arguments, bool exclusive);
  Value add_commands(const Arguments& arguments);

 private:
  struct Exclusive {
    std::vector<std::size_t> members;
    bool required = false;
  };
  friend struct Group;
  friend struct Commands;
  std::vector<command::Word> expand_files(Machine& machine,
                                          const std::vector<command::Word>& words) const;
  std::vector<FlagSpec> specs() const;
  void put_defaults(Machine& machine, Parsed& parsed) const;
  void apply(Machine& machine, const FlagUse& use, Parsed& parsed);
  void apply_command(Machine& machine, const FlagUse& use, Parsed& parsed);
  void apply_config_files(Machine& machine, Parsed& parsed);
  void apply_settings(Machine& machine, const Dict& settings, Parsed& parsed);
  void apply_user(Machine& machine, const FlagUse& use, Value value, Parsed& parsed);
  Value read_values(Machine& machine, const Declared& flag, const FlagUse& use);
  Value read_one(Machine& machine, const Declared& flag, const command::Word& word);
  void report(Machine& machine, const FlagMatch& match, const Parsed& parsed);
  void take_unseen_flags(Parsed& parsed) const;
  void check_exclusive(Machine& machine, const Parsed& parsed) const;
  void fail_with(Machine& machine, std::string reason, PlacePtr place) const;

  std::string type_;
  std::vector<Declared> declared_;
  FlagSyntax syntax_;
  std::string file_prefix_;
  bool defaults_open_ = false;  ///< replaced by settings that are not known
  bool open_ = false;
  Dict defaults_;  ///< of set_defaults, for names without a flag
  std::vector<Exclusive> exclusive_;
  std::map<std::string, std::shared_ptr<ArgumentParser>, std::less<>> commands_;
  std::optional<std::size_t> command_;  ///< the declared positional that chooses
};

/// The class "NAME" that makes such parsers.
void add_parser_natives(NativeTable& table, const std::string& name);

/// parse_args and its kin: `known` gives (namespace, rest) and does not mind leftovers.
Value parse_program(Machine& machine, ArgumentParser& parser, const Arguments& arguments,
                    bool known);
/// Values as a namespace whose flags are published.
[[nodiscard]] std::shared_ptr<FlagNamespace> as_namespace(Machine& machine,
                                                          const ArgumentParser& parser,
                                                          const ArgumentParser::Parsed& parsed);

}  // namespace schedmate::python::natives

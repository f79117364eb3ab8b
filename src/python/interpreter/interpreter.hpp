// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The interpreter behind observe(): one object runs one program once. What is not known is
/// Unknown. Control flow that leaves a statement is `flow`; while set, nothing more is evaluated.

#include "python/interpreter/frame.hpp"
#include "python/interpreter/operations.hpp"
#include "python/objects/journal.hpp"

namespace schedmate::python {

class Interpreter final : public Machine {
 public:
  Interpreter(tree::Tree& tree, const PythonRun& run);
  ~Interpreter() override;
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  tree::Tree& tree() override { return tree_; }
  const PythonRun& run() override { return run_; }
  Observation& seen() override { return seen_; }
  Value call(const Value& callable, Arguments arguments) override;
  Value attribute(const Value& of, std::string_view name) override;
  void set_attribute(const Value& of, std::string_view name, Value value) override;
  Value resolve(std::string_view dotted) override;
  Result<Value> read_config(std::string_view path) override;
  std::optional<FunctionView> function(const Value& value) override;
  std::optional<ClassView> type(const Value& value) override;
  Value instance(const Value& type_or_name, Dict fields) override;
  void stop(std::string reason, PlacePtr at) override;
  void refuse(std::string reason, PlacePtr at) override;
  [[nodiscard]] bool certain() const override { return uncertain == 0; }
  void set_entry(const DictPtr& dict, std::string_view key, Value value) override;
  void set_default(const Value& callable, std::string_view parameter, Value value) override;

  /// Runs the entry. Errors: not_found, invalid.
  Result<void> run_entry();
  [[nodiscard]] Observation take();
  [[nodiscard]] const Dict& entry_names() const { return entry_->scope->names; }
  /// exec of a file, with the names around it or with a dict of them; of a text: its last value.
  void run_file(const std::string& file, const DictPtr& names = {});
  Value run_text(const std::string& text, PlacePtr at);
  Value eval(const Code& code);
  void execute(const Code& code);
  void execute_block(const Code* block);
  [[nodiscard]] std::optional<bool> truth(const Value& value);
  /// What iterating gives; nothing when not known.
  [[nodiscard]] std::optional<List> iterate(const Value& value);
  /// The dict, list or text that an object stands for.
  [[nodiscard]] Value as_plain(const Value& value);
  Value item(const Value& of, const Value& key);
  void set_item(const Value& of, const Value& key, Value value);
  Value binary(std::string_view operation, const Value& a, const Value& b);
  std::optional<bool> compare(std::string_view operation, const Value& a, const Value& b);
  std::optional<bool> contains(const Value& all, const Value& value);
  std::string to_text(const Value& value, bool* known);
  bool sort(List& list, const Value* key, bool reverse);
  const Value* find_name(std::string_view name);
  void set_name(std::string_view name, Value value);
  Value call_method_of_data(const Callee& callee, const Arguments& arguments);
  /// A bound `__name__` method of an object; nothing when it has none.
  std::optional<Value> special_method(const Value& of, std::string_view name);
  /// A builtin fails, where the program is ready to catch it.
  void throw_error(std::string what);
  [[nodiscard]] ModulePtr find_module(const std::string& dotted);
  Value import_dotted(const std::string& dotted, const PlacePtr& at);
  [[nodiscard]] Frame& frame() { return frames.back(); }
  /// Work on many items counts as steps too.
  void charge(std::size_t items) { steps_ += static_cast<std::int64_t>(items / 32); }
  Journal journal;
  std::vector<Frame> frames;
  Flow flow = Flow::next;
  int uncertain = 0;                ///< undecided branches around here
  int loops = 0, depth = 0;         ///< around here; depth of C++ recursion
  std::vector<const Code*> guards;  ///< `try` statements around here that catch something
  std::string raised;               ///< the exception's name
  Value search_path;                ///< sys.path, as a list
  FactSource literal_source = FactSource::code;  ///< of places: config while reading a config
  std::shared_ptr<Value> config_bases;           ///< `_base_` of a Python config, merged
  std::function<void(const Value&)> on_base;     ///< a Python config has set `_base_`

 private:
  Value eval_compound(const Code& code);
  Value eval_display(const Code& code);
  Value eval_dictionary(const Code& code);
  Value eval_string(const Code& code);
  Value eval_attribute(const Code& code);
  Value eval_subscript(const Code& code);
  Value eval_slice(const Value& of, const Code& slice);
  Value eval_call(const Code& code);
  Value eval_binary(const Code& code);
  Value eval_unary(const Code& code);
  Value eval_boolean(const Code& code);
  Value eval_comparison(const Code& code);
  Value eval_conditional(const Code& code);
  Value eval_yield(const Code& code);
  Value eval_comprehension(const Code& code);
  Value eval_identifier(const Code& code);
  Arguments eval_arguments(const Code* list, PlacePtr at);
  List eval_items(const Code& code);
  void append_interpolation(TextParts& parts, const Code& code);
  void append_string(TextParts& parts, const Code& code);
  bool comprehend(const Code& code, std::size_t clause, const Action& each);
  Value format_call(const Value& self, const Arguments& arguments);
  Value bind(const Value& member, const Value& self, Class* type);
  Value class_attribute(Class& type, std::string_view name);
  Value thing_attribute(const Value& of, Thing& thing, std::string_view name);
  Value super_attribute(const Super& super, std::string_view name);
  Value outside_attribute(const Value& of, const Symbol& symbol, std::string_view name);
  Value data_attribute(const Value& of, std::string_view name);
  Value member_of_module(const Value& of, std::string_view name);
  Value call_function(const std::shared_ptr<Object>& object, Arguments arguments);
  Value result_of(const Function& function, const Frame& done);
  Value call_outside(const Symbol& symbol, Arguments arguments);
  Value call_unknown(const Callee& callee, const Arguments& arguments);
  Value call_any(const Value& callable, const Arguments& arguments);
  Value call_thing(const Value& self, Arguments arguments);
  Value call_method_of_dict(const OutsideMethod& method, const Arguments& arguments);
  Value record(std::string callee, const Arguments& arguments);
  void keep_parameters(const Value& self, const Arguments& arguments);
  Value instantiate(const std::shared_ptr<Object>& object, Arguments arguments);
  void make_members(const std::shared_ptr<Class>& type);
  void make_base(const Value& self, const Class& type, const Arguments& arguments);
  void fill_fields(const Value& self, Class& type, const Arguments& arguments);
  std::optional<Value> run_hooks(const std::string& callee, const Value& self,
                                 const Arguments& arguments);
  void run_framework_hooks(const Value& self);
  void call_back(const Value& callable, Arguments arguments);
  bool first_time(const void* what);
  void run_both(const Action& then, const Action& other, CertainBranch = CertainBranch::neither);
  BranchResult run_branch_once(const Action& action, bool sure);
  void merge_branches(BranchResult& one, BranchResult& two);
  bool execute_compound(const Code& code);
  void execute_simple(const Code& code);
  void execute_expression(const Code& code);
  void execute_if(const std::vector<const Code*>& parts, std::size_t at);
  void execute_try(const Code& code);
  bool handle_raise(const Code& code);
  [[nodiscard]] bool is_caught(const std::string& what) const;
  void execute_with(const Code& code);
  void begin_match(const Code& code);
  void execute_match(const std::vector<const Code*>& cases, std::size_t at, const Value& subject);
  std::optional<bool> matches(const Code& code, const Value& subject);
  void execute_for(const Code& code);
  void execute_while(const Code& code);
  bool unroll(const Code& code, const List& items, bool counted);
  void run_round(const Code& code, std::size_t loop);
  std::size_t record_loop(const Code& code, const Value& iterable);
  void find_bound(const Code& condition, std::size_t index,
                  const std::vector<std::string>& counters);
  void execute_return(const Code& code);
  void execute_raise(const Code& code);
  void execute_delete(const Code& target);
  void execute_import(const Code& code);
  void execute_import_from(const Code& code);
  void import_all(const Value& from);
  void execute_assignment(const Code& code);
  void execute_augmented(const Code& code);
  void execute_decorated(const Code& code);
  Value define_function(const Code& code);
  Value define_class(const Code& code);
  Value decorate(const Code& code, Value what);
  void assign(const Code& target, Value value);
  void unpack(const Code& target, const Value& value);
  void raise(std::string what, const Code& code);
  void leave(Flow how, std::string what);
  [[nodiscard]] bool is_certain() const;
  std::vector<Parameter> read_parameters(const Code* list);
  bool may_wait(const std::string& dotted);
  Value used(const Value& value);
  const Value* found_in(Dict& names, std::string_view name);
  ModulePtr load_module(const std::string& dotted, const ModulePtr& parent,
                        const std::string& inside);
  ModulePtr locate(const std::string& folder, const std::string& name, const std::string& inside);
  std::vector<std::string> folders_to_search();
  void execute_file(Module& module, const std::string& file);
  void execute_module(Module& module, const Code& root);
  std::string absolute_name(const Code& relative);
  Result<std::string> find_entry_module();
  std::string from_working_folder(std::string_view path) const;
  const Source* source_of(const std::string& file);
  [[nodiscard]] PlacePtr place(const Code& code) const { return code.source->place(code.line); }
  ScopePtr new_scope(ScopePtr outer);
  bool step();  ///< counts a step; false when evaluation has to end
  tree::Tree& tree_;
  const PythonRun& run_;
  Observation seen_;
  std::int64_t steps_ = 0, limit_;  ///< done, and allowed in all
  std::map<std::string, ModulePtr, std::less<>> modules_;
  std::map<const Scope*, const Module*> module_files_;
  ModulePtr entry_;
  std::string script_folder_;
  std::vector<std::shared_ptr<Class>> classes_;
  std::map<std::string, std::unique_ptr<Source>, std::less<>> sources_;
  std::vector<std::unique_ptr<Source>> texts_;
  std::vector<std::weak_ptr<Scope>> scopes_;
  std::vector<const void*> once_;  ///< callbacks and networks that were run
};
}  // namespace schedmate::python

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "source/shape_math.h"
#include "source/values.h"

namespace neutra::source {

/// Runs a text as far as shapes, sizes and layers go, without running it: every statement once for
/// each way that it is called, unknown branches both and then joined, loops of known length round
/// by round, others with what they change unknown. What no other part of the text runs is run by
/// itself, with unknown arguments. Steps are bounded by the length of the text.
class ShapeFlow {
 public:
  ShapeFlow(const SourceText& source, const Values& values,
            const ShapeTable& table = ShapeTable::standard());

  std::vector<ShapeConflict>& conflicts() { return math_.conflicts(); }

 private:
  struct Arguments {
    std::vector<Thing> positional;
    std::vector<std::pair<std::string_view, Thing>> named;
    bool open = false;  ///< there may be more
    const Thing* find(std::string_view name, std::size_t position) const;
  };
  struct Change {
    ShapeObject* object;
    std::string_view name;  ///< data() == nullptr: its items
    std::optional<Thing> value;
    std::vector<Thing> items;
    bool opaque;
  };
  using Changes = std::vector<Change>;
  struct Run {
    ShapeObject* names;
    NodeId function;
    Thing self;
    std::vector<Thing> returned;
  };
  using Part = std::function<bool()>;

  // Entries (shape_flow.cpp)
  bool is_of_use() const;
  void index();
  void run_module();
  void run_rest();
  Thing instance_of(NodeId class_node);
  void forget_later_attributes(ShapeObject& object);
  bool tick();

  // What changes, and how it is undone
  void set(ShapeObject& object, std::string_view name, Thing value);
  void set_items(ShapeObject& object, std::vector<Thing> items, bool opaque);
  Changes undo(const Changes& changes);
  void apply_changes(const Changes& changes);
  /// Runs `part`, and undoes it. What it changed is in `changes`, as it was after it.
  bool tried(const Part& part, Changes& changes);
  bool branches(const std::vector<Part>& parts);
  void forget(const Changes& changes);
  void unknown_loop(const Part& body);
  ShapeObject* make_object(NodeId node);
  Thing make_list(std::vector<Thing> items, bool opaque, NodeId node);

  // Statements (shape_statements.cpp): true: what comes behind is not reached
  bool exec(NodeId node);
  bool exec_block(NodeId block);
  bool exec_if(NodeId test);
  bool exec_for(NodeId node);
  bool exec_with(NodeId node);
  bool exec_try(NodeId node);
  bool exec_match(NodeId node);
  void exec_assign(NodeId node);
  void assign(NodeId target, const Thing& value);
  bool has_jumps(NodeId node) const;

  // Expressions (shape_expressions.cpp)
  Thing eval(NodeId node);
  Thing eval_plain(NodeId node);
  Thing eval_name(NodeId node);
  Thing eval_attribute(NodeId node);
  Thing attribute_of(const Thing& base, std::string_view name);
  Thing eval_subscript(NodeId node);
  Thing index_tensor(const Shape& shape, NodeId node);
  Thing eval_binary(NodeId node);
  Thing binary(std::string_view sign, const Thing& one, const Thing& other, NodeId node);
  Thing eval_compare(NodeId node);
  Thing eval_logic(NodeId node);
  Thing eval_list(NodeId node);
  Thing eval_comprehension(NodeId node);
  std::optional<std::vector<Thing>> items_of(const Thing& thing) const;
  static std::optional<bool> truth(const Thing& thing);
  std::string_view sign_between(NodeId one, NodeId other) const;

  // Calls (shape_calls.cpp)
  Thing eval_call(NodeId node);
  Arguments eval_arguments(NodeId call);
  std::string_view path_of(NodeId callee) const;
  Thing call_super(NodeId call, std::string_view method, const Arguments& arguments);
  std::optional<Thing> call_method(NodeId call, const Thing& base, std::string_view name,
                                   const Arguments& arguments);
  std::optional<Thing> call_list_method(const Thing& base, std::string_view name,
                                        const Arguments& arguments);
  std::optional<Thing> call_path(NodeId call, std::string_view path, const Arguments& arguments);
  std::optional<Thing> call_builtin(NodeId call, std::string_view name, const Arguments& arguments);
  Thing call_thing(NodeId call, const Thing& callee, const Arguments& arguments);
  Thing call_function(NodeId call, NodeId function, const Thing& self, const Arguments& arguments);
  void bind(NodeId function, const Thing& self, const Arguments& arguments, ShapeObject& names);
  Thing instantiate(NodeId call, NodeId class_node, const Arguments& arguments);
  Thing apply(NodeId call, const Thing& layer, const std::vector<Thing>& inputs);
  Thing apply_entry(NodeId call, const ShapeEntry& entry, const Arguments& arguments,
                    const Thing* base);
  Thing make_layer(NodeId call, const ShapeEntry& entry, const Arguments& arguments);
  Thing make_chain(NodeId call, const Arguments& arguments, bool keras);
  void keras_add(NodeId call, ShapeObject& chain, const Thing& layer);
  Thing keras_first_input(const Thing& layer);
  void keras_fit(NodeId call, const Thing& model, const Arguments& arguments);
  void let_go(const Arguments& arguments);
  void forget_attributes(ShapeObject& object);
  bool returns_unknown(NodeId function) const;

  const Values& values_;
  const SyntaxTree& tree_;
  const ShapeTable& table_;
  ShapeMath math_;
  std::vector<std::unique_ptr<ShapeObject>> objects_;
  std::vector<ShapeObject*> instances_;  ///< of classes of the text
  std::vector<Run> runs_;
  std::vector<Changes*> journals_;
  ShapeObject* module_ = nullptr;
  std::unordered_map<NodeId, ShapeObject*> defined_in_;
  std::unordered_map<NodeId, Thing> instance_by_class_;
  std::unordered_set<NodeId> executed_, generators_;
  std::unordered_set<std::string_view> global_names_;
  std::uint64_t steps_ = 0, most_steps_ = 0;
  bool tired_ = false;  ///< there are no more steps
  int depth_ = 0;
};

}  // namespace neutra::source

// Records the operators that a thread runs, with libtorch's tracer, and tells them as text.

#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/ir/ir.h>

#include <cmath>
#include <iomanip>
#include <sstream>

#include "common/operators.h"

namespace saccade {

namespace {

namespace jit = torch::jit;

void quote(std::ostream& out, std::string_view text) {
  out << '"';
  for (char c : text) {
    if (c == '"' || c == '\\') out << '\\';
    out << c;
  }
  out << '"';
}

// JSON of a graph: {"inputs": values, "nodes": [...], "outputs": arguments}. A node is {"op":
// "aten::add.Tensor", "args": arguments, "keywords": {"alpha": 1}, "outs": values}. Arguments are
// numbers, strings, lists and null as they are in JSON, {"v": K} for value K and {"t": K} for the
// K-th of the constants. Values are [K, "Float", sizes] for tensors and [K] for all else.
class Writer {
 public:
  std::string write(const jit::Graph& graph) {
    out_ << "{\"inputs\":";
    values(graph.inputs());
    out_ << ",\"nodes\":[";
    bool first = true;
    for (const jit::Node* node : graph.nodes()) {
      if (inlined(node)) continue;
      out_ << (first ? "\n{\"op\":" : ",\n{\"op\":");
      first = false;
      quote(out_, name(node));
      const size_t keywords = firstKeyword(node);
      out_ << ",\"args\":";
      arguments(node->inputs().slice(0, keywords));
      for (size_t i = keywords; i < node->inputs().size(); i++) {
        out_ << (i == keywords ? ",\"keywords\":{" : ",");
        quote(out_, node->getOperator().schema().arguments()[i].name());
        out_ << ':';
        argument(node->input(i));
      }
      if (keywords < node->inputs().size()) out_ << '}';
      out_ << ",\"outs\":";
      values(node->outputs());
      out_ << '}';
    }
    out_ << "],\"outputs\":";
    arguments(graph.outputs());
    out_ << '}';
    return out_.str();
  }

  std::vector<at::Tensor> constants;

 private:
  // What is told where it is used.
  static bool inlined(const jit::Node* node) {
    return node->kind() == c10::prim::Constant || node->kind() == c10::prim::ListConstruct;
  }

  static std::string name(const jit::Node* node) {
    const jit::Operator* op = node->maybeOperator();
    if (op == nullptr) return node->kind().toQualString();
    const c10::FunctionSchema& schema = op->schema();
    return schema.overload_name().empty() ? schema.name()
                                          : schema.name() + "." + schema.overload_name();
  }

  // The position of the first argument that is given by name.
  static size_t firstKeyword(const jit::Node* node) {
    const jit::Operator* op = node->maybeOperator();
    size_t i = 0;
    while (i < node->inputs().size() && !(op && op->schema().arguments()[i].kwarg_only())) i++;
    return i;
  }

  void values(at::ArrayRef<const jit::Value*> values) {
    out_ << '[';
    for (size_t i = 0; i < values.size(); i++) {
      out_ << (i ? "," : "") << '[' << values[i]->unique();
      if (const auto type = values[i]->type()->cast<c10::TensorType>()) {
        const auto sizes = type->sizes().concrete_sizes();
        if (sizes && type->scalarType()) {
          out_ << ',';
          quote(out_, c10::toString(*type->scalarType()));
          out_ << ',';
          integers(*sizes);
        }
      }
      out_ << ']';
    }
    out_ << ']';
  }

  void arguments(at::ArrayRef<const jit::Value*> values) {
    out_ << '[';
    for (size_t i = 0; i < values.size(); i++) {
      out_ << (i ? "," : "");
      argument(values[i]);
    }
    out_ << ']';
  }

  void argument(const jit::Value* value) {
    const jit::Node* node = value->node();
    if (node->kind() == c10::prim::ListConstruct) return arguments(node->inputs());
    if (node->kind() != c10::prim::Constant) {
      out_ << "{\"v\":" << value->unique() << '}';
      return;
    }
    const auto constant = jit::toIValue(value);
    TORCH_CHECK(constant, "a constant of type ", value->type()->str());
    constantValue(*constant);
  }

  void constantValue(const c10::IValue& value) {
    if (value.isNone()) {
      out_ << "null";
    } else if (value.isTensor()) {
      out_ << "{\"t\":" << constants.size() << '}';
      constants.push_back(value.toTensor());
    } else if (value.isBool()) {
      out_ << (value.toBool() ? "true" : "false");
    } else if (value.isInt()) {
      out_ << value.toInt();
    } else if (value.isDouble()) {
      number(value.toDouble());
    } else if (value.isString()) {
      quote(out_, value.toStringRef());
    } else if (value.isDevice()) {
      quote(out_, value.toDevice().str());
    } else if (value.isList()) {
      out_ << '[';
      const auto list = value.toListRef();
      for (size_t i = 0; i < list.size(); i++) {
        out_ << (i ? "," : "");
        constantValue(list[i]);
      }
      out_ << ']';
    } else {
      TORCH_CHECK(false, "a constant of type ", value.tagKind());
    }
  }

  // Numbers of double are told apart from integers by their point.
  void number(double value) {
    if (!std::isfinite(value)) {
      quote(out_, std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
      return;
    }
    std::ostringstream text;
    text << std::setprecision(17) << value;
    const std::string plain = text.str();
    out_ << plain << (plain.find_first_of(".e") == std::string::npos ? ".0" : "");
  }

  void integers(const std::vector<int64_t>& list) {
    out_ << '[';
    for (size_t i = 0; i < list.size(); i++) out_ << (i ? "," : "") << list[i];
    out_ << ']';
  }

  std::ostringstream out_;
};

// Copies a tensor that a recording takes in: memory that was lent to it may be gone before its end.
void keep(jit::Node* node) {
  if (node->kind() != c10::prim::Constant || !node->hasAttribute(c10::attr::value) ||
      node->kindOf(c10::attr::value) != jit::AttributeKind::t) {
    return;
  }
  const auto resume = jit::tracer::pauseTracing();
  node->t_(c10::attr::value, node->t(c10::attr::value).clone());
  resume();
}

// Starts to record what this thread runs; the inputs are told by their positions.
at::Tensor trace_begin(const at::Tensor& x, at::TensorList inputs) {
  auto state = std::make_shared<jit::tracer::TracingState>();
  state->warn = false;
  state->force_outplace = true;
  state->enterFrame();
  // Called for every node when it is made.
  jit::tracer::setRecordSourceLocation(keep);
  for (const at::Tensor& input : inputs) {
    jit::Value* value = state->graph->addInput();
    value->inferTypeFrom(input);
    state->setValue(input, value);
  }
  jit::tracer::setTracingState(state);
  return x;
}

// Ends it. Returns the bytes of the text, and the tensors that were there before and are no inputs.
std::vector<at::Tensor> trace_end(at::TensorList outputs) {
  const auto state = jit::tracer::getTracingState();
  TORCH_CHECK(state, "no trace has begun in this thread");
  for (const at::Tensor& output : outputs) {
    state->graph->registerOutput(state->getValue(output));
  }
  jit::tracer::setTracingState(nullptr);
  Writer writer;
  const std::string text = writer.write(*state->graph);
  at::Tensor bytes = at::empty({static_cast<int64_t>(text.size())}, at::kByte);
  std::copy(text.begin(), text.end(), bytes.data_ptr<uint8_t>());
  std::vector<at::Tensor> result = {bytes};
  result.insert(result.end(), writer.constants.begin(), writer.constants.end());
  return result;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("trace_begin(Tensor(a!) x, Tensor[] inputs) -> Tensor(a!)");
  m.def("trace_end(Tensor[] outputs) -> Tensor[]");
}

TORCH_LIBRARY_IMPL(saccade, CompositeExplicitAutograd, m) {
  m.impl("trace_begin", trace_begin);
  m.impl("trace_end", trace_end);
}

TORCH_LIBRARY_IMPL(saccade, Tracer, m) {
  m.impl("trace_begin", torch::CppFunction::makeFallthrough());
  m.impl("trace_end", torch::CppFunction::makeFallthrough());
}

}  // namespace saccade

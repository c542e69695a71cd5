// saccade::window_attention for torch, with its gradients.

#include <torch/csrc/autograd/custom_function.h>

#include "common/autocast.h"
#include "common/dispatch.h"
#include "common/operators.h"
#include "window_attention/window_attention.h"

SACCADE_DISPATCH(window_attention_forward, const saccade_window_attention)
SACCADE_DISPATCH(window_attention_backward, const saccade_window_attention)

namespace saccade {
namespace {

using at::IntArrayRef;
using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What is no tensor.
struct Form {
  int64_t heads;
  std::vector<int64_t> window, shift;
  bool pads_first;
  std::vector<int64_t> thirds;
  double scale;
};

// The tensors as the launchers read them; an absent table is undefined.
struct Inputs {
  Tensor packed, padding, table;

  Inputs(const Tensor& packed, const Tensor& padding, const Tensor& table)
      : packed(packed.contiguous()),
        padding(padding.defined() ? padding.contiguous()
                                  : at::zeros({packed.size(3)}, packed.options())),
        table(table.defined() ? table.to(sums(packed)).contiguous() : Tensor()) {}
};

saccade_window_attention arguments(const Inputs& in, const Form& form) {
  saccade_window_attention a = {};
  a.type = type_of(in.packed);
  a.n = in.packed.size(0);
  a.h = in.packed.size(1);
  a.w = in.packed.size(2);
  a.heads = form.heads;
  a.depth = in.packed.size(3) / 3 / form.heads;
  a.rows = form.window[0];
  a.columns = form.window[1];
  a.down = form.shift[0];
  a.right = form.shift[1];
  a.pads_first = form.pads_first;
  a.side = in.table.defined() ? std::lround(std::sqrt(in.table.size(0))) : 0;
  a.queries = form.thirds[0];
  a.keys = form.thirds[1];
  a.values = form.thirds[2];
  a.scale = form.scale;
  a.packed = data(in.packed);
  a.padding = data(in.padding);
  a.table = data(in.table);
  return a;
}

void check_inputs(const Tensor& packed, const Tensor& padding, const Tensor& table,
                  const Form& form) {
  auto is_pair = [](const std::vector<int64_t>& v) { return v.size() == 2; };
  TORCH_CHECK(is_pair(form.window) && is_pair(form.shift) && form.window[0] > 0 &&
                  form.window[1] > 0 && form.shift[0] >= 0 && form.shift[0] < form.window[0] &&
                  form.shift[1] >= 0 && form.shift[1] < form.window[1],
              "saccade::window_attention: window ", form.window, ", shift ", form.shift,
              ", expected sides > 0 and shifts smaller than these");
  const std::vector<int64_t>& t = form.thirds;
  TORCH_CHECK(t.size() == 3 &&
                  std::is_permutation(t.begin(), t.end(), std::vector<int64_t>{0, 1, 2}.begin()),
              "saccade::window_attention: thirds ", t, ", expected 0, 1 and 2");
  TORCH_CHECK(packed.dim() == 4 && form.heads > 0 && packed.size(3) > 0 &&
                  packed.size(3) % (3 * form.heads) == 0,
              "saccade::window_attention: packed ", packed.sizes(),
              ", expected [N, H, W, 3 C], C of ", form.heads, " heads");
  TORCH_CHECK(!padding.defined() || (padding.dim() == 1 && padding.size(0) == packed.size(3) &&
                                     padding.scalar_type() == packed.scalar_type()),
              "saccade::window_attention: padding ", padding.sizes(), " of ", padding.scalar_type(),
              ", expected [", packed.size(3), "] of ", packed.scalar_type());
  if (!table.defined()) return;
  const int64_t side = std::lround(std::sqrt(table.size(0)));
  const int64_t least = 2 * std::max(form.window[0], form.window[1]) - 1;
  TORCH_CHECK(table.dim() == 2 && table.size(1) == form.heads && side * side == table.size(0) &&
                  side % 2 == 1 && side >= least,
              "saccade::window_attention: table ", table.sizes(), ", expected [(2 M - 1)^2, ",
              form.heads, "] with 2 M - 1 >= ", least);
}

Tensor forward(const Tensor& packed, const Tensor& padding, const Tensor& table, const Form& form) {
  check_inputs(packed, padding, table, form);
  const Inputs in(packed, padding, table);
  Tensor out = at::empty({packed.size(0), packed.size(1), packed.size(2), packed.size(3) / 3},
                         packed.options());
  saccade_window_attention a = arguments(in, form);
  a.out = data(out);
  launch("window_attention", packed, saccade_window_attention_forward,
         saccade_window_attention_forward_cuda, a);
  return out;
}

variable_list backward(const Tensor& packed, const Tensor& padding, const Tensor& table,
                       const Form& form, const Tensor& gradient) {
  const Inputs in(packed, padding, table);
  const Tensor d_out = gradient.contiguous();
  Tensor d_packed = at::empty_like(in.packed);
  Tensor d_padding = at::zeros_like(in.padding, in.padding.options().dtype(sums(packed)));
  Tensor d_table = in.table.defined() ? at::zeros_like(in.table) : Tensor();
  if (packed.numel() > 0) {
    saccade_window_attention a = arguments(in, form);
    a.d_out = data(d_out);
    a.d_packed = data(d_packed);
    a.d_padding = data(d_padding);
    a.d_table = data(d_table);
    launch("window_attention", packed, saccade_window_attention_backward,
           saccade_window_attention_backward_cuda, a);
  }
  return {d_packed, padding.defined() ? d_padding.to(padding.scalar_type()) : Tensor(),
          table.defined() ? d_table.to(table.scalar_type()) : Tensor()};
}

class WindowAttention : public torch::autograd::Function<WindowAttention> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& packed,
                        const std::optional<Tensor>& padding, const std::optional<Tensor>& table,
                        const Form& form) {
    at::AutoDispatchBelowADInplaceOrView guard;
    const Tensor pad = padding.value_or(Tensor()), bias = table.value_or(Tensor());
    context->save_for_backward({packed, pad, bias});
    context->saved_data["heads"] = form.heads;
    context->saved_data["window"] = form.window;
    context->saved_data["shift"] = form.shift;
    context->saved_data["pads_first"] = form.pads_first;
    context->saved_data["thirds"] = form.thirds;
    context->saved_data["scale"] = form.scale;
    return saccade::forward(packed, pad, bias, form);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    auto& data = context->saved_data;
    const Form form = {data["heads"].toInt(),        data["window"].toIntVector(),
                       data["shift"].toIntVector(),  data["pads_first"].toBool(),
                       data["thirds"].toIntVector(), data["scale"].toDouble()};
    variable_list inputs = saccade::backward(saved[0], saved[1], saved[2], form, gradients[0]);
    inputs.emplace_back();
    return inputs;
  }
};

Tensor without_gradients(const Tensor& packed, const std::optional<Tensor>& padding,
                         const std::optional<Tensor>& table, int64_t heads, IntArrayRef window,
                         IntArrayRef shift, bool pads_first, IntArrayRef thirds, double scale) {
  return forward(packed, padding.value_or(Tensor()), table.value_or(Tensor()),
                 {heads, window.vec(), shift.vec(), pads_first, thirds.vec(), scale});
}

Tensor with_gradients(const Tensor& packed, const std::optional<Tensor>& padding,
                      const std::optional<Tensor>& table, int64_t heads, IntArrayRef window,
                      IntArrayRef shift, bool pads_first, IntArrayRef thirds, double scale) {
  const Form form = {heads, window.vec(), shift.vec(), pads_first, thirds.vec(), scale};
  return WindowAttention::apply(packed, padding, table, form);
}

Tensor cast(const Tensor& packed, const std::optional<Tensor>& padding,
            const std::optional<Tensor>& table, int64_t heads, IntArrayRef window,
            IntArrayRef shift, bool pads_first, IntArrayRef thirds, double scale) {
  const Autocast cast(packed);
  return with_gradients(cast(packed), cast(padding), table, heads, window, shift, pads_first,
                        thirds, scale);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "window_attention(Tensor packed, Tensor? padding, Tensor? table, int heads, int[] window, "
      "int[] shift, bool pads_first, int[] thirds, float scale) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("window_attention", without_gradients); }
TORCH_LIBRARY_IMPL(saccade, CUDA, m) { m.impl("window_attention", without_gradients); }
TORCH_LIBRARY_IMPL(saccade, AutogradCPU, m) { m.impl("window_attention", with_gradients); }
TORCH_LIBRARY_IMPL(saccade, AutogradCUDA, m) { m.impl("window_attention", with_gradients); }
TORCH_LIBRARY_IMPL(saccade, AutocastCPU, m) { m.impl("window_attention", cast); }
TORCH_LIBRARY_IMPL(saccade, AutocastCUDA, m) { m.impl("window_attention", cast); }

}  // namespace saccade

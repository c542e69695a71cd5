// saccade::deform_conv2d for torch, with its gradients.

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "common/autocast.h"
#include "common/dispatch.h"
#include "common/operators.h"
#include "deform_conv2d/deform_conv2d.h"

SACCADE_DISPATCH(deform_conv2d_forward, const saccade_deform_conv2d)
SACCADE_DISPATCH(deform_conv2d_backward, const saccade_deform_conv2d)

namespace saccade {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Maps [N, C, H, W] as the launchers read them, [N, H, W, C].
Tensor rows_of_channels(const Tensor& map) { return map.permute({0, 2, 3, 1}).contiguous(); }
Tensor as_maps(const Tensor& rows) { return rows.permute({0, 3, 1, 2}); }

// A tensor in the type of the sums over another, where it is defined.
Tensor summed(const Tensor& t, const Tensor& x) {
  return t.defined() ? t.to(sums(x)).contiguous() : t;
}

// Of the kernel, along rows and columns.
struct Settings {
  std::vector<int64_t> stride, padding, dilation;

  int64_t positions(const Tensor& input, const Tensor& weight, int axis) const {
    const int64_t reach = dilation[axis] * (weight.size(2 + axis) - 1);
    const int64_t free = input.size(2 + axis) + 2 * padding[axis] - reach - 1;
    return free < 0 ? 0 : free / stride[axis] + 1;
  }
};

// Tensors as they are given; there may be no mask or bias.
struct Inputs {
  Tensor input, offset, mask, weight, bias;
};

void check_inputs(const Inputs& in, const Settings& s) {
  TORCH_CHECK(s.stride.size() == 2 && s.padding.size() == 2 && s.dilation.size() == 2 &&
                  std::min({s.stride[0], s.stride[1], s.dilation[0], s.dilation[1]}) > 0 &&
                  std::min(s.padding[0], s.padding[1]) >= 0,
              "saccade::deform_conv2d: stride ", s.stride, ", padding ", s.padding, ", dilation ",
              s.dilation);
  const Tensor &x = in.input, &weight = in.weight;
  TORCH_CHECK(x.dim() == 4 && weight.dim() == 4 && in.offset.dim() == 4 && weight.numel() > 0 &&
                  x.size(1) > 0 && x.size(1) % weight.size(1) == 0 &&
                  weight.size(0) % (x.size(1) / weight.size(1)) == 0,
              "saccade::deform_conv2d: input ", x.sizes(), ", offset ", in.offset.sizes(),
              ", weight ", weight.sizes(),
              "; expected [N, C, H, W], [N, 2 G kh kw, OH, OW] and [O,"
              " C / groups, kh, kw]");
  const int64_t taps = weight.size(2) * weight.size(3), groups = in.offset.size(1) / (2 * taps);
  const int64_t rows = s.positions(x, weight, 0), columns = s.positions(x, weight, 1);
  TORCH_CHECK(
      rows > 0 && columns > 0 && groups > 0 && x.size(1) % groups == 0 &&
          in.offset.sizes() == at::IntArrayRef({x.size(0), 2 * taps * groups, rows, columns}),
      "saccade::deform_conv2d: offset ", in.offset.sizes(), " for positions ", rows, " x ", columns,
      " and ", taps, " taps of ", x.size(1), " channels");
  TORCH_CHECK(!in.mask.defined() ||
                  in.mask.sizes() == at::IntArrayRef({x.size(0), taps * groups, rows, columns}),
              "saccade::deform_conv2d: mask ", in.mask.sizes(), " beside offset ",
              in.offset.sizes());
  TORCH_CHECK(!in.bias.defined() || in.bias.sizes() == weight.sizes().slice(0, 1),
              "saccade::deform_conv2d: bias ", in.bias.sizes(), " beside weight ", weight.sizes());
}

// What both passes have in common; the tensors are those that launchers read.
saccade_deform_conv2d arguments(const Inputs& in, const Tensor& x, const Tensor& offset,
                                const Tensor& mask, const Settings& s) {
  saccade_deform_conv2d a = {};
  a.type = type_of(x);
  a.n = x.size(0);
  a.h = x.size(1);
  a.w = x.size(2);
  a.channels = x.size(3);
  a.out_channels = in.weight.size(0);
  a.groups = a.channels / in.weight.size(1);
  a.kernel_h = in.weight.size(2);
  a.kernel_w = in.weight.size(3);
  a.offset_groups = offset.size(1) / (2 * a.kernel_h * a.kernel_w);
  a.rows = offset.size(2);
  a.columns = offset.size(3);
  a.stride_y = s.stride[0];
  a.stride_x = s.stride[1];
  a.padding_y = s.padding[0];
  a.padding_x = s.padding[1];
  a.dilation_y = s.dilation[0];
  a.dilation_x = s.dilation[1];
  a.x = data(x);
  a.offset = data(offset);
  a.mask = data(mask);
  return a;
}

Tensor forward(const Inputs& in, const Settings& settings) {
  check_inputs(in, settings);
  const Tensor x = rows_of_channels(in.input), offset = summed(in.offset, x);
  const Tensor mask = summed(in.mask, x), weight = summed(in.weight, x);
  const Tensor bias = summed(in.bias, x);
  saccade_deform_conv2d a = arguments(in, x, offset, mask, settings);
  const Tensor out = at::empty({a.n, a.rows, a.columns, a.out_channels}, x.options());
  a.weight = data(weight);
  a.bias = data(bias);
  a.out = data(out);
  launch("deform_conv2d", x, saccade_deform_conv2d_forward, saccade_deform_conv2d_forward_cuda, a);
  return as_maps(out);
}

class DeformConv2d : public torch::autograd::Function<DeformConv2d> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& offset,
                        const std::optional<Tensor>& mask, const Tensor& weight,
                        const std::optional<Tensor>& bias, const Settings& settings) {
    at::AutoDispatchBelowADInplaceOrView guard;
    const Inputs in = {input, offset, mask.value_or(Tensor()), weight, bias.value_or(Tensor())};
    context->save_for_backward({in.input, in.offset, in.mask, in.weight});
    if (in.bias.defined()) context->saved_data["bias"] = in.bias.scalar_type();
    context->saved_data["stride"] = settings.stride;
    context->saved_data["padding"] = settings.padding;
    context->saved_data["dilation"] = settings.dilation;
    return saccade::forward(in, settings);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Inputs in = {saved[0], saved[1], saved[2], saved[3], {}};
    const Settings settings = {context->saved_data["stride"].toIntVector(),
                               context->saved_data["padding"].toIntVector(),
                               context->saved_data["dilation"].toIntVector()};
    const Tensor x = rows_of_channels(in.input), offset = summed(in.offset, x);
    const Tensor mask = summed(in.mask, x), d_out = rows_of_channels(gradients[0]);
    const Tensor weight = summed(in.weight, x);
    Tensor d_x, d_offset, d_mask, d_weight, d_bias;
    if (context->needs_input_grad(0)) d_x = at::zeros_like(x, x.options().dtype(sums(x)));
    if (context->needs_input_grad(1)) d_offset = at::empty_like(offset);
    if (mask.defined() && context->needs_input_grad(2)) d_mask = at::empty_like(mask);
    // Inputs are counted without those that are not there.
    if (context->needs_input_grad(mask.defined() ? 3 : 2)) d_weight = at::empty_like(weight);
    saccade_deform_conv2d a = arguments(in, x, offset, mask, settings);
    a.weight = data(weight);
    a.d_out = data(d_out);
    a.d_x = data(d_x);
    a.d_offset = data(d_offset);
    a.d_mask = data(d_mask);
    a.d_weight = data(d_weight);
    launch("deform_conv2d", x, saccade_deform_conv2d_backward, saccade_deform_conv2d_backward_cuda,
           a);
    const at::IValue type = context->saved_data["bias"];
    if (!type.isNone()) {
      d_bias = d_out.sum({0, 1, 2}, false, sums(x)).to(type.toScalarType());
    }
    auto like = [](const Tensor& d, const Tensor& given) {
      return d.defined() ? d.to(given.scalar_type()) : d;
    };
    return {d_x.defined() ? as_maps(like(d_x, in.input)) : d_x,
            like(d_offset, in.offset),
            like(d_mask, in.mask),
            like(d_weight, in.weight),
            d_bias,
            Tensor()};
  }
};

Tensor without_gradients(const Tensor& input, const Tensor& offset,
                         const std::optional<Tensor>& mask, const Tensor& weight,
                         const std::optional<Tensor>& bias, at::IntArrayRef stride,
                         at::IntArrayRef padding, at::IntArrayRef dilation) {
  return forward({input, offset, mask.value_or(Tensor()), weight, bias.value_or(Tensor())},
                 {stride.vec(), padding.vec(), dilation.vec()});
}

Tensor with_gradients(const Tensor& input, const Tensor& offset, const std::optional<Tensor>& mask,
                      const Tensor& weight, const std::optional<Tensor>& bias,
                      at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation) {
  return DeformConv2d::apply(input, offset, mask, weight, bias,
                             Settings{stride.vec(), padding.vec(), dilation.vec()});
}

// Offsets are rounded as little as weights: 16 bits do not hold a position on a large map.
Tensor cast(const Tensor& input, const Tensor& offset, const std::optional<Tensor>& mask,
            const Tensor& weight, const std::optional<Tensor>& bias, at::IntArrayRef stride,
            at::IntArrayRef padding, at::IntArrayRef dilation) {
  const Autocast cast(input);
  return with_gradients(cast(input), offset, mask, weight, bias, stride, padding, dilation);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "deform_conv2d(Tensor input, Tensor offset, Tensor? mask, Tensor weight, Tensor? bias, "
      "int[] stride, int[] padding, int[] dilation) -> Tensor");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("deform_conv2d", without_gradients); }
TORCH_LIBRARY_IMPL(saccade, CUDA, m) { m.impl("deform_conv2d", without_gradients); }
TORCH_LIBRARY_IMPL(saccade, AutogradCPU, m) { m.impl("deform_conv2d", with_gradients); }
TORCH_LIBRARY_IMPL(saccade, AutogradCUDA, m) { m.impl("deform_conv2d", with_gradients); }
TORCH_LIBRARY_IMPL(saccade, AutocastCPU, m) { m.impl("deform_conv2d", cast); }
TORCH_LIBRARY_IMPL(saccade, AutocastCUDA, m) { m.impl("deform_conv2d", cast); }

}  // namespace saccade

// saccade::key_only_attention for torch: what is made of a token at a time is fused, with its
// gradients; those of the small matrices are torch's.

#include <torch/csrc/autograd/custom_function.h>

#include "common/autocast.h"
#include "common/dispatch.h"
#include "common/operators.h"
#include "key_only_attention/product.h"
#include "key_only_attention/salient_mean.h"

SACCADE_DISPATCH(product_forward, const saccade_product)
SACCADE_DISPATCH(salient_mean_forward, const saccade_salient_mean)
SACCADE_DISPATCH(salient_mean_backward, const saccade_salient_mean)

namespace saccade {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// A matrix of every image, [n, rows, columns], and whether it is to be read transposed.
struct Factor {
  Tensor matrices;
  bool transposed;
};

// start + left right of every image; start, [n, columns], is the same for all rows. On a GPU by
// torch.
Tensor multiply(const Factor& left, const Factor& right, const Tensor& start, at::ScalarType type) {
  if (left.matrices.is_cuda()) {
    const at::ScalarType common = left.matrices.scalar_type();
    auto read = [&](const Factor& f) {
      return (f.transposed ? f.matrices.transpose(1, 2) : f.matrices).to(common);
    };
    return (start.defined() ? at::baddbmm(start.unsqueeze(1).to(common), read(left), read(right))
                            : at::bmm(read(left), read(right)))
        .to(type);
  }
  const Tensor l = left.matrices.contiguous(), r = right.matrices.contiguous();
  const Tensor s = start.defined() ? start.contiguous() : start;
  saccade_product a = {};
  a.n = l.size(0);
  a.rows = l.size(left.transposed ? 2 : 1);
  a.inner = l.size(left.transposed ? 1 : 2);
  a.columns = r.size(right.transposed ? 1 : 2);
  const Tensor out = at::empty({a.n, a.rows, a.columns}, l.options().dtype(type));
  a.left_type = type_of(l);
  a.right_type = type_of(r);
  a.out_type = type_of(out);
  a.left_transposed = left.transposed;
  a.right_transposed = right.transposed;
  a.left = data(l);
  a.right = data(r);
  a.start = data(s);
  a.out = data(out);
  check(saccade_product_forward(&a), "product");
  return out;
}

// The same with its gradients, stored as left.
class Product : public Function<Product> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& left, const Tensor& right,
                        bool transposed, const std::optional<Tensor>& start) {
    at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({left, right});
    context->saved_data["transposed"] = transposed;
    context->saved_data["starts"] = start.has_value();
    return multiply({left, false}, {right, transposed}, start.value_or(Tensor()),
                    left.scalar_type());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const bool transposed = context->saved_data["transposed"].toBool();
    const Tensor &left = saved[0], &right = saved[1], &d_out = gradients[0];
    Tensor d_left, d_right, d_start;
    if (context->needs_input_grad(0)) {
      d_left = multiply({d_out, false}, {right, !transposed}, {}, left.scalar_type());
    }
    if (context->needs_input_grad(1)) {
      d_right = transposed ? multiply({d_out, true}, {left, false}, {}, right.scalar_type())
                           : multiply({left, true}, {d_out, false}, {}, right.scalar_type());
    }
    if (context->saved_data["starts"].toBool()) d_start = at::sum(d_out, {1}, false, sums(left));
    return {d_left, d_right, Tensor(), d_start};
  }
};

saccade_salient_mean arguments(const Tensor& x, const Tensor& saliency, const Tensor& mean,
                               const Tensor& level) {
  saccade_salient_mean a = {};
  a.type = type_of(x);
  a.n = x.size(0);
  a.tokens = x.size(1);
  a.heads = saliency.size(0);
  a.channels = x.size(2);
  a.x = data(x);
  a.saliency = data(saliency);
  a.mean = data(mean);
  a.level = data(level);
  return a;
}

// The mean of the tokens [n, tokens, c] for heads of saliency [heads, c]. The tokens come out too:
// who goes on with them gets their gradients added up in one pass.
class SalientMean : public Function<SalientMean> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& saliency) {
    at::AutoDispatchBelowADInplaceOrView guard;
    const Tensor s = saliency.contiguous();
    const Tensor mean = at::zeros({x.size(0), s.size(0), x.size(2)}, s.options());
    const Tensor level = at::zeros({x.size(0), s.size(0)}, s.options());
    const saccade_salient_mean a = arguments(x, s, mean, level);
    launch("salient_mean", x, saccade_salient_mean_forward, saccade_salient_mean_forward_cuda, a);
    context->save_for_backward({x, s, mean, level});
    return {mean, x};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor d_mean = gradients[0].contiguous();
    const Tensor d_x = gradients[1].contiguous(), d_saliency = at::zeros_like(d_mean);
    saccade_salient_mean a = arguments(saved[0], saved[1], saved[2], saved[3]);
    a.d_mean = data(d_mean);
    a.d_x = data(d_x);
    a.d_saliency = data(d_saliency);
    launch("salient_mean", saved[0], saccade_salient_mean_backward,
           saccade_salient_mean_backward_cuda, a);
    return {d_x, d_saliency.sum(0)};
  }
};

// left right + start of every image; transposed: left right^T.
Tensor product(const Tensor& left, const Tensor& right, bool transposed,
               const std::optional<Tensor>& start = {}) {
  return Product::apply(left, right, transposed, start);
}

// left right, of one matrix each.
Tensor times(const Tensor& left, const Tensor& right) {
  return product(left.unsqueeze(0), right.unsqueeze(0), false).squeeze(0);
}

// left weight^T + bias, of one matrix each.
Tensor affine(const Tensor& left, const Tensor& weight, const Tensor& bias) {
  return product(left.unsqueeze(0), weight.unsqueeze(0), true, bias.unsqueeze(0)).squeeze(0);
}

// Weights [outputs, inputs] and biases [outputs].
struct Weights {
  Tensor k, v, u1, u2, b_k, b_v, b_1, b_2;
};

// Keys and values of every token, and two products more. gate: [n, c].
Tensor four_products(const Tensor& x, const Tensor& gate, const Weights& w) {
  const Tensor tokens = x.view({-1, x.size(2)});
  const Tensor values = affine(tokens, w.v, w.b_v).view(x.sizes());
  const Tensor gated = (values * gate.unsqueeze(1).to(values.scalar_type())).view(tokens.sizes());
  const Tensor sum = affine(gated, w.u1, w.b_1).add_(affine(tokens, w.k, w.b_k));
  return affine(sum, w.u2, w.b_2).view(x.sizes());
}

// One product of the tokens with a matrix of the image, U2 (U1 diag(gate) V + K).
Tensor one_product(const Tensor& x, const Tensor& gate, const Weights& w) {
  const int64_t n = x.size(0), c = x.size(2);
  const Tensor of_values = times(w.u2, w.u1), of_keys = times(w.u2, w.k);
  const Tensor gated = (of_values * gate.unsqueeze(1)).view({n * c, c});
  const Tensor matrix = times(gated, w.v).view({n, c, c}).add_(of_keys);
  const Tensor bias = at::linear(gate * w.b_v, of_values, at::linear(w.b_1 + w.b_k, w.u2, w.b_2));
  return product(x, matrix, true, bias);
}

// Which is less work: n products of tokens by c by c and n + 2 of c by c by c, or 4 n of the
// former.
bool one_product_is_less(int64_t n, int64_t tokens, int64_t c) {
  return 3 * n * tokens > (n + 2) * c;
}

void check_inputs(const Tensor& x, const Tensor& saliency, at::TensorList weights,
                  at::ArrayRef<std::optional<Tensor>> biases) {
  TORCH_CHECK(x.dim() == 4 && saliency.dim() == 2 && x.size(3) > 0 && saliency.numel() == x.size(3),
              "saccade::key_only_attention: x ", x.sizes(), ", saliency ", saliency.sizes(),
              ", expected [N, H, W, C] and [heads, C / heads]");
  for (const Tensor& weight : weights) {
    TORCH_CHECK(weight.dim() == 2 && weight.size(0) == x.size(3) && weight.size(1) == x.size(3),
                "saccade::key_only_attention: weight ", weight.sizes(), " of x ", x.sizes(),
                ", expected [C, C]");
  }
  for (const auto& bias : biases) {
    TORCH_CHECK(
        !bias.has_value() || !bias->defined() || (bias->dim() == 1 && bias->size(0) == x.size(3)),
        "saccade::key_only_attention: a bias of [C] expected, x ", x.sizes());
  }
}

Tensor key_only_attention(const Tensor& x, const Tensor& saliency, const Tensor& k, const Tensor& v,
                          const Tensor& u1, const Tensor& u2, const std::optional<Tensor>& b_k,
                          const std::optional<Tensor>& b_v, const std::optional<Tensor>& b_1,
                          const std::optional<Tensor>& b_2) {
  check_inputs(x, saliency, {k, v, u1, u2}, {b_k, b_v, b_1, b_2});
  const int64_t n = x.size(0), c = x.size(3), tokens = x.size(1) * x.size(2);
  const int64_t heads = saliency.size(0);
  const at::ScalarType type = sums(x);
  auto bias = [&](const std::optional<Tensor>& b) {
    return b.has_value() && b->defined() ? b->to(type) : at::zeros({c}, x.options().dtype(type));
  };
  const Weights w = {k.to(type), v.to(type), u1.to(type), u2.to(type),
                     bias(b_k),  bias(b_v),  bias(b_1),   bias(b_2)};
  const Tensor keys = w.k.reshape({heads, c / heads, c});
  const double scale = 1 / std::sqrt(static_cast<double>(c / heads));
  const Tensor salient = product((saliency.to(type) * scale).unsqueeze(1), keys, false).squeeze(1);
  const variable_list seen = SalientMean::apply(x.reshape({n, tokens, c}).contiguous(), salient);
  const Tensor mean = product(seen[0].transpose(0, 1), keys, true);
  const Tensor gate = mean.transpose(0, 1).reshape({n, c}) + w.b_k;
  const auto products = one_product_is_less(n, tokens, c) ? one_product : four_products;
  return products(seen[1], gate, w).view(x.sizes());
}

Tensor cast(const Tensor& x, const Tensor& saliency, const Tensor& k, const Tensor& v,
            const Tensor& u1, const Tensor& u2, const std::optional<Tensor>& b_k,
            const std::optional<Tensor>& b_v, const std::optional<Tensor>& b_1,
            const std::optional<Tensor>& b_2) {
  const Autocast cast(x);
  return key_only_attention(cast(x), saliency, k, v, u1, u2, b_k, b_v, b_1, b_2);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "key_only_attention(Tensor x, Tensor saliency, Tensor k, Tensor v, Tensor u1, Tensor u2, "
      "Tensor? b_k, Tensor? b_v, Tensor? b_1, Tensor? b_2) -> Tensor",
      key_only_attention);
}
TORCH_LIBRARY_IMPL(saccade, AutocastCPU, m) { m.impl("key_only_attention", cast); }
TORCH_LIBRARY_IMPL(saccade, AutocastCUDA, m) { m.impl("key_only_attention", cast); }

}  // namespace saccade

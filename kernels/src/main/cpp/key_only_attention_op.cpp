// saccade::key_only_attention for torch: what is learned from a token at a time is fused, with its
// gradients; those of the small matrices are torch's.

#include <torch/csrc/autograd/custom_function.h>

#include "operators.h"

namespace saccade {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// left right of every image, or left^T right.
Tensor multiply(const Tensor& left, bool left_turned, const Tensor& right, const Tensor& start, at::ScalarType type) {
  const Tensor l = left.contiguous(), r = right.contiguous(), s = start.defined() ? start.contiguous() : start;
  Tensor out = at::empty({l.size(0), l.size(left_turned ? 2 : 1), r.size(2)}, l.options().dtype(type));
  saccade_product a = {};
  a.left_type = type_of(l);
  a.right_type = type_of(r);
  a.out_type = type_of(out);
  a.n = out.size(0);
  a.rows = out.size(1);
  a.columns = out.size(2);
  a.inner = r.size(1);
  a.left_turned = left_turned;
  a.left = data(l);
  a.right = data(r);
  a.start = data(s);
  a.out = data(out);
  check(saccade_product_forward(&a), "product");
  return out;
}

// start + left right of every image, [n, rows, inner] by [n, inner, columns], stored as left; start,
// [n, columns], is the same for all rows.
class Product : public Function<Product> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& left, const Tensor& right,
                        const std::optional<Tensor>& start) {
    at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({left, right});
    context->saved_data["starts"] = start.has_value();
    return multiply(left, false, right, start.value_or(Tensor()), left.scalar_type());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor &left = saved[0], &right = saved[1], &d_out = gradients[0];
    Tensor d_left, d_right, d_start;
    if (context->needs_input_grad(0)) {
      d_left = multiply(d_out, false, right.transpose(1, 2), {}, left.scalar_type());
    }
    if (context->needs_input_grad(1)) d_right = multiply(left, true, d_out, {}, right.scalar_type());
    if (context->saved_data["starts"].toBool()) d_start = at::sum(d_out, {1}, false, sums(left));
    return {d_left, d_right, d_start};
  }
};

saccade_salient_mean arguments(const Tensor& x, const Tensor& saliency, const Tensor& mean, const Tensor& level) {
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

// The mean of the tokens [n, tokens, c] for heads of saliency [heads, c]. The tokens come out too: who
// goes on with them gets their gradients added up in one pass.
class SalientMean : public Function<SalientMean> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& saliency) {
    at::AutoDispatchBelowADInplaceOrView guard;
    const Tensor s = saliency.contiguous();
    const Tensor mean = at::zeros({x.size(0), s.size(0), x.size(2)}, s.options());
    const Tensor level = at::zeros({x.size(0), s.size(0)}, s.options());
    const saccade_salient_mean a = arguments(x, s, mean, level);
    check(saccade_salient_mean_forward(&a), "salient_mean");
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
    check(saccade_salient_mean_backward(&a), "salient_mean");
    return {d_x, d_saliency.sum(0)};
  }
};

// One matrix.
Tensor product(const Tensor& left, const Tensor& right, const std::optional<Tensor>& start = {}) {
  const auto row = start.has_value() ? std::optional<Tensor>(start->unsqueeze(0)) : start;
  return Product::apply(left.unsqueeze(0), right.unsqueeze(0), row).squeeze(0);
}

// Weights [outputs, inputs] and biases [outputs].
struct Weights {
  Tensor k, v, u1, u2, b_k, b_v, b_1, b_2;
};

// Keys and values of every token, and two products more. gate: [n, c].
Tensor four_products(const Tensor& x, const Tensor& gate, const Weights& w) {
  const int64_t c = x.size(2);
  const Tensor tokens = x.reshape({x.size(0) * x.size(1), c});
  const Tensor values = product(tokens, w.v.t(), w.b_v).view(x.sizes());
  const Tensor gated = (values * gate.unsqueeze(1).to(values.scalar_type())).reshape({-1, c});
  const Tensor sum = product(gated, w.u1.t(), w.b_1).add_(product(tokens, w.k.t(), w.b_k));
  return product(sum, w.u2.t(), w.b_2).view(x.sizes());
}

// One product of the tokens with a matrix of the image, U2 (U1 diag(gate) V + K).
Tensor one_product(const Tensor& x, const Tensor& gate, const Weights& w) {
  const int64_t n = x.size(0), c = x.size(2);
  const std::vector<Tensor> last = product(at::cat({w.u1.t(), w.k.t()}), w.u2.t()).split(c);
  const Tensor gated = (gate.unsqueeze(1) * w.v.t()).reshape({n * c, c});
  const Tensor matrix = product(gated, last[0]).view({n, c, c}).add_(last[1]);
  const Tensor bias = at::linear(gate * w.b_v, last[0].t(), at::linear(w.b_1 + w.b_k, w.u2, w.b_2));
  return Product::apply(x, matrix, std::optional<Tensor>(bias));
}

// Which is less work: n products of tokens by c by c and n + 2 of c by c by c, or 4 n of the former.
bool one_product_is_less(int64_t n, int64_t tokens, int64_t c) { return 3 * n * tokens > (n + 2) * c; }

Tensor key_only_attention(const Tensor& x, const Tensor& saliency, const Tensor& k, const Tensor& v,
                          const Tensor& u1, const Tensor& u2, const std::optional<Tensor>& b_k,
                          const std::optional<Tensor>& b_v, const std::optional<Tensor>& b_1,
                          const std::optional<Tensor>& b_2) {
  const int64_t n = x.size(0), c = x.size(3), tokens = x.size(1) * x.size(2);
  const int64_t heads = saliency.size(0);
  const at::ScalarType type = sums(x);
  auto bias = [&](const std::optional<Tensor>& b) {
    return b.has_value() && b->defined() ? b->to(type) : at::zeros({c}, x.options().dtype(type));
  };
  const Weights w = {k.to(type), v.to(type), u1.to(type), u2.to(type), bias(b_k), bias(b_v), bias(b_1), bias(b_2)};
  const Tensor keys = w.k.reshape({heads, c / heads, c});
  const double scale = 1 / std::sqrt(static_cast<double>(c / heads));
  const Tensor salient = (keys * (saliency.to(type) * scale).unsqueeze(2)).sum(1);
  const variable_list seen = SalientMean::apply(x.reshape({n, tokens, c}).contiguous(), salient);
  const Tensor gate = at::matmul(keys, seen[0].unsqueeze(3)).reshape({n, c}) + w.b_k;
  const Tensor y = one_product_is_less(n, tokens, c) ? one_product(seen[1], gate, w) : four_products(seen[1], gate, w);
  return y.view(x.sizes());
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "key_only_attention(Tensor x, Tensor saliency, Tensor k, Tensor v, Tensor u1, Tensor u2, "
      "Tensor? b_k, Tensor? b_v, Tensor? b_1, Tensor? b_2) -> Tensor",
      key_only_attention);
}

}  // namespace saccade

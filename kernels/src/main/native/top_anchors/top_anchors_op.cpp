// saccade::top_anchors for torch: on CPUs, without gradients.

#include "top_anchors/top_anchors.h"

#include "common/dispatch.h"
#include "common/operators.h"

SACCADE_DISPATCH(top_anchors_forward, const saccade_top_anchors)

namespace saccade {
namespace {

using at::Tensor;

// Selects the best anchors of every level, at most as many as asked for of each. The corners of the
// first cells are [levels, anchors, 4].
std::tuple<Tensor, Tensor, Tensor> top_anchors(at::TensorList logits, at::TensorList deltas,
                                               const Tensor& corners, at::IntArrayRef strides,
                                               int64_t classes, int64_t most) {
  const size_t levels = strides.size();
  TORCH_CHECK(levels > 0 && logits.size() == levels && deltas.size() == levels && classes > 0 &&
                  most >= 0 && corners.dim() == 3 && corners.scalar_type() == at::kFloat &&
                  corners.size(0) == static_cast<int64_t>(levels) && corners.size(2) == 4,
              "saccade::top_anchors: ", logits.size(), " maps of logits, ", deltas.size(),
              " of deltas, ", levels, " strides, corners ", corners.sizes(), " of ",
              corners.scalar_type(), ", ", classes,
              " classes, expected a map of each for every level, corners [levels, anchors, 4] of "
              "Float");
  const Tensor of_cells = corners.contiguous();
  saccade_top_anchors a = {};
  a.n = logits[0].size(0);
  a.anchors = corners.size(1);
  a.classes = classes;
  std::vector<int64_t> counts;
  for (size_t l = 0; l < levels; l++) {
    const Tensor &x = logits[l], &d = deltas[l];
    const at::ScalarType type = logits[0].scalar_type();
    TORCH_CHECK((type == at::kFloat || type == at::kBFloat16) && x.scalar_type() == type &&
                    d.scalar_type() == type && x.dim() == 4 && d.dim() == 4 && x.size(0) == a.n &&
                    x.size(1) == a.anchors * classes &&
                    d.sizes() == at::IntArrayRef({a.n, a.anchors * 4, x.size(2), x.size(3)}),
                "saccade::top_anchors: logits ", x.sizes(), " of ", x.scalar_type(), ", deltas ",
                d.sizes(), " of ", d.scalar_type(), ", expected [N, ", a.anchors * classes,
                ", H, W] and [N, ", a.anchors * 4, ", H, W] of Float or BFloat16");
    counts.push_back(std::min(most, x.size(2) * x.size(3) * a.anchors));
    a.rows += counts.back();
  }
  const auto options = logits[0].options().dtype(at::kFloat);
  const Tensor top_scores = at::empty({a.n, a.rows, classes}, options),
               top_deltas = at::empty({a.n, a.rows, 4}, options),
               anchors = at::empty({a.n, a.rows, 4}, options);
  a.type = type_of(logits[0]);
  a.top_scores = top_scores.data_ptr<float>();
  a.top_deltas = top_deltas.data_ptr<float>();
  a.top_anchors = anchors.data_ptr<float>();
  for (size_t l = 0; l < levels; l++) {
    const Tensor x = logits[l].contiguous(at::MemoryFormat::ChannelsLast),
                 d = deltas[l].contiguous(at::MemoryFormat::ChannelsLast);
    a.h = x.size(2);
    a.w = x.size(3);
    a.stride = strides[l];
    a.most = counts[l];
    a.logits = data(x);
    a.deltas = data(d);
    a.corners = of_cells.const_data_ptr<float>() + l * a.anchors * 4;
    if (a.n > 0) check(saccade_top_anchors_forward(&a), "top_anchors");
    a.first += a.most;
  }
  return {top_scores, top_deltas, anchors};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "top_anchors(Tensor[] logits, Tensor[] deltas, Tensor corners, int[] strides, int classes, "
      "int most) -> (Tensor scores, Tensor deltas, Tensor anchors)");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) { m.impl("top_anchors", top_anchors); }

}  // namespace saccade

// saccade::bilinear_resize and saccade::bilinear_labels for torch.

#include "bilinear_resize/bilinear_resize.h"
#include "common/dispatch.h"
#include "common/operators.h"

SACCADE_DISPATCH(bilinear_resize_forward, const saccade_bilinear_resize)

namespace saccade {
namespace {

using at::Tensor;

bool is_positions(const Tensor& t) {
  return t.dim() == 1 && t.scalar_type() == at::kFloat && t.is_contiguous();
}

saccade_bilinear_resize arguments(const Tensor& map, const Tensor& rows, const Tensor& columns) {
  const at::ScalarType type = map.scalar_type();
  TORCH_CHECK(map.dim() >= 3 && (type == at::kFloat || type == at::kBFloat16) &&
                  map.is_contiguous() && is_positions(rows) && is_positions(columns),
              "saccade::bilinear_resize: map ", map.sizes(), " of ", type, ", rows ", rows.sizes(),
              ", columns ", columns.sizes(),
              ", expected [.., h, w, K] of Float or BFloat16, [H] and [W] of Float, contiguous");
  saccade_bilinear_resize a = {};
  a.type = type_of(map);
  a.h = map.size(-3);
  a.w = map.size(-2);
  a.channels = map.size(-1);
  a.n = map.numel() / std::max<int64_t>(1, a.h * a.w * a.channels);
  a.height = rows.size(0);
  a.width = columns.size(0);
  a.map = data(map);
  a.rows = rows.data_ptr<float>();
  a.columns = columns.data_ptr<float>();
  return a;
}

Tensor bilinear_resize(const Tensor& map, const Tensor& rows, const Tensor& columns) {
  saccade_bilinear_resize a = arguments(map, rows, columns);
  std::vector<int64_t> shape = map.sizes().vec();
  shape[shape.size() - 3] = a.height;
  shape[shape.size() - 2] = a.width;
  const Tensor out = at::empty(shape, map.options());
  a.out = data(out);
  check(saccade_bilinear_resize_forward(&a), "bilinear_resize");
  return out;
}

Tensor& bilinear_labels(const Tensor& map, const Tensor& rows, const Tensor& columns,
                        Tensor& labels) {
  saccade_bilinear_resize a = arguments(map, rows, columns);
  TORCH_CHECK(map.dim() == 3 && labels.scalar_type() == at::kByte && labels.dim() == 3 &&
                  labels.size(0) == a.height && labels.size(1) == a.width && labels.size(2) == 2 &&
                  labels.stride(1) == 2 && labels.stride(2) == 1,
              "saccade::bilinear_labels: labels ", labels.sizes(), " with strides ",
              labels.strides(), ", expected bytes [H, W, 2] with contiguous rows");
  a.labels = labels.data_ptr<uint8_t>();
  a.label_row = labels.stride(0);
  check(saccade_bilinear_resize_forward(&a), "bilinear_labels");
  return labels;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def("bilinear_resize(Tensor map, Tensor rows, Tensor columns) -> Tensor");
  m.def(
      "bilinear_labels(Tensor map, Tensor rows, Tensor columns, Tensor(a!) labels) -> Tensor(a!)");
}
TORCH_LIBRARY_IMPL(saccade, CPU, m) {
  m.impl("bilinear_resize", bilinear_resize);
  m.impl("bilinear_labels", bilinear_labels);
}

}  // namespace saccade

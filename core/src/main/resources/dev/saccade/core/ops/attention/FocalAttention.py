def attend(qkv: Tensor, cells: Tensor, bias: Tensor, index: Tensor, mask: Tensor) -> Tensor:
  window = {window}
  first_masked = {first_masked}
  n = torch.size(qkv, 0)
  heads = torch.size(bias, 0)
  windows = torch.size(index, 0)
  keys = torch.size(index, 1)
  d = torch.size(qkv, 3) // 3 // heads
  q, k, v, = torch.split(qkv, heads * d, 3)
  _0, k_cells, v_cells, = torch.split(cells, heads * d, 2)
  none = torch.new_zeros(qkv, [n, heads, 1, d])
  list = [n, -1, heads, d]
  k_list = torch.cat([none, torch.transpose(torch.reshape(k, list), 1, 2), torch.transpose(torch.reshape(k_cells, list), 1, 2)], 2)
  v_list = torch.cat([none, torch.transpose(torch.reshape(v, list), 1, 2), torch.transpose(torch.reshape(v_cells, list), 1, 2)], 2)
  first = torch.arange(n * heads, dtype=3, device=ops.prim.device(qkv)) * torch.size(k_list, 2)
  rows = torch.reshape(first, [n, 1, heads, 1]) + torch.unsqueeze(index, 1)
  k_windows = torch.embedding(torch.flatten(k_list, 0, 2), rows)
  v_windows = torch.embedding(torch.flatten(v_list, 0, 2), rows)
  map = torch.reshape(q, [n, torch.size(q, 1) // window, window, torch.size(q, 2) // window, window, heads, d])
  scaled = torch.mul_(torch.clone(torch.permute(map, [0, 1, 3, 5, 2, 4, 6]), memory_format=0), d ** -0.5)
  q_windows = torch.reshape(scaled, [n, windows, heads, -1, d])
  logits = torch.add_(torch.matmul(q_windows, torch.transpose(k_windows, 3, 4)), bias)
  if first_masked == 0:
    logits = torch.add_(logits, torch.unsqueeze(mask, 1))
  else:
    masked = torch.slice(torch.detach(logits), 4, first_masked)
    _1 = torch.add_(masked, torch.unsqueeze(torch.slice(mask, 2, first_masked), 1))
  return torch.matmul(torch.softmax(logits, -1), v_windows)

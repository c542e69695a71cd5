def attend(q: Tensor, kv: Tensor) -> Tensor:
  heads = {heads}
  n = torch.size(q, 0)
  d = torch.size(q, 3) // heads
  queries = torch.size(q, 1) * torch.size(q, 2)
  keys = torch.size(kv, 1) * torch.size(kv, 2)
  parts = {parts}
  if queries % parts != 0 or keys * parts >= queries:
    parts = 1
  pairs = torch.reshape(kv, [n, 1, keys, 2, heads, d])
  pairs = torch.expand(pairs, [n, parts, keys, 2, heads, d])
  pairs = torch.reshape(pairs, [n * parts, keys, 2, heads, d])
  k = torch.transpose(torch.select(pairs, 2, 0), 1, 2)
  v = torch.transpose(torch.select(pairs, 2, 1), 1, 2)
  near = torch.reshape(q, [n * parts, queries // parts, heads, d])
  out = torch.scaled_dot_product_attention(torch.transpose(near, 1, 2), k, v)
  return torch.reshape(torch.transpose(out, 1, 2), torch.size(q))

"""ELSA-Swin-T with torch modules and fused operators, compared with torchvision's Swin-T."""

import torch
import torch.nn.functional as F
from torch import nn

from timings import Timing


class Elsa(nn.Module):
    """ELSA instead of window attention, channels-last."""

    def __init__(self, channels, heads, kernel=7, width=4):
        super().__init__()
        self.heads, self.kernel = heads, kernel
        self.queries = channels // 3 * 2 // width * width
        self.pre = nn.Linear(channels, 2 * self.queries + channels)
        self.spread = nn.Conv2d(self.queries, self.queries, kernel, padding=kernel // 2, groups=self.queries // width)
        self.logits = nn.Linear(self.queries, heads * kernel * kernel)
        self.ghost = nn.Parameter(torch.randn(channels, kernel * kernel) * 0.02)
        self.post = nn.Linear(channels, channels)

    def forward(self, x):
        q, k, values = self.pre(x).split([self.queries, self.queries, x.shape[3]], 3)
        spread = torch.ops.saccade.grouped_convolution(q * k, self.spread.weight, self.spread.bias)
        logits = self.logits(F.gelu(spread))
        return self.post(torch.ops.saccade.elsa_attention(values, logits, None, self.ghost, self.kernel, 1))


def models():
    import torchvision

    swin = torchvision.models.swin_t().cuda().bfloat16().eval()
    elsa = torchvision.models.swin_t()
    for stage, heads in zip((1, 3, 5), (3, 6, 12)):
        for block in elsa.features[stage]:
            block.attn = Elsa(heads * 32, heads)
    return elsa.cuda().bfloat16().eval(), swin


def timings():
    elsa, swin = models()
    for n in (1, 16, 128):
        yield Timing(
            f"ELSA-Swin-T beside Swin-T, {n} images of 224 x 224, bf16",
            elsa,
            swin,
            lambda: [torch.randn(n, 3, 224, 224, device="cuda", dtype=torch.bfloat16)],
            0.95 if n == 128 else 0,
        )

"""Attention of an ensemble: softmax heads, or the mean over the tokens."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from georecall.models.activations import Watch, unwatched


class RecallHeads(nn.Module):
    """Attention heads: `Σ_h O_h V_h x_u` weighted by `softmax_u ⟨Q_h x_t, K_h x_u⟩`, over the tokens so far."""

    def __init__(self, *, query: Tensor, key: Tensor, value: Tensor, output: Tensor) -> None:
        super().__init__()
        self.query, self.key = nn.Parameter(query), nn.Parameter(key)
        self.value, self.output = nn.Parameter(value), nn.Parameter(output)

    def weights(
        self, x: Float[Tensor, "members batch time dim"], asked: int
    ) -> Float[Tensor, "members batch heads asked time"]:
        """How much the last `asked` tokens attend to every token."""
        time = x.shape[2]
        query = torch.einsum("mbqd,mhed->mbhqe", x[:, :, -asked:], self.query)
        key = torch.einsum("mbkd,mhed->mbhke", x, self.key)
        future = torch.full((asked, time), -torch.inf, dtype=x.dtype, device=x.device).triu(time - asked + 1)
        return torch.softmax(query @ key.mT + future, dim=-1)

    def forward(
        self, x: Float[Tensor, "members batch time dim"], asked: int, watch: Watch = unwatched
    ) -> Float[Tensor, "members batch asked dim"]:
        """What the heads bring to the last `asked` tokens."""
        weights = self.weights(x, asked)
        carried = torch.einsum("mbkd,mhed->mbhke", watch("carried", x), self.value)
        return torch.einsum("mbhqe,mhde->mbqd", weights @ carried, self.output)


class UniformAttention(nn.Module):
    """The mean over the tokens so far."""

    def weights(
        self, x: Float[Tensor, "members batch time dim"], asked: int
    ) -> Float[Tensor, "members batch 1 asked time"]:
        """One over the number of tokens so far, at the last `asked` tokens; never needed to take the mean."""
        members, batch, time, _ = x.shape
        seen = x.new_ones(asked, time).tril(time - asked)
        return (seen / seen.sum(dim=1, keepdim=True)).expand(members, batch, 1, asked, time)

    def forward(
        self, x: Float[Tensor, "members batch time dim"], asked: int, watch: Watch = unwatched
    ) -> Float[Tensor, "members batch asked dim"]:
        """The running mean at the last `asked` tokens."""
        x = watch("carried", x)
        if asked == 1:
            return (sum(x.unbind(2)[1:], x[:, :, 0]) / x.shape[2])[:, :, None]
        counts = torch.arange(1, x.shape[2] + 1, dtype=x.dtype, device=x.device)[:, None]
        return (x.cumsum(dim=2) / counts)[:, :, -asked:]

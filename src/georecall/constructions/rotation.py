"""Random rotations of the residual stream that no normalisation notices."""

import numpy as np
from jaxtyping import Float64


def random_rotation(dim: int, seed: int) -> Float64[np.ndarray, "dim dim"]:
    """A uniformly random orthogonal Q with `Q 1 = 1`: it keeps the norm, and the mean, of every vector.

    `Q = U diag(1, M) Uᵀ`, where the first column of the orthogonal U is `1/√d` and M is a uniformly random
    orthogonal matrix. A model conjugated by Q computes the same function with superpositions along no axis,
    with layer and RMS normalisation in it (docs/theory.md §6).
    """
    rng = np.random.default_rng(seed)
    frame = rng.standard_normal((dim, dim))
    frame[:, 0] = 1.0
    basis, upper = np.linalg.qr(frame)
    basis[:, 0] *= np.sign(upper[0, 0])
    inner, upper = np.linalg.qr(rng.standard_normal((dim - 1, dim - 1)))
    rest = basis[:, 1:] @ (inner * np.sign(np.diag(upper))) @ basis[:, 1:].T
    return basis[:, :1] @ basis[:, :1].T + rest

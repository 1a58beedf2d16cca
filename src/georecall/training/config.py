"""What a training run depends on besides the table of facts."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from georecall.constructions.prompts import context

Mode = Literal["direct", "cot"]
Freeze = Literal["none", "subjects", "inputs", "inputs+unembedding"]
Size = Annotated[int, Field(ge=1, lt=1 << 63)]
Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class TrainConfig(BaseModel):
    """An ensemble of small transformers and the recipe that trains them; one member for each learning rate and seed.

    * `mode`: `direct` answers a question of k hops at once; `cot` (chain of thought) emits every entity on the way.
    * `heads`: learned attention has this many, each of d dimensions.
    * `freeze`: what keeps its random initial value; `inputs` are the embeddings of subjects, relations and positions.
    * `attribute_dim`: dimensions in which the attribute vectors live (unembedding A × a, W2 a × m); d by default.
    * `embedding_noise`: Gaussian noise on subject embeddings in training, in units of their standard deviation.
    * `steps`: length of the schedule (linear warm-up over 5 %, then half a cosine to 0); training stops before its
      end once every member recalls every fact with a margin above `margin`, looked at every `check_every` steps;
      it never does if the margin is None.
    * `batch`: questions a step; all of them if there are fewer.
    * `held_out`: share of the composed questions (k > 1) that are never trained on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dim: Size
    width: Size
    hops: Size = 1
    mode: Mode = "direct"
    attention: Literal["uniform", "learned"] = "uniform"
    heads: Size = 1
    attribute_dim: Size | None = None
    freeze: Freeze = "none"
    residual: bool = False
    embedding_noise: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    label_smoothing: Annotated[float, Field(ge=0, lt=1)] = 0.0
    learning_rates: Annotated[tuple[Rate, ...], Field(min_length=1)] = (0.01,)
    seeds: Size = 3
    first_seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 0
    steps: Size = 2000
    batch: Size = 4096
    weight_decay: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    margin: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = 0.0
    check_every: Size = 50
    held_out: Annotated[float, Field(ge=0, lt=1)] = 0.0

    @model_validator(mode="after")
    def _check_together(self) -> "TrainConfig":
        problems = [
            message
            for wrong, message in (
                (
                    self.heads > 1 and self.attention == "uniform",
                    f"heads must be 1 with uniform attention, got {self.heads}",
                ),
                (
                    len(set(self.learning_rates)) < len(self.learning_rates),
                    f"learning_rates must differ, got {', '.join(map(str, self.learning_rates))}",
                ),
                (
                    self.hops > 1 and self.attention == "uniform",
                    f"attention must be learned for {self.hops} hops: uniform attention sees no order",
                ),
                (
                    self.residual and self.attribute_dim not in {None, self.dim},
                    f"attribute_dim must be dim = {self.dim} with a residual stream, got {self.attribute_dim}",
                ),
                (
                    self.attribute_dim is not None and self.attribute_dim > self.dim,
                    f"attribute_dim must be at most dim = {self.dim}, got {self.attribute_dim}",
                ),
                (
                    self.hops == 1 and self.held_out > 0,
                    "held_out needs hops of 2 or more: single facts do not compose",
                ),
                (self.hops == 1 and self.mode == "cot", "mode cot needs hops of 2 or more"),
            )
            if wrong
        ]
        if problems:
            raise ValueError("; ".join(problems))
        return self

    @property
    def out(self) -> int:
        """Dimensions of the attribute vectors, a."""
        return self.dim if self.attribute_dim is None else self.attribute_dim

    @property
    def context(self) -> int:
        """Tokens of the longest input."""
        return context(self.hops, chain_of_thought=self.mode == "cot")

    @property
    def members(self) -> tuple[tuple[float, int], ...]:
        """Learning rate and seed of every member; those of one learning rate lie together."""
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        return tuple((rate, seed) for rate in self.learning_rates for seed in seeds)

"""A trained run of one hop with uniform attention, laid open by the fit of its superposition."""

from itertools import islice

import numpy as np
from jaxtyping import Float32, Int64
from torch import Tensor

from georecall.constructions.prompts import SUBJECT
from georecall.dissection.held_out_split import HeldOutSplit
from georecall.dissection.superposition import Superposition, superpose
from georecall.errors import AnalysisError
from georecall.explorer.mechanism import Mechanism
from georecall.explorer.name_search import NameSearch
from georecall.explorer.view import About, View
from georecall.progress import no_progress
from georecall.statistics.random_streams import stream
from georecall.training.runs import TrainedRun

SEED = 0
"""Decides which subjects the fit of the superposition does not see."""

ASKED = 512
"""Subjects on which it is counted which relation opens a unit."""


def run_view(run: TrainedRun, *, title: str, member: int = 0) -> View:
    """What can be explored of one member of a run.

    Raises:
        AnalysisError: the run has several hops or learned attention, or no such member, or fewer than eight
            subjects have all their facts.
    """
    config, table = run.config, run.table
    if config.hops != 1 or config.attention != "uniform":
        raise AnalysisError(
            "expected a run of one hop with uniform attention, "
            f"got {config.hops} {'hop' if config.hops == 1 else 'hops'} with {config.attention} attention"
        )
    if not 0 <= member < run.model.members:
        raise AnalysisError(f"expected a member from 0 to {run.model.members - 1} of this run, got {member}")
    ensemble = HeldOutSplit.of(run.model, table, seed=SEED)
    (chosen,) = islice(ensemble.members("member", no_progress), member, member + 1)
    split = HeldOutSplit.of(chosen.model, table, seed=SEED)
    found = superpose(split, rng=stream(SEED, "superposition"))
    embedding = _numbers(chosen.model.embedding[0])
    return View(
        about=_about(run, member, found, title),
        mechanism=_mechanism(split, found),
        subjects=NameSearch(0, table.subjects),
        attributes=NameSearch(0, table.attributes),
        controls=(),
        n_rows=len(embedding),
        rows=lambda tokens: embedding[tokens],
        answers=lambda tokens: table.answers[tokens],
        outputs=_numbers(chosen.model.unembedding)[: len(table.attributes)],
    )


def _about(run: TrainedRun, member: int, found: Superposition, title: str) -> About:
    config, table = run.config, run.table
    rate, seed = config.members[member]
    explained = () if found.held_out_r2 is None else (("held-out R²", f"{found.held_out_r2.mean:.3f}"),)
    return About(
        kind="run",
        title=title,
        sizes=(
            ("member", f"{member} of {run.model.members} (learning rate {rate:g}, seed {seed})"),
            ("subjects", f"{len(table.subjects):,}"),
            ("relations", f"{len(table.relations):,}"),
            ("attributes", f"{len(table.attributes):,}"),
            ("d", f"{config.dim:,}"),
            ("attribute dimension", f"{config.out:,}"),
            ("hidden units", f"{config.width:,}"),
            ("recall", f"{run.result['last']['recall'][member]:.2%}"),
            *explained,
        ),
        notes=() if found.note is None else (f"On the superposition: {found.note}.",),
        relations=table.relations,
        hops=1,
        tensor="embedding.0",
    )


def _mechanism(split: HeldOutSplit, found: Superposition) -> Mechanism:
    """What reaches the MLP is a share of the subject, and what all relations bring to a subject that is 0."""
    model, layer = split.model, split.model.only_layer
    seen = model.trace(split.prompts(split.training[:1]), edits={"embedded": _without_subject})
    share = seen.attention[0, 0, 0, SUBJECT].item() + layer.residual
    w2 = _numbers(layer.w2)
    return Mechanism(
        share=share,
        residual=layer.residual,
        position=share * _numbers(model.positions)[[SUBJECT]],
        carried=_numbers(seen.attended),
        gate=None,
        w1=_numbers(layer.w1),
        b1=_numbers(layer.b1),
        w2=w2,
        b2=_numbers(layer.b2),
        scored=(0, len(w2)),
        code_scale=1.0,
        offset=found.fit.offset[0],
        components=found.fit.matrices[0],
        owners=_owners(split),
        extras={},
    )


def _without_subject(x: Tensor) -> Tensor:
    x[:, :, SUBJECT] = 0
    return x


def _owners(split: HeldOutSplit) -> Int64[np.ndarray, " width"]:
    """The relation under which each hidden unit is open most often."""
    prompts = split.prompts(split.training[:ASKED])
    hidden = split.model.trace(prompts).hidden[0]
    rates = (hidden > 0).unflatten(0, (-1, len(split.table.relations))).double().mean(dim=0)
    return rates.argmax(dim=0).numpy()


def _numbers(part: Tensor) -> Float32[np.ndarray, "..."]:
    return part[0].detach().float().cpu().numpy()

"""C3 to C6 are judged from what cells leave: planted numbers, and dissections of models whose inside is known."""

from types import SimpleNamespace

import numpy as np
import pytest
from planted import measured

import known_models
from georecall.claims import dissected, select
from georecall.claims.dissected import cells, least, others, own
from georecall.claims.gating import C6
from georecall.claims.readout import C4
from georecall.claims.recipes import RECIPES, coded
from georecall.claims.selection import C5
from georecall.claims.superposition import C3
from georecall.dissection import Dissection
from georecall.dissection.ablation import Ablation
from georecall.dissection.dissection_cell import DissectionCell, DissectionResult
from georecall.dissection.readout import Readout
from georecall.dissection.selectivity import Selectivity
from georecall.dissection.superposition import Superposition
from georecall.dissection.swap import NO_OP, SCALES, WHOLE, AnswerRates, Swap
from georecall.models.recall import RecallTransformer
from georecall.progress import no_progress
from georecall.statistics.estimates import Estimate
from georecall.statistics.subspaces import Subspaces
from georecall.training.trained_cell import TrainedCell

CLAIMS = (C3, C4, C5, C6)
RELATIONS = 3


def estimate(*rates):
    """Three members that agree."""
    return Estimate(np.array([rates] * 3, dtype=np.float64).reshape(3, *np.shape(rates)))


def estimate_of(value):
    return Estimate(np.full(3, value))


def matrix(diagonal, elsewhere):
    return np.where(np.eye(RELATIONS, dtype=bool), diagonal, elsewhere)


def answer_rates(*, follow, stay, old=0.0):
    return AnswerRates(became=estimate(*matrix(follow, 0.0)), kept=estimate(*matrix(old, stay)))


WHOLE_CHANGE, AT_RANDOM = {"follow": 0.81, "stay": 0.91}, {"follow": 0.04, "stay": 0.5}
UNCHANGED = {"follow": 0.0, "stay": 1.0, "old": 1.0}


def swap(*, whole=WHOLE_CHANGE, unchanged=UNCHANGED, random=AT_RANDOM):
    doses = [answer_rates(**unchanged) for _ in SCALES]
    doses[WHOLE] = answer_rates(**whole)
    assert NO_OP != WHOLE
    return Swap(
        samples=1, scales=SCALES, doses=doses, random_direction=answer_rates(**random), wrong_relation=None
    )


def superposition(*, r2=0.85, shuffled=0.04, regressors=1):
    nothing = estimate_of(0.0)
    return Superposition(
        regressors=regressors,
        training_subjects=8,
        held_out_subjects=2,
        strengths=np.ones(3),
        held_out_r2=None if regressors > 8 else estimate_of(r2),
        shuffled_r2=None if regressors > 8 else estimate_of(shuffled),
        shares=None,
        subspaces=Subspaces(
            ranks=nothing,
            smallest_angles=nothing,
            mean_angles=nothing,
            overlaps=nothing,
            chance_overlaps=nothing,
        ),
    )


def readout(*, rates=None, shuffled=(0.01, 0.02, 0.06), chance=0.01):
    return Readout(
        rates=estimate(0.9, 0.8, 0.7) if rates is None else rates,
        shuffled=estimate(*shuffled),
        wilson=np.zeros((2, 3, RELATIONS)),
        chance=chance,
        held_out_subjects=2,
    )


def ablation(*, intact=(1.0, 0.95, 0.9), ablated=(0.2, 0.9), random=(0.8, 0.8)):
    return Ablation(
        intact=estimate(*intact),
        ablated=estimate(*matrix(*ablated)),
        random=estimate(*matrix(*random)),
        units=np.ones((3, RELATIONS), dtype=np.int64),
    )


def planted(**parts):
    """Numbers that meet every criterion, but for the parts that are given."""
    selectivity = Selectivity.of(np.ones((3, RELATIONS, 4)))
    return Dissection(
        members=3,
        training_subjects=8,
        held_out_subjects=2,
        seed=0,
        **{
            "superposition": superposition(),
            "readout": readout(),
            "swap": swap(),
            "selectivity": selectivity,
            "ablation": ablation(),
        }
        | parts,
    )


def result(found, recipe="coded"):
    sizes = {"dim": 48, "attribute_dim": 8 if recipe == "coded" else None, "seeds": 3, "steps": 800}
    training = RECIPES[recipe](RELATIONS, preset="quick", seeds=3).model_copy(update=sizes)
    cell = DissectionCell(n_subjects=256, n_relations=RELATIONS, recipe=recipe, training=training)
    return measured(cell, DissectionResult(recall=(1.0, 0.998, 1.0), dissection=found))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_numbers_that_meet_the_criterion_hold_and_every_size_is_said(claim):
    judged = claim.judge([result(planted())])
    assert judged.verdict == "holds"
    for part in ("coded", "N = 256", "R = 3", "d = 48", "a = 8", "3 seeds", "800 steps", "recall 0.998"):
        assert part in judged.measured


SCATTERED = Estimate(np.array([[0.9, 0.8, 0.5], [0.9, 0.8, 0.7], [0.9, 0.8, 0.9]]))
"""The last interval reaches from 0.20 to 1.20."""

FAULTS = {
    "R² too low": (C3, {"superposition": superposition(r2=0.79)}),
    "a control that fits": (C3, {"superposition": superposition(shuffled=0.06)}),
    "one relation near its control": (C4, {"readout": readout(shuffled=(0.01, 0.02, 0.071))}),
    "one relation near chance": (C4, {"readout": readout(chance=0.08)}),
    "an interval that reaches the control": (C4, {"readout": readout(rates=SCATTERED)}),
    "an answer that does not follow": (C5, {"swap": swap(whole={"follow": 0.79, "stay": 0.91})}),
    "others that do not stay": (C5, {"swap": swap(whole={"follow": 0.81, "stay": 0.89})}),
    "a random direction that is followed": (C5, {"swap": swap(random={"follow": 0.06, "stay": 0.5})}),
    "facts that were never known": (
        C5,
        {"swap": swap(unchanged={"follow": 0.0, "stay": 1.0, "old": 0.98})},
    ),
    "a relation that is not forgotten": (C6, {"ablation": ablation(ablated=(0.46, 0.9))}),
    "others that are forgotten too": (C6, {"ablation": ablation(ablated=(0.2, 0.89))}),
    "random units that do the same": (C6, {"ablation": ablation(random=(0.3, 0.9))}),
    "nothing to forget": (C6, {"ablation": ablation(intact=(1.0, 1.0, 0.5))}),
}


@pytest.mark.parametrize(("claim", "fault"), FAULTS.values(), ids=FAULTS)
def test_one_number_beyond_its_limit_fails(claim, fault):
    judged = claim.judge([result(planted()), result(planted(**fault))])
    assert judged.verdict == "fails"
    assert [finding.met for finding in judged.findings] == [True, False]


@pytest.mark.parametrize(("claim", "fault"), FAULTS.values(), ids=FAULTS)
def test_the_plain_recipe_is_stated_and_not_judged(claim, fault):
    judged = claim.judge([result(planted()), result(planted(**fault), recipe="plain")])
    assert judged.verdict == "holds"
    assert "[plain, N = 256, R = 3, d = 48, a = 48" in judged.measured


def test_one_relation_of_several_that_is_not_selected_is_enough_to_fail():
    became = np.stack([np.diag([1.0, 0.79, 1.0])] * 3)
    whole = answer_rates(**WHOLE_CHANGE).model_copy(update={"became": Estimate(became)})
    part = swap()
    doses = [whole if place == WHOLE else dose for place, dose in enumerate(part.doses)]
    found = planted(swap=part.model_copy(update={"doses": tuple(doses)}))
    assert C5.judge([result(found)]).verdict == "fails"


def test_a_world_with_too_few_subjects_is_left_out_and_said_so():
    few = planted(superposition=superposition(regressors=9))
    both = C3.judge([result(planted()), result(few)])
    assert both.verdict == "holds"
    assert "left out: the fit has 9 regressors and only 8 training subjects" in both.measured
    alone = C3.judge([result(few)])
    assert (alone.verdict, alone.key) == ("undecided", "no world can say")


def test_the_relation_stated_is_the_one_nearest_to_its_control():
    measured = C4.judge([result(planted())]).measured
    assert "least read-out 0.700 (0.700 … 0.700), shuffled 0.060 (0.060 … 0.060), chance 0.0100" in measured


def test_own_and_others_part_a_matrix():
    rates = np.arange(18.0).reshape(2, 3, 3)
    assert own(rates)[0].tolist() == [0, 4, 8]
    assert others(rates)[0].tolist() == [[1, 2], [3, 5], [6, 7]]


def test_without_an_interval_the_mean_is_stated_alone():
    assert least([Estimate(np.array([0.5, 0.6])), Estimate(np.array([0.9, 0.6]))]) == "0.550"


def test_all_four_claims_share_the_cells_of_both_recipes():
    quick = [cell.key for cell in C3.cells("quick")]
    assert all([cell.key for cell in claim.cells("quick")] == quick for claim in CLAIMS)
    sizes = [(c.recipe, c.n_subjects, c.n_relations, c.training.seeds) for c in C3.cells("quick")]
    assert sizes == [(name, 256, r, 3) for name in ("coded", "plain") for r in (2, 4)]
    assert [(c.n_subjects, c.n_relations) for c in C3.cells("paper")] == 2 * [(4096, r) for r in (4, 8, 16)]


def test_they_stand_among_the_claims():
    assert select("C3,c4,C5,C6") == CLAIMS


def geometric() -> RecallTransformer:
    return known_models.stacked(*(known_models.rotated(known_models.one_hop(), seed) for seed in (1, 2, 3)))


MODELS = {
    "constructed": geometric,
    "shuffled embeddings": lambda: known_models.with_shuffled_subjects(geometric()),
    "random": known_models.untrained,
    "key-value": lambda: known_models.stacked(*[known_models.key_value()] * 3),
}


@pytest.fixture(scope="module", params=MODELS)
def judged(request):
    """The name of a model and its verdicts, from the real cells with the model in place of the trained one."""
    trainer = SimpleNamespace(history=[SimpleNamespace(recall=[1.0] * 3)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            TrainedCell, "trained", lambda *_: (MODELS[request.param](), known_models.TABLE, trainer)
        )
        patch.setattr(dissected, "WORLDS", {"quick": ((known_models.SUBJECTS, known_models.RELATIONS),)})
        patch.setattr(dissected, "RECIPES", {"coded": coded})
        results = [measured(cell, cell.measure(no_progress)) for cell in cells("quick")]
    return request.param, {claim.id: claim.judge(results).verdict for claim in CLAIMS}


def test_they_hold_for_the_construction_and_for_nothing_that_lacks_its_structure(judged):
    name, verdicts = judged
    assert verdicts == dict.fromkeys(verdicts, "holds" if name == "constructed" else "fails")

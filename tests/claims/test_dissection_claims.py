"""C3 to C6 are judged from what cells leave: planted numbers, and dissections of models whose inside is known."""

from types import SimpleNamespace

import numpy as np
import pytest

import specimens
from georecall.claims import dissection, select
from georecall.claims.dissection import C3, C4, C5, C6, members_of, others, own, stated
from georecall.claims.recipes import coded
from georecall.claims.trained_cells import TrainedCell
from georecall.dissection.swap import NO_OP, SCALES, WHOLE
from georecall.models.recall import RecallTransformer
from georecall.progress import no_progress
from georecall.statistics.estimates import Estimate

CLAIMS = (C3, C4, C5, C6)
RELATIONS = 3


def estimate(*rates):
    """Three members that agree."""
    return Estimate(np.array([rates] * 3, dtype=np.float64).reshape(3, *np.shape(rates))).to_dict()


def matrix(diagonal, elsewhere):
    return np.where(np.eye(RELATIONS, dtype=bool), diagonal, elsewhere)


def outcome(*, follow, stay, old=0.0):
    kept = matrix(old, stay)
    return {
        "follow": estimate(*[follow] * RELATIONS),
        "stay": estimate(*[stay] * RELATIONS),
        "old": estimate(*[old] * RELATIONS),
        "kept": estimate(*kept),
    }


def planted():
    """Numbers that meet every criterion."""
    doses = [outcome(follow=0.0, stay=1.0, old=1.0) for _ in SCALES]
    doses[WHOLE] = outcome(follow=0.81, stay=0.91)
    return {
        "superposition": {"note": None, "held_out_r2": estimate_of(0.85), "shuffled_r2": estimate_of(0.04)},
        "readout": {
            "rates": estimate(0.9, 0.8, 0.7),
            "shuffled": estimate(0.01, 0.02, 0.06),
            "chance": 0.01,
        },
        "swap": {"doses": doses, "random_direction": outcome(follow=0.04, stay=0.5)},
        "selectivity": {"mean_index": estimate_of(0.9)},
        "ablation": {
            "intact": estimate(1.0, 0.95, 0.9),
            "ablated": estimate(*matrix(0.2, 0.9)),
            "random": estimate(*matrix(0.8, 0.8)),
        },
    }


def estimate_of(value):
    return Estimate(np.full(3, value)).to_dict()


def result(found, recipe="coded"):
    training = {"dim": 48, "attribute_dim": 8 if recipe == "coded" else None, "seeds": 3, "steps": 800}
    return {
        "recipe": recipe,
        "n_subjects": 256,
        "n_relations": RELATIONS,
        "training": training,
        "recall": [1.0, 0.998, 1.0],
        "dissection": found,
    }


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_numbers_that_meet_the_criterion_hold_and_every_size_is_said(claim):
    judged = claim.judge([result(planted())])
    assert judged.verdict == "holds"
    for part in ("coded", "N = 256", "R = 3", "d = 48", "a = 8", "3 seeds", "800 steps", "recall 0.998"):
        assert part in judged.measured


def changed(name, change):
    found = planted()
    change(found[name])
    return found


FAULTS = {
    "R² too low": (C3, "superposition", lambda part: part.update(held_out_r2=estimate_of(0.79))),
    "a control that fits": (C3, "superposition", lambda part: part.update(shuffled_r2=estimate_of(0.06))),
    "one relation near its control": (
        C4,
        "readout",
        lambda part: part.update(shuffled=estimate(0.01, 0.02, 0.071)),
    ),
    "one relation near chance": (C4, "readout", lambda part: part.update(chance=0.08)),
    "an interval that reaches the control": (
        C4,
        "readout",
        lambda part: part["rates"]["interval"][0].__setitem__(2, 0.5),
    ),
    "an answer that does not follow": (
        C5,
        "swap",
        lambda part: part["doses"][WHOLE].update(follow=estimate(1.0, 0.79, 1.0)),
    ),
    "others that do not stay": (
        C5,
        "swap",
        lambda part: part["doses"][WHOLE].update(stay=estimate(0.89, 1.0, 1.0)),
    ),
    "a random direction that is followed": (
        C5,
        "swap",
        lambda part: part["random_direction"].update(follow=estimate(0.0, 0.0, 0.06)),
    ),
    "facts that were never known": (
        C5,
        "swap",
        lambda part: part["doses"][NO_OP].update(old=estimate(1.0, 0.98, 1.0)),
    ),
    "a relation that is not forgotten": (
        C6,
        "ablation",
        lambda part: part.update(ablated=estimate(*matrix(0.46, 0.9))),
    ),
    "others that are forgotten too": (
        C6,
        "ablation",
        lambda part: part.update(ablated=estimate(*matrix(0.2, 0.89))),
    ),
    "random units that do the same": (
        C6,
        "ablation",
        lambda part: part.update(random=estimate(*matrix(0.3, 0.9))),
    ),
    "nothing to forget": (C6, "ablation", lambda part: part.update(intact=estimate(1.0, 1.0, 0.5))),
}


@pytest.mark.parametrize(("claim", "analysis", "fault"), FAULTS.values(), ids=FAULTS)
def test_one_number_beyond_its_limit_fails(claim, analysis, fault):
    assert claim.judge([result(planted()), result(changed(analysis, fault))]).verdict == "fails"


@pytest.mark.parametrize(("claim", "analysis", "fault"), FAULTS.values(), ids=FAULTS)
def test_the_plain_recipe_is_stated_and_not_judged(claim, analysis, fault):
    judged = claim.judge([result(planted()), result(changed(analysis, fault), recipe="plain")])
    assert judged.verdict == "holds"
    assert "[plain, N = 256, R = 3, d = 48, a = 48" in judged.measured


def test_a_world_with_too_few_subjects_is_left_out_and_said_so():
    few = changed("superposition", lambda part: part.update(note="too few", held_out_r2=None))
    both = C3.judge([result(planted()), result(few)])
    assert both.verdict == "holds"
    assert "left out: too few" in both.measured
    assert C3.judge([result(few)]).verdict == "undecided"


def test_the_relation_stated_is_the_one_nearest_to_its_control():
    measured = C4.judge([result(planted())]).measured
    assert "least read-out 0.700 (0.700 … 0.700), shuffled 0.060 (0.060 … 0.060), chance 0.0100" in measured


def test_own_and_others_part_a_matrix():
    rates = np.arange(18.0).reshape(2, 3, 3)
    assert own(rates)[0].tolist() == [0, 4, 8]
    assert others(rates)[0].tolist() == [[1, 2], [3, 5], [6, 7]]


def test_without_an_interval_the_mean_is_stated_alone():
    assert stated(np.array([0.5, 0.6])) == "0.550"
    assert members_of({"members": [0.5, None]})[0] == 0.5


def test_all_four_claims_share_the_cells_of_both_recipes():
    quick = [cell.key for cell in C3.cells("quick")]
    assert all([cell.key for cell in claim.cells("quick")] == quick for claim in CLAIMS)
    sizes = [(c.recipe, c.n_subjects, c.n_relations, c.training.seeds) for c in C3.cells("quick")]
    assert sizes == [(name, 256, r, 3) for name in ("coded", "plain") for r in (2, 4)]
    assert [(c.n_subjects, c.n_relations) for c in C3.cells("paper")] == 2 * [(4096, r) for r in (4, 8, 16)]


def test_they_stand_among_the_claims():
    assert select("C3,c4,C5,C6") == CLAIMS


def geometric() -> RecallTransformer:
    return specimens.stacked(*(specimens.rotated(specimens.one_hop(), seed) for seed in (1, 2, 3)))


MODELS = {
    "constructed": geometric,
    "shuffled embeddings": lambda: specimens.with_shuffled_subjects(geometric()),
    "random": specimens.untrained,
    "key-value": lambda: specimens.stacked(*[specimens.key_value()] * 3),
}


@pytest.fixture(scope="module", params=MODELS)
def judged(request):
    """The name of a model and its verdicts, from the real cells with the model in place of the trained one."""
    trainer = SimpleNamespace(history=[SimpleNamespace(recall=[1.0] * 3)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TrainedCell, "trained", lambda *_: (MODELS[request.param](), specimens.TABLE, trainer))
        patch.setattr(dissection, "WORLDS", {"quick": ((specimens.SUBJECTS, specimens.RELATIONS),)})
        patch.setattr(dissection, "RECIPES", {"coded": coded})
        results = [cell.config | cell.measure(no_progress) for cell in C3.cells("quick")]
    return request.param, {claim.id: claim.judge(results).verdict for claim in CLAIMS}


def test_they_hold_for_the_construction_and_for_nothing_that_lacks_its_structure(judged):
    name, verdicts = judged
    assert verdicts == dict.fromkeys(verdicts, "holds" if name == "constructed" else "fails")

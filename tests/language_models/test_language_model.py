"""What a model is told apart by, its untrained control, its parts, and the vectors of names."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, CohereConfig

import families
from cases import WORLDS
from georecall.errors import ProbingError
from georecall.facts.table import FactTable
from georecall.language_models.hidden_states import subject_states
from georecall.language_models.language_model import LanguageModel
from georecall.language_models.prompts import Template
from georecall.memory import FactMemory


def test_a_digest_says_that_weights_configuration_or_tokenizer_differ(folder):
    def changed_weight() -> LanguageModel:
        lm = families.tiny("llama")
        lm.model.model.norm.weight[3] += 1e-3
        return lm

    digests = [
        families.tiny("llama").digest,
        changed_weight().digest,
        families.tiny("llama", rms_norm_eps=1e-3).digest,
        families.tiny("llama", tokenizer=families.bpe_tokenizer(bos=True)).digest,
        families.tiny("llama").untrained_control(0).digest,
    ]
    assert len(set(digests)) == len(digests)
    assert digests[0] == LanguageModel.load(folder).digest


def test_a_digest_does_not_change_when_texts_are_tokenised():
    used, fresh = families.tiny("llama"), families.tiny("llama")
    used.tokenizer.backend_tokenizer.enable_padding(length=9)
    used.tokenizer.backend_tokenizer.enable_truncation(9)
    assert used.digest == fresh.digest


def test_an_untrained_control_has_the_same_shapes_and_other_weights(lm):
    control = lm.untrained_control(3)
    assert {name: tensor.shape for name, tensor in control.model.state_dict().items()} == {
        name: tensor.shape for name, tensor in lm.model.state_dict().items()
    }
    assert control.tokenizer is lm.tokenizer
    assert control.digest == lm.untrained_control(3).digest != lm.untrained_control(4).digest
    assert not np.allclose(*(subject_states(one, ["Chad"], Template("{subject}")) for one in (lm, control)))
    assert not control.model.training


def test_an_untrained_control_leaves_the_global_draws_alone(llama):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    llama.untrained_control(0)
    torch.testing.assert_close(torch.rand(3), expected, rtol=0, atol=0)


def test_an_untrained_control_keeps_the_number_format():
    lm = families.tiny("gpt2")
    lm.model.to(torch.bfloat16)
    assert lm.untrained_control(0).dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("family", "finish"),
    [
        ("llama", ["LlamaRMSNorm"]),
        ("gpt2", ["LayerNorm"]),
        ("opt, projected", ["LayerNorm", "Linear"]),
        ("opt, no final norm", []),
    ],
)
def test_what_comes_after_the_last_block_is_found(family, finish):
    assert [type(part).__name__ for part in families.tiny(family).parts.finish] == finish


def test_a_family_whose_logits_are_not_those_of_its_head_is_refused():
    config = CohereConfig(
        vocab_size=330, intermediate_size=24, num_key_value_heads=2, logit_scale=0.5, **families.SIZES
    )
    model = families.redrawn(AutoModelForCausalLM.from_config(config).eval().requires_grad_(False))
    lm = LanguageModel(model=model, tokenizer=families.bpe_tokenizer(), name="scaled")
    with pytest.raises(ProbingError, match="CohereForCausalLM is not a family that georecall knows: logits"):
        lm.parts  # noqa: B018 - finds them


def test_unembedding_vectors_are_the_means_of_the_rows_of_a_names_tokens(llama):
    names = ["Rome", "Chad", "São Tomé", "a 1"]
    head = llama.model.lm_head.weight.double().numpy()
    found = llama.unembedding_vectors(names)
    for vector, name in zip(found, names, strict=True):
        ids = llama.tokenizer(" " + name)["input_ids"]
        solid = [token for token in ids if llama.tokenizer.decode(token).strip()]
        np.testing.assert_allclose(vector, head[solid].mean(axis=0))
    spaces = [
        name for name in names if " " in map(llama.tokenizer.decode, llama.tokenizer(" " + name)["input_ids"])
    ]
    assert spaces, "no name shows that white space is left out"


def test_unembedding_vectors_do_not_hold_the_beginning_of_a_text():
    plain, begun = (
        families.tiny("llama", tokenizer=families.bpe_tokenizer(bos=bos)) for bos in (False, True)
    )
    np.testing.assert_array_equal(begun.unembedding_vectors(["Rome"]), plain.unembedding_vectors(["Rome"]))


def test_unembedding_vectors_of_a_projected_head_are_directions_of_the_residual_stream():
    """Without a final norm the logits of a token are those of its vector."""
    lm = families.tiny("opt, projected", _remove_final_layer_norm=True)
    (token,) = lm.tokenizer(" Italy")["input_ids"]
    state = torch.randn(lm.dim, generator=torch.Generator().manual_seed(0))
    vector = torch.from_numpy(lm.unembedding_vectors([" Italy"], answer_prefix="")[0]).float()
    torch.testing.assert_close(vector @ state, lm.decode(state)[token])


def test_a_name_of_white_space_has_no_vector(llama):
    with pytest.raises(ProbingError, match="not white space"):
        llama.unembedding_vectors([" "])


@pytest.mark.parametrize("arch", ["opt", "llama"])
def test_the_vectors_of_a_compiled_memory_are_its_names_own(arch, tmp_path):
    table = WORLDS["awkward names"].table
    memory = FactMemory.compile(table, hops=1, arch=arch)
    memory.save(tmp_path / "memory")
    lm = LanguageModel.load(tmp_path / "memory")
    found = lm.unembedding_vectors(table.attributes, answer_prefix="␟")
    ids = [lm.tokenizer.convert_tokens_to_ids("␟" + name) for name in table.attributes]
    np.testing.assert_array_equal(found, lm.model.lm_head.weight[ids].double().numpy())


def test_a_text_that_a_tokenizer_refuses_is_an_error_of_ours(tmp_path):
    memory = FactMemory.compile(FactTable.from_facts([("Ann", "likes", "Bo")]), hops=1)
    memory.save(tmp_path / "memory")
    with pytest.raises(ProbingError, match="the tokenizer of memory cannot encode a text"):
        LanguageModel.load(tmp_path / "memory").tokenise(["␟Zoe"])


def test_a_text_without_tokens_is_refused(llama):
    with pytest.raises(ProbingError, match="got 0 in ''"):
        llama.tokenise([""])

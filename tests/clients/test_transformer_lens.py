"""TransformerLens runs a folder as it is, and its hooks see and steer the mechanism that the folder states."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from georecall.models.tokenizer import prompt_ids

BEFORE_ATTENTION = "blocks.0.hook_resid_pre"


@pytest.fixture(scope="module")
def bridge(saved, client):
    """The model in the folder under TransformerLens, which takes every OPT to have a last normalisation."""
    sources = client("transformer_lens.model_bridge.sources")
    model = AutoModelForCausalLM.from_pretrained(saved.folder)

    def match(adapter):
        if getattr(model.config, "_remove_final_layer_norm", False):
            del adapter.component_mapping["ln_final"]

    return sources.build_bridge_from_module(
        model, model.config.architectures[0], hf_config=model.config, post_adapter_hook=match
    )


@pytest.fixture(scope="module")
def truth(saved):
    """The mechanism stated in the folder."""
    return {
        name: array.float() for name, array in load_file(saved.folder / "ground_truth.safetensors").items()
    }


def facts(saved, relation):
    """One question a subject, and the index of its answer among the codewords."""
    table, vocabulary = saved.memory.table, saved.memory.chain.vocabulary
    subjects = np.arange(len(table.subjects))
    prompts = prompt_ids(
        vocabulary, subjects, np.full((len(subjects), 1), relation), hops=saved.memory.chain.hops
    )
    return torch.from_numpy(prompts), saved.memory.ground_truth().answers[subjects, relation]


@torch.inference_mode()
def test_transformer_lens_answers_every_question_as_the_table_does(saved, bridge):
    saved.check(lambda tokens: bridge(torch.from_numpy(tokens))[:, -1].numpy(), tolerance=1e-5)


@torch.inference_mode()
def test_the_residual_stream_before_attention_is_the_stated_superposition(saved, bridge, truth):
    prompts, _ = facts(saved, 0)
    answers = truth["answers"][: len(prompts)].long()
    stated = truth["constant"] + torch.einsum("rdp, srp -> sd", truth["blocks"], truth["codewords"][answers])
    _, cache = bridge.run_with_cache(prompts)
    torch.testing.assert_close(cache["hook_embed"][:, -1], stated)
    positions = cache["hook_pos_embed"][:, -1] if "hook_pos_embed" in cache else 0
    torch.testing.assert_close(cache[BEFORE_ATTENTION][:, -1] - positions, stated)


@pytest.mark.parametrize("relation", range(3))
@torch.inference_mode()
def test_the_layer_writes_the_codeword_of_the_answer(saved, bridge, truth, relation):
    prompts, answers = facts(saved, relation)
    _, cache = bridge.run_with_cache(prompts)
    stated = truth["codewords"][answers] @ truth["output"].T
    torch.testing.assert_close(cache["blocks.0.hook_mlp_out"][:, -1], stated, rtol=0, atol=1e-4)


@pytest.mark.parametrize("asked", range(3))
@pytest.mark.parametrize("steered", range(3))
@torch.inference_mode()
def test_a_hook_that_rewrites_one_block_rewrites_that_fact_and_no_other(saved, bridge, truth, asked, steered):
    prompts, answers = facts(saved, asked)
    _, before = facts(saved, steered)
    after = (before + 1) % len(truth["codewords"])
    change = (truth["codewords"][after] - truth["codewords"][before]) @ truth["blocks"][steered].T

    def rewrite(stream, hook):  # noqa: ARG001
        stream[:, -1] += change
        return stream

    scores = bridge.run_with_hooks(prompts, fwd_hooks=[(BEFORE_ATTENTION, rewrite)])[:, -1]
    vocabulary = saved.memory.chain.vocabulary
    expected = after if asked == steered else answers
    np.testing.assert_array_equal(scores.argmax(dim=1).numpy(), vocabulary.entity_ids(expected - 1))

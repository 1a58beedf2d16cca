"""The explorer in a browser: it computes what the model computes, and shows names as they are."""

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import torch

from cases import WORLDS
from georecall.escaping import escaped
from georecall.explorer import ExplorerServer, View, export_page, memory_view, run_view
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections
from georecall.memory import FactMemory
from georecall.models.recall import RecallTransformer
from georecall.models.tokenizer import prompt_ids
from georecall.training.config import TrainConfig
from georecall.training.runs import continue_run, load_run, start_run

FAMILY = WORLDS["family"].table
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "Line\nbreak",
    "\"'`${alert(3)}",
    "\u202eturned",
    "שלום",
    "__proto__",
)

Opened = Callable[..., Any]

EVERYTHING = """async () => {
  const found = [];
  for (const id of Array(data.weights.subjects.names.length).keys()) {
    const subject = await world.provider.subject(data.controls.length + id);
    for (const relation of world.relations.keys()) {
      const { hidden, state } = world.model.forward(subject.row, 0, relation);
      const scores = (await world.provider.top(state, data.outputs)).sort((one, other) => one.id - other.id);
      found.push([[...hidden], scores.map(({ score }) => score)]);
    }
  }
  return found;
}"""


@pytest.fixture
def exported(page_at, tmp_path) -> Opened:
    """Opens the page of a view that stands alone."""

    def opened(view: View, width: int = 1400, **options: Any) -> Any:
        export_page(view, tmp_path / "page.html", replace=True)
        return ready(page_at(width, **options), (tmp_path / "page.html").as_uri())

    return opened


def ready(page: Any, url: str) -> Any:
    page.goto(url)
    page.wait_for_selector("body[data-ready]")
    return page


def choose(page: Any, field: str, text: str) -> None:
    """Type into a field and take the first name that is found, by the keyboard alone and without waiting."""
    page.focus(field)
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def path_is(page: Any, text: str) -> None:
    """Wait for the line of the answer; the policy of the page forbids to wait in a script of its own."""
    for _ in range(200):
        if page.inner_text("#path") == text:
            return
        page.wait_for_timeout(10)
    assert page.inner_text("#path") == text


@pytest.fixture(scope="module")
def family() -> View:
    return memory_view(FactMemory.compile(FAMILY, hops=3), title="family", folder="family")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("runs") / "run"
    table = random_bijections(32, 2, rng=np.random.default_rng(0))
    start_run(folder, table, TrainConfig(dim=8, width=16, attribute_dim=4, seeds=2, steps=40))
    continue_run(folder)
    return load_run(folder)


@pytest.fixture
def served(page_at, family) -> Iterator[Any]:
    """The family, served; requests of its server are no problem."""
    with ExplorerServer(family) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        page = page_at(1400)
        yield ready(page, server.url)
        server.shutdown()
        thread.join()
        assert [
            problem for problem in page.problems if not problem.startswith(f"request: {server.url}")
        ] == []


# The forward pass


def constructed(memory: FactMemory) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Hidden units and scores of the construction as a `RecallTransformer`, for every entity and relation."""
    chain = memory.chain
    model = RecallTransformer.from_weights(chain.weights())
    found = model.trace(torch.from_numpy(one_hop_prompts(memory)))
    yield from zip(
        found.hidden[0].numpy(), (found.state[0] @ model.unembedding[0].detach().T).numpy(), strict=True
    )


def stock(memory: FactMemory) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The same of the stock Llama."""
    model, heard = memory.model(), []
    writing = model.model.layers[0].mlp.down_proj
    writing.register_forward_pre_hook(lambda _, inputs: heard.append(inputs[0]))
    logits = model(torch.from_numpy(one_hop_prompts(memory))).logits
    yield from zip(heard[0][:, -1].numpy(), logits[:, -1].numpy(), strict=True)


def one_hop_prompts(memory: FactMemory) -> np.ndarray:
    chain = memory.chain
    entities, relations = np.divmod(np.arange(chain.n_entities * chain.n_relations), chain.n_relations)
    return prompt_ids(chain.vocabulary, entities, relations[:, None], hops=chain.hops)


@pytest.mark.parametrize(
    ("world", "options", "reference"),
    [
        ("family", {}, constructed),
        ("family", {"arch": "llama"}, stock),
        ("family", {"levels": 3}, constructed),
        ("missing facts", {"levels": 4, "arch": "llama"}, stock),
    ],
    ids=["opt", "llama", "3 levels", "missing facts"],
)
def test_the_page_computes_every_unit_and_score_of_the_model(exported, world, options, reference):
    memory = FactMemory.compile(WORLDS[world].table, hops=WORLDS[world].hops, **options)
    found = exported(memory_view(memory, title=world)).evaluate(EVERYTHING)
    wanted = list(reference(memory))
    assert len(found) == len(wanted) == memory.chain.n_entities * memory.chain.n_relations
    for (hidden, scores), (true_hidden, true_scores) in zip(found, wanted, strict=True):
        assert hidden == pytest.approx(true_hidden, abs=1e-3)
        assert scores == pytest.approx(true_scores, abs=2e-3)


def test_the_page_computes_every_unit_and_score_of_a_run(exported, run):
    found = exported(run_view(run, title="run", member=1)).evaluate(EVERYTHING)
    n_subjects, n_relations = run.table.answers.shape
    prompts = [(n_subjects + r, s) for s in range(n_subjects) for r in range(n_relations)]
    true = run.model.trace(torch.tensor(prompts))
    scores = (true.state[1] @ run.model.unembedding[1].T).numpy()
    assert np.array([hidden for hidden, _ in found]) == pytest.approx(true.hidden[1].numpy(), abs=1e-4)
    assert np.array([score for _, score in found]) == pytest.approx(scores, abs=1e-4)


# What one can do


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1400, 390])
def test_a_page_that_stands_alone_fits_asks_nobody_and_reports_no_error(exported, family, run, width, dark):
    for view in (family, run_view(run, title="run")):
        page = exported(view, width, dark=dark)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.problems == []


def test_a_question_is_asked_by_the_keyboard_and_followed_to_its_end(served):
    choose(served, "#subject input", "dav")
    path_is(served, "David –wife→ Grace")
    served.get_by_role("button", name="Add a relation").press("Enter")
    path_is(served, "David –wife→ Grace –wife→ unknown")
    assert served.evaluate("document.activeElement.closest('[data-hop]').dataset.hop") == "1"
    choose(served, "#relations [data-hop='1'] input", "husb")
    path_is(served, "David –wife→ Grace –husband→ David")
    served.evaluate("document.activeElement.blur()")
    for step in ("David –wife→ Grace", "Grace –husband→ David", "David –end→ end"):
        assert served.inner_text("#now span >> nth=0") == step
        served.keyboard.press("ArrowRight")
    assert served.is_disabled("#next")
    served.keyboard.press("ArrowLeft")
    assert served.inner_text("#now b") == "Step 2 of 3"
    assert served.locator(".column.reading .token").all_inner_texts() == ["1\nhusband", "5\nGrace"]


def test_the_margin_and_the_best_outputs_are_those_of_the_memory(exported, family):
    page = exported(family)
    answer = FactMemory.compile(FAMILY, hops=3).ask("Alice", "wife")
    assert page.inner_text(".margin") == f"The first leads the second by {answer.margins[0]:.2f}."
    assert page.locator(".scores li").count() == 10
    assert page.inner_text(".scores li.first .name") == answer.answer


def test_a_name_that_is_slow_to_be_found_is_still_taken(served):
    served.route("**/search*", lambda route: (served.wait_for_timeout(300), route.continue_()))
    choose(served, "#edit .combobox:nth-child(3) input", "Grace")
    served.get_by_role("button", name="Change").press("Enter")
    path_is(served, "Alice –wife→ Grace")


def test_a_list_opens_moves_closes_and_keeps_the_choice_by_the_keyboard(served):
    field = served.locator("#subject input")
    field.press("ArrowDown")
    served.wait_for_selector("#subject li")
    assert field.get_attribute("aria-expanded") == "true"
    field.press("ArrowDown")
    field.press("ArrowDown")
    active = served.locator(f"#{field.get_attribute('aria-activedescendant')}")
    assert active.inner_text() == FAMILY.subjects[1]
    field.press("Escape")
    assert field.get_attribute("aria-expanded") == "false"
    assert field.input_value() == "Alice"


def test_an_edit_changes_one_row_and_one_answer_and_can_be_put_back(served):
    before = served.evaluate("world.provider.search('subjects', 'Alice')")[0]["id"]
    choose(served, "#edit .combobox:nth-child(3) input", "Grace")
    served.get_by_role("button", name="Change").press("Enter")
    path_is(served, "Alice –wife→ Grace")
    assert served.inner_text(".said").startswith(
        f"1 of {2 + 5 + 14} rows of model.decoder.embed_tokens.weight differs"
    )
    assert served.inner_text(".where").startswith(f"Row {before}, Alice: ")
    assert served.locator(".answers tbody tr").count() == len(FAMILY.relations)
    assert [text.split() for text in served.locator(".answers .differs").all_inner_texts()] == [
        ["wife", "Sarah", "Grace"]
    ]
    served.get_by_role("button", name="Put everything back").click()
    path_is(served, "Alice –wife→ Sarah")
    assert served.inner_text(".said") == "No row differs."


def test_the_row_after_an_edit_is_the_row_that_edit_would_write(exported, family):
    page = exported(family)
    choose(page, "#edit .combobox:nth-child(3) input", "Grace")
    page.get_by_role("button", name="Change").click()
    path_is(page, "Alice –wife→ Grace")
    row = page.evaluate("world.provider.changed().then(([{ after }]) => [...after.row])")
    edited = FactMemory.compile(FAMILY, hops=3).edit("Alice", "wife", "Grace")
    token = edited.chain.vocabulary.entities.start
    assert row == edited.tensors[edited.architecture.embedding][token].tolist()
    assert page.inner_text(".command") == "georecall edit family Alice wife Grace"
    page.get_by_role("button", name="Forget").click()
    path_is(page, "Alice –wife→ unknown")
    assert page.inner_text(".command") == "georecall forget family Alice wife"
    assert page.problems == []


def test_a_part_of_a_run_is_swapped(exported, run):
    page = exported(run_view(run, title="run"))
    choose(page, "#edit .combobox:nth-child(3) input", "x7")
    page.get_by_role("button", name="Change").click()
    page.wait_for_selector(".where")
    assert page.inner_text(".said").startswith("1 of 32 rows of embedding.0 differs")
    assert page.locator(".command").count() == 0
    assert page.problems == []


# Names


@pytest.mark.parametrize("width", [1400, 390])
def test_names_that_look_like_markup_are_shown_as_they_are_and_run_nothing(exported, width):
    answers = np.array([[(row + 1) % len(HOSTILE), row] for row in range(len(HOSTILE))])
    table = FactTable(HOSTILE, HOSTILE[1:3], HOSTILE, answers)
    page = exported(memory_view(FactMemory.compile(table), title=HOSTILE[0], folder="a b"), width)
    assert page.inner_text("h1") == f"Inside {HOSTILE[0]}"
    shown = [escaped(name) for name in HOSTILE]
    page.click("#subject input")
    page.wait_for_selector("#subject li")
    assert page.locator("#subject li").all_inner_texts() == shown
    for typed, name, after in zip(HOSTILE, shown, [*shown[1:], shown[0]], strict=True):
        choose(page, "#subject input", typed.split("\n")[0])
        path_is(page, f"{name} –{shown[1]}→ {after}")
        assert page.evaluate("[...document.querySelectorAll('#path bdi')].length") == 3
    assert page.locator("main img, main script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.problems == []


def test_names_are_escaped_on_the_page_as_they_are_elsewhere(exported, family):
    page = exported(family)
    for word in ("\x00\x1b\x7f\x9b", "a\u202eb", "\u2028", "\ufffe", "\U0010ffff", "é 日本 😀 \\"):
        assert page.evaluate("shown", word) == escaped(word)


def test_a_command_quotes_names_for_the_shell(exported, family):
    page = exported(family)
    for word in ("plain", "two words", "it's", "$(x) `y` \\", "-o", "דוד"):
        assert shlex.split(page.evaluate("quoted", word)) == [word]
    assert page.evaluate("quoted", "it's\na \\") == "$'it\\'s\\na \\\\'"


def test_the_names_found_are_those_that_the_server_finds(exported, served, family):
    alone = exported(family)
    for text in ("", "a", "AL", "ar", " Alice ", "o", "zz"):
        search = f"world.provider.search('subjects', {text!r})"
        assert alone.evaluate(search) == served.evaluate(search) == family.search("subjects", text)


def test_a_server_that_is_gone_is_said(page_at, family):
    page = page_at(1400)
    with ExplorerServer(family) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        ready(page, server.url)
        server.shutdown()
        thread.join()
    page.fill("#subject input", "Dav")
    page.wait_for_selector("#trouble:not([hidden])")
    assert page.inner_text("#trouble").startswith("This did not work: ")


def test_the_page_keeps_still_for_those_who_ask_for_it(browser, family, tmp_path: Path):
    export_page(family, tmp_path / "page.html")
    context = browser.new_context(reduced_motion="reduce")
    page = ready(context.new_page(), (tmp_path / "page.html").as_uri())
    assert page.evaluate("getComputedStyle(document.querySelector('.bar')).transitionDuration") == "0s"
    context.close()

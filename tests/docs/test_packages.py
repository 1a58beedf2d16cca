"""The pages of the reference, and the picture of the layers, follow the sources."""

import re

from layers import layers_svg
from packages import imports, layer, packages, page

from documents import ROOT

ORDER = re.search(
    r"^    (facts, .*?)\n\n", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)


def test_no_package_imports_one_of_its_own_layer_or_above():
    assert all(layer(name) < layer(package) for package in packages() for name in imports(package))


def test_packages_import_leftwards_in_the_order_that_contributing_states():
    assert ORDER
    order = [step.split(", ") for step in " ".join(ORDER[1].split()).split(" → ")]
    place = {name: number for number, names in enumerate(order) for name in names}
    assert set(place) == set(packages())
    for package, number in place.items():
        assert all(place[name] < number for name in imports(package)), package


def test_every_module_with_public_names_is_in_the_reference():
    for package in packages():
        text = page(package)
        for path in (ROOT / "src" / "georecall" / package).glob("*.py"):
            public = re.search(r"^(?:class|def) [A-Za-z]", path.read_text(encoding="utf-8"), re.MULTILINE)
            if path.stem != "__init__" and public:
                assert f"::: georecall.{package}.{path.stem}\n" in text


def test_the_picture_has_a_dot_for_every_import():
    assert layers_svg().count("<circle") == sum(len(imports(package)) for package in packages())

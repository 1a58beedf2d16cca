"""What mkdocs calls while it builds the site: generated pages, mathematics, the picture of the layers."""

from commands import command_line
from layers import layers_svg
from mathml import with_mathml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from packages import WITHOUT_PAGE, packages, page

LAYERS = "<!-- the layers -->"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put a page for every package into the navigation, under Reference."""
    reference = next(part["Reference"] for part in config.nav or [] if "Reference" in part)
    reference += [{name: f"reference/{name}.md"} for name in _documented()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are generated."""
    files.append(File.generated(config, "reference/cli.md", content=command_line()))
    for name in _documented():
        files.append(File.generated(config, f"reference/{name}.md", content=page(name)))
    return files


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Draw what browsers draw themselves."""
    try:
        return with_mathml(html).replace(LAYERS, layers_svg())
    except ValueError as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from error


def _documented() -> list[str]:
    return [name for name in packages() if name not in WITHOUT_PAGE]

"""Shape and type checks are switched on for the whole suite; hypothesis is never timed."""

from hypothesis import settings
from jaxtyping import install_import_hook

install_import_hook("georecall", "beartype.beartype")

settings.register_profile("georecall", deadline=None)
settings.load_profile("georecall")

"""The form that says how a library names its files: what was typed, what it means, and what is wrong with it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from kurabito.placements.naming.numbering import NumberingScheme
from kurabito.placements.naming.presets import PRESETS, TEMPLATES, ExtrasChoice, NamingSettings, Preset
from kurabito.placements.naming.sidecars import SubtitleStyle
from kurabito.web.forms import Form, one_of


@dataclass(frozen=True, slots=True)
class NamingForm(Form):
    """The fields as they are shown: as they are now, or as they were typed."""

    FIELDS = (*TEMPLATES, "numbering", "subtitle_style", "extras")

    @classmethod
    def of(cls, naming: NamingSettings) -> NamingForm:
        """The form as it looks for a naming."""
        return cls({name: str(value) for name, value in asdict(naming).items()})

    def naming(self) -> NamingSettings:
        """What the form asks for; raises InvalidInput naming the field, and where in a template it is wrong."""
        asked = NamingSettings(
            series_folder=self.value("series_folder").strip(),
            season_folder=self.value("season_folder").strip(),
            episode_file=self.value("episode_file").strip(),
            film_folder=self.value("film_folder").strip(),
            film_file=self.value("film_file").strip(),
            numbering=one_of(NumberingScheme, "numbering", self.value("numbering")),
            subtitle_style=one_of(SubtitleStyle, "subtitle_style", self.value("subtitle_style")),
            extras=one_of(ExtrasChoice, "extras", self.value("extras")),
        )
        asked.check()
        return asked

    def preset(self) -> Preset | None:
        """The preset that the form is, if it is one."""
        return next(
            (preset for preset, naming in PRESETS.items() if NamingForm.of(naming).typed == self._plain()), None
        )

    def _plain(self) -> dict[str, str]:
        return {name: self.value(name) for name in self.FIELDS}

"""What can be set, and where each value came from.

A value is looked for in these places, and the first that has it wins:

1. an option of the command: `--port 9000`
2. the environment: `KURABITO_PORT=9000`
3. the database: `kurabito config set trash_days 60`. What is needed before it is open, and what decides who may come in,
   cannot be there.
4. a TOML file: `port = 9000`. The file is the one that `KURABITO_CONFIG` names, else `kurabito.toml` in the state
   folder. A file in the working folder is never read: starting in some folder must not change what is served.
5. the default

`kurabito config` shows the outcome.

    model.py      every setting with its type, its default and its meaning
    values.py     the kinds of values, and what each refuses
    loader.py     options, environment and file, merged; the values of the database laid over them
    effects.py    what takes effect at once, and what the database cannot hold
    fields.py     the group, kind and limits of each, for those who ask for it
    problems.py   what is wrong with a value; verdicts.py what came of trying one
    origins.py    each value as it is shown, and where it came from
    store.py      the one writer of the values in the database; tells listeners what changed
    errors.py     a setting that cannot be changed here

The store needs the database, the rest does not; so it is imported by its own name.
"""

from kurabito.settings.loader import FILE_NAME, PREFIX, load, variable, with_stored
from kurabito.settings.model import Settings
from kurabito.settings.origins import DEFAULT, Origin, explain, in_effect

__all__ = [
    "DEFAULT",
    "FILE_NAME",
    "PREFIX",
    "Origin",
    "Settings",
    "explain",
    "in_effect",
    "load",
    "variable",
    "with_stored",
]

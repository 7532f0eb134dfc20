"""Where settings come from, and how bad ones are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kurabito import settings
from kurabito.errors import ConfigError
from kurabito.settings.effects import OF_DATA_PLANES
from kurabito.settings.fields import FieldKind, fields
from kurabito.settings.loader import settings_of
from kurabito.settings.model import Given, Place


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KURABITO_STATE", str(tmp_path))
    return tmp_path


def origins(loaded: settings.Settings) -> dict[str, str]:
    return {row.name: row.origin for row in settings.explain(loaded)}


def shown(loaded: settings.Settings) -> dict[str, object]:
    return {row.name: row.value for row in settings.explain(loaded)}


def test_defaults_listen_on_loopback_and_keep_a_database_in_the_state_folder(state: Path) -> None:
    loaded = settings.load()
    assert (loaded.host, loaded.port) == ("127.0.0.1", 8484)
    assert loaded.database == f"sqlite:///{state}/kurabito.db"
    assert origins(loaded)["port"] == "default"
    assert origins(loaded)["state"] == "KURABITO_STATE"


def test_the_state_folder_defaults_to_the_users_data_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert settings.load().state == tmp_path / "kurabito"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert settings.load().state == tmp_path / ".local" / "share" / "kurabito"


def test_options_beat_the_environment_which_beats_the_file(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = state / "kurabito.toml"
    file.write_text('port = 1000\nhost = "localhost"\nlog_level = "debug"\n')
    monkeypatch.setenv("KURABITO_PORT", "2000")
    monkeypatch.setenv("KURABITO_HOST", "::1")
    loaded = settings.load(port=3000, host=None)
    assert (loaded.port, loaded.host, loaded.log_level) == (3000, "::1", "debug")
    assert origins(loaded)["port"] == "option --port"
    assert origins(loaded)["host"] == "KURABITO_HOST"
    assert origins(loaded)["log_level"] == str(file)


def test_an_empty_variable_counts_as_absent(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (state / "kurabito.toml").write_text("port = 1000\n")
    monkeypatch.setenv("KURABITO_PORT", "")
    assert settings.load().port == 1000


def test_a_named_file_may_move_the_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "elsewhere.toml"
    file.write_text(f'state = "{tmp_path}/kept"\n')
    monkeypatch.setenv("KURABITO_CONFIG", str(file))
    loaded = settings.load()
    assert loaded.state == tmp_path / "kept"
    assert loaded.database == f"sqlite:///{tmp_path}/kept/kurabito.db"


def test_a_named_file_must_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KURABITO_CONFIG", str(tmp_path / "gone.toml"))
    with pytest.raises(ConfigError, match=r"gone\.toml, named by KURABITO_CONFIG, does not exist"):
        settings.load()


def test_a_file_in_the_working_folder_is_not_read(
    state: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("cwd")
    (folder / "kurabito.toml").write_text("port = 1\n")
    monkeypatch.chdir(folder)
    assert settings.load().port == 8484


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("prot = 1\n", r"kurabito\.toml has an unknown setting: prot; did you mean port\?"),
        ("zzz = 1\n", r"unknown setting: zzz; `kurabito config` lists"),
        ("port = \n", r"kurabito\.toml is not TOML: .*line 1"),
        ('state = "/x"\n', r"cannot move it: set KURABITO_STATE"),
        ("port = 70000\n", r"port \(from .*kurabito\.toml\) cannot be 70000: .*less than or equal to 65535"),
    ],
)
def test_a_bad_file_is_refused_by_name(state: Path, content: str, message: str) -> None:
    (state / "kurabito.toml").write_text(content)
    with pytest.raises(ConfigError, match=message):
        settings.load()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("PORT", "many", r"port \(from KURABITO_PORT\) cannot be 'many': .*integer"),
        ("LOG_FORMAT", "xml", r"log_format \(from KURABITO_LOG_FORMAT\) cannot be 'xml': .*'auto', 'human' or 'json'"),
        ("DATABASE", "mysql://a:pw@b/c", r"database .* cannot be 'mysql://a:\*\*\*@b/c': must be sqlite:///"),
        ("TRUSTED_PROXIES", "10.0.0.0/8,nonsense", r"nonsense is neither an address nor a network"),
        (
            "ALLOW_PRIVATE_HOSTS",
            "nas.local,10.0.0.0/33",
            r"10\.0\.0\.0/33 is neither a host like nas\.local nor an address",
        ),
        ("ALLOW_PRIVATE_HOSTS", "http://nas", r"http://nas is neither a host"),
        ("PROXY", "ftp://x", r"must begin with one of http://"),
        ("TZ", "Mars/Olympus", r"tz \(from KURABITO_TZ\) .*no such time zone"),
        ("TZ", "../etc/passwd", r"no such time zone"),
        ("UMASK", "9", r"umask .*octal digits"),
        ("UMASK", "7777", r"umask .*511"),
        ("HEARTBEAT_SECONDS", "20", r"heartbeat_seconds \(20\) must be at most half of lease_seconds \(30\)"),
        ("LEASE_SECONDS", "nan", r"lease_seconds .*cannot be 'nan'"),
        ("LEASE_SECONDS", "1e300", r"lease_seconds .*less than or equal to 31536000"),
        ("DOWNLOAD_RESERVE", "1e300", r"download_reserve .*less than or equal to 1000000"),
        ("TORRENT_DOWNLOAD_LIMIT", "10000000", r"torrent_download_limit .*less than or equal to 2097151"),
        ("HEARTBEAT_SECONDS", "1e-300", r"heartbeat_seconds .*greater than or equal to 0.1"),
        ("PROXY", "http://[::1", r"proxy .*must be a whole address"),
        ("PROXY", "http://[::1]x", r"proxy .*must be a whole address"),
        ("BGM_URL", "http://[::1]x/", r"bgm_url .*must be a whole address"),
        ("PROXY", "http://nas:99999", r"proxy .*must be a whole address"),
        ("BGM_URL", "http://", r"bgm_url .*must be a whole address"),
        ("BGM_IMAGE_HOST", "a b/x", r"bgm_image_host .*must be a host like nas\.local"),
        ("BASE_PATH", "/x?y", r"base_path .*letters, digits"),
        ("BASE_PATH", "/x;y", r"base_path .*letters, digits"),
        ("BASE_PATH", "/x\r\nSet-Cookie: a=b", r"base_path .*letters, digits"),
        ("BASE_PATH", "/../x", r"base_path .*letters, digits"),
        ("DOWNLOAD_ROOT", "~nobody-of-that-name/x", r"download_root .*home folder"),
        ("TMDB_KEY", "a\nb", r"tmdb_key .*cannot be \*\*\*: must be of ASCII characters"),
    ],
)
def test_a_bad_value_names_its_field_and_origin(
    state: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(f"KURABITO_{name}", value)
    with pytest.raises(ConfigError, match=message):
        settings.load()


def test_lists_are_comma_separated_in_the_environment(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KURABITO_ALLOWED_HOSTS", "nas.local, media.example ,")
    assert settings.load().allowed_hosts == ("nas.local", "media.example")


def test_private_hosts_are_names_addresses_or_networks(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KURABITO_ALLOW_PRIVATE_HOSTS", "nas.local, 192.168.1.5, fd00::/8, 日本.jp")
    assert settings.load().allow_private_hosts == ("nas.local", "192.168.1.5", "fd00::/8", "日本.jp")


def test_lists_are_lists_in_the_file(state: Path) -> None:
    (state / "kurabito.toml").write_text('allowed_hosts = ["nas.local"]\numask = "027"\n')
    loaded = settings.load()
    assert loaded.allowed_hosts == ("nas.local",)
    assert loaded.umask == 0o027
    assert shown(loaded)["umask"] == "027"


@pytest.mark.parametrize(("given", "kept"), [("kurabito", "/kurabito"), ("/a/b/", "/a/b"), ("/", "")])
def test_the_base_path_has_one_leading_slash(
    state: Path, monkeypatch: pytest.MonkeyPatch, given: str, kept: str
) -> None:
    monkeypatch.setenv("KURABITO_BASE_PATH", given)
    assert settings.load().base_path == kept


@pytest.mark.parametrize("name", ["download_root", "password_file", "state"])
def test_a_path_with_a_nul_is_refused_by_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} .*NUL"):
        settings_of({name: Given(f"{tmp_path}\0x", Place.DEFAULT, "here")})
    with pytest.raises(ConfigError, match=r"browse_roots .*not a full path"):
        settings_of({"browse_roots": Given(["/srv\0"], Place.DEFAULT, "here")})


def test_every_number_has_both_limits() -> None:
    """A number that no part of the program can work with is refused where it is typed, and not at the next start."""
    numbers = [field for field in fields() if field.kind is FieldKind.NUMBER]
    assert len(numbers) > 20
    assert not [field.name for field in numbers if field.least is None or field.most is None]


def test_secrets_are_never_shown(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KURABITO_API_KEY", "hunter2")
    monkeypatch.setenv("KURABITO_DATABASE", "postgresql://me:hunter2@db/kurabito")
    monkeypatch.setenv("KURABITO_PROXY", "http://me:hunter2@proxy:3128")
    loaded = settings.load()
    assert "hunter2" not in str(settings.explain(loaded))
    assert shown(loaded)["database"] == "postgresql://me:***@db/kurabito"
    assert loaded.api_key is not None
    assert loaded.api_key.get_secret_value() == "hunter2"


def test_how_often_downloaders_are_asked_has_the_name_that_their_users_know(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings.load(state=state).download_poll_interval == 60
    monkeypatch.setenv("DOWNLOAD_POLL_INTERVAL", "5")
    assert settings.load(state=state).download_poll_interval == 5


def test_what_a_data_plane_uses_and_takes_effect_at_once_has_it_started_again() -> None:
    """It reads its settings when it starts, so a change takes effect only in a new one, and the reference says so."""
    source = Path(settings.__file__).parents[1]
    paths = [*(source / "dataplane").rglob("*.py"), source / "cli" / "processes" / "dataplane.py"]
    used = {name for path in paths for name in re.findall(r"\bsettings\.(\w+)", path.read_text(encoding="utf-8"))}
    at_once = {row.name for row in settings.explain(settings.load()) if not row.needs_restart}
    assert {"thumbnail_images", "dataplane_nice", "lease_seconds"} <= used
    assert used & at_once == OF_DATA_PLANES
    page = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
    reference = " ".join(page.read_text(encoding="utf-8").split())
    assert "data planes on other machines read it when they start" in reference

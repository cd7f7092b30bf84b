"""The composition, without an engine to run it: that it fits the image, the program and what the
documents say.
"""

import json
import re
from typing import Any

import yaml
from places import REPOSITORY

from core.__main__ import _parser

TEXT = (REPOSITORY / "compose.yaml").read_text(encoding="utf-8")
IMAGE = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")
DEPLOYMENT = (REPOSITORY / "docs" / "deployment.md").read_text(encoding="utf-8")


def service() -> dict[str, Any]:
    whole = yaml.safe_load(TEXT)
    assert set(whole) == {"services", "secrets", "volumes"}
    (only,) = whole["services"].values()
    return dict(only)


def instruction(name: str) -> str:
    return next(
        line.split(None, 1)[1] for line in IMAGE.splitlines() if line.startswith(f"{name} ")
    )


def test_the_command_is_one_of_the_program_and_listens_as_the_image_does() -> None:
    words = service()["command"]
    said = _parser().parse_args(words)
    assert said.address == "0.0.0.0"
    assert said.settings[0] == "--server.allowedHosts"
    assert words[:3] == json.loads(instruction("CMD"))


def test_it_is_published_to_this_machine_only() -> None:
    (port,) = service()["ports"]
    assert port == f"127.0.0.1:8501:{instruction('EXPOSE')}"


def test_nobody_comes_in_without_sign_in() -> None:
    """No way around it, and whoever starts it has to name who may come in."""
    assert "APPELLATE_ALLOW_REMOTE" not in TEXT
    environment = service()["environment"]
    assert set(environment) == {"APPELLATE_ALLOWED", "APPELLATE_READERS"}
    assert environment["APPELLATE_ALLOWED"].startswith("${APPELLATE_ALLOWED:?")
    for name in environment:
        assert f"`{name}`" in DEPLOYMENT
    (secret,) = service()["secrets"]
    folder = re.search(r"WORKDIR (\S+)", IMAGE)
    assert folder
    # Streamlit looks below the folder that it is started in.
    assert secret["target"] == f"{folder[1]}/.streamlit/secrets.toml"
    assert yaml.safe_load(TEXT)["secrets"][secret["source"]] == {"file": "./secrets.toml"}


def test_the_store_outlives_the_container() -> None:
    (volume,) = service()["volumes"]
    name, _, place = volume.partition(":")
    assert place == instruction("VOLUME")
    assert name in yaml.safe_load(TEXT)["volumes"]


def test_secrets_are_in_no_image_and_no_commit() -> None:
    ignored = (REPOSITORY / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "secrets.toml" in ignored
    # Nothing is sent to the builder but what is named.
    sent = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in sent
    assert not [line for line in sent if line.startswith("!") and "secrets" in line]

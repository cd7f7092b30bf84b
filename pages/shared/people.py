"""Who may come in, and who may change anything, where sign-in is configured."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

import streamlit as st
from streamlit.auth_util import get_secrets_auth_section

from core.errors import InvalidOption

Role = Literal["editor", "reader"]

ALLOWED = "APPELLATE_ALLOWED"
"""Environment variable: who may load, rename, delete and collect; addresses and domains, `*` for
everyone.
"""
READERS = "APPELLATE_READERS"
"""Environment variable: who may only read; all others are refused."""
NEEDED = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
SHORTEST_SECRET = 32


def sign_in() -> bool:
    """Whether visitors sign in."""
    return bool(get_secrets_auth_section())


def listed(address: str, names: str) -> bool:
    """Whether an e-mail address is among addresses and domains, separated by commas or blanks.

    `example.org` and `@example.org` are the domain and none below it; `*` is everyone.
    """
    address = address.strip().casefold()
    local, _, domain = address.rpartition("@")
    known = {name.removeprefix("@") for name in names.casefold().replace(",", " ").split()}
    return "*" in known or bool(local and domain and {address, domain} & known)


def role(user: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Role | None:
    """What someone who has signed in may do; None is nothing.

    An address that the provider says nobody has verified is no address.
    """
    if not user.get("is_logged_in"):
        return None
    verified = user.get("email_verified", True) in (True, "true", "True")
    address = str(user.get("email") or "") if verified else ""
    if listed(address, environment.get(ALLOWED, "")):
        return "editor"
    return "reader" if listed(address, environment.get(READERS, "")) else None


def visitor() -> Role | None:
    """What the visitor of this session may do; everything where nobody signs in."""
    return role(st.user.to_dict()) if sign_in() else "editor"


def only_editors() -> None:
    """Raise InvalidOption unless the visitor may change what is stored."""
    if visitor() != "editor":
        raise InvalidOption(
            f"You may read here and change nothing: you are not listed in {ALLOWED}"
        )


def check_configuration(secrets: Mapping[str, Any] | None, environment: Mapping[str, str]) -> None:
    """Refuse to start with a sign-in that is half configured, as it would let in nobody, or
    everybody.

    secrets : what stands in secrets.toml; None if there is no such file.
    """
    given = (secrets or {}).get("auth")
    lists = [name for name in (ALLOWED, READERS) if environment.get(name, "").strip()]
    if given is None:
        if lists:
            raise SystemExit(
                f"{lists[0]} is set, but nobody signs in: add [auth] to .streamlit/secrets.toml "
                "(docs/deployment.md), or unset it."
            )
        return
    absent = [name for name in NEEDED if not str(given.get(name) or "").strip()]
    if absent:
        raise SystemExit(
            f"[auth] in .streamlit/secrets.toml lacks {', '.join(absent)} (docs/deployment.md)."
        )
    if len(str(given["cookie_secret"])) < SHORTEST_SECRET:
        raise SystemExit(
            f"cookie_secret in .streamlit/secrets.toml has fewer than {SHORTEST_SECRET} "
            "characters: whoever guesses it is signed in as anyone. Take: python -c 'import "
            "secrets; print(secrets.token_hex())'"
        )
    if not lists:
        raise SystemExit(
            f"Say who may come in: {ALLOWED}='ann@example.org example.org' may change everything, "
            f"{READERS} may read; * is everyone whom the provider knows."
        )

"""Registration at the local identity provider: a name, an address and a password make a person, kept in one file.

Nobody confirms an address here, so the provider registers people only while their mails stay in the outbox.
"""

import json
import threading
import time
from collections import deque
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict, cast

from deploy.local.paths import write_private

if TYPE_CHECKING:
    from flask import Flask

_PEOPLE_MAX = 1_000
_ATTEMPTS_PER_MINUTE = 20
_PASSWORD_CHARACTERS = (8, 200)
_NAME_CHARACTERS_MAX = 100
_EMAIL_CHARACTERS_MAX = 254
# No control characters, and one character at least that is seen. A long text is refused in linear time: every validator
# of a field runs, also after one of its length.
_NAME = r"^[^\S\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*\Z"
# What browsers accept in a field of the type `email` (HTML Living Standard, "valid email address"): ASCII only, so that
# no letter looks like another one's.
_EMAIL = r"^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$"
_TAKEN = "This address cannot be registered: it has an account already. Sign in instead."
_CLOSED = "Registration is not open here."
_TOO_MANY = "Too many people register at the moment. Try again in a minute."
_FULL = "This provider has as many people as it holds."


class RegisteredPerson(TypedDict):
    """A person as the file keeps them; the address is in lower case, and their user name too."""

    email: str
    name: str
    password_hash: str


class Applicant(NamedTuple):
    """What a valid form says."""

    name: str
    email: str
    password: str


class Registry:
    """The registered people, in a file that only this user may read. Addresses that are `reserved` are refused.

    Who registered an address before it was reserved stays in the file, and cannot sign in.
    """

    def __init__(self, path: Path, reserved: Collection[str] = ()) -> None:
        self._path = path
        self._reserved = {address.lower() for address in reserved}
        self._lock = threading.Lock()
        self._attempts: deque[float] = deque(maxlen=_ATTEMPTS_PER_MINUTE)
        self.people: list[RegisteredPerson] = json.loads(path.read_text()) if path.exists() else []

    @property
    def admitted(self) -> list[RegisteredPerson]:
        """Those who can sign in."""
        return [person for person in self.people if person["email"] not in self._reserved]

    def register(self, applicant: Applicant) -> str | None:
        """Keep a new person, or return why not. A taken address takes as long as a free one: the password is hashed."""
        from canaille.core.auth import get_user_from_login

        with self._lock:
            now = time.monotonic()
            if len(self._attempts) == _ATTEMPTS_PER_MINUTE and now - self._attempts[0] < 60:
                return _TOO_MANY
            self._attempts.append(now)
            hashed = hash_password(applicant.password)
            if len(self.people) >= _PEOPLE_MAX:
                return _FULL
            if applicant.email in self._reserved or get_user_from_login(applicant.email):
                return _TAKEN
            person = RegisteredPerson(email=applicant.email, name=applicant.name, password_hash=hashed)
            write_private(self._path, json.dumps([*self.people, person]).encode())
            self.people.append(person)
            _save_registered(person)
        return None


def hash_password(password: str) -> str:
    """Return a password's salted hash (scrypt, RFC 7914)."""
    from werkzeug.security import generate_password_hash

    return generate_password_hash(password)


def compare_hashes() -> None:
    """Let the provider's store in memory, which compares texts, check a password against its hash.

    An unknown person's password is checked as well, against a hash that none has: the time does not tell who exists.
    """
    from canaille.backends import Backend
    from canaille.core.models import User
    from flask import current_app, g, request
    from flask.typing import ResponseReturnValue
    from werkzeug.security import check_password_hash

    by_text, of_nobody = Backend.instance.check_user_password, hash_password("")

    def by_hash(user: User, password: str) -> tuple[bool, str | None]:
        right = check_password_hash(user.password, password)
        answer: tuple[bool, str | None] = by_text(user, user.password if right else "")
        return answer

    Backend.instance.check_user_password = by_hash
    view = current_app.view_functions["core.auth.password.password"]

    def take_as_long(**values: str) -> ResponseReturnValue:
        if g.auth and not g.auth.user and "password" in request.form:
            check_password_hash(of_nobody, request.form["password"])
        return cast("ResponseReturnValue", view(**values))

    current_app.view_functions["core.auth.password.password"] = take_as_long


def serve_registration(app: "Flask", registry: Registry | None, origin: str) -> None:
    """Show the form of registration where the provider's own would be, which asks for what nobody needs here."""
    from canaille.app import models
    from canaille.app.forms import Form
    from canaille.app.session import login_user
    from canaille.app.templating import render_template
    from canaille.backends import Backend
    from flask import abort, redirect, request, session
    from flask.typing import ResponseReturnValue
    from wtforms import PasswordField, StringField
    from wtforms.validators import InputRequired, Length, Regexp

    shortest, longest = _PASSWORD_CHARACTERS

    class RegistrationForm(Form):  # type: ignore[misc]
        name = StringField(
            validators=[
                InputRequired("Enter your name."),
                Length(max=_NAME_CHARACTERS_MAX, message=f"Enter at most {_NAME_CHARACTERS_MAX} characters."),
                Regexp(_NAME, message="Enter your name, on one line."),
            ]
        )
        email = StringField(
            validators=[
                InputRequired("Enter your email address."),
                Length(max=_EMAIL_CHARACTERS_MAX, message="This address is too long."),
                Regexp(_EMAIL, message="Enter an address such as name@example.org."),
            ],
            filters=[lambda text: text.strip() if text else text],
        )
        password = PasswordField(
            validators=[
                InputRequired("Choose a password."),
                Length(shortest, longest, message=f"Choose {shortest} to {longest} characters."),
            ]
        )

    def join() -> ResponseReturnValue:
        if registry is None:
            abort(404, _CLOSED)
        form = RegistrationForm(request.form or None)
        if not (request.form and form.validate()):
            return render_template("core/join.html", form=form, refusal=None), 400 if request.form else 200
        email = form.email.data.lower()
        refusal = registry.register(Applicant(form.name.data.strip(), email, form.password.data))
        if refusal is not None:
            return render_template("core/join.html", form=form, refusal=refusal), 429 if refusal == _TOO_MANY else 409
        login_user(Backend.instance.get(models.User, user_name=email), remember=False)
        return redirect(session.pop("redirect-after-login", f"{origin}/dashboard"))

    def registration(**_: str) -> ResponseReturnValue:
        abort(404, _CLOSED)

    app.view_functions["core.account.join"] = join
    app.view_functions["core.account.registration"] = registration
    app.context_processor(lambda: {"registration_open": registry is not None})
    for person in registry.admitted if registry else ():
        _save_registered(person)


def _save_registered(person: RegisteredPerson) -> None:
    save_person(person["email"], person["name"], person["email"], person["password_hash"])


def save_person(user_name: str, name: str, email: str, password_hash: str) -> None:
    """Let the provider know a person, for as long as it runs."""
    from canaille.app import models
    from canaille.backends import Backend

    user = models.User(user_name=user_name, formatted_name=name, emails=[email], password=password_hash)
    Backend.instance.save(user)

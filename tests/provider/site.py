"""An OpenID provider: Django with django-oauth-toolkit, as `python -m tests.provider.site FOLDER PORT`.

Of our own are its people and clients, and what the toolkit leaves to its user: which claims a token has, and that one
client may use both ways to sign in, with an ID token for devices too, as other providers give it.

FOLDER : database and keys, `key.pem` and, of the key before, `old.pem`
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
from django.conf import settings

FOLDER, PORT = Path(sys.argv[1]), int(sys.argv[2])
URL = f"http://127.0.0.1:{PORT}"
ISSUER = f"{URL}/o"
PASSWORD = "open sesame"
PEOPLE = {
    "ben": ["quants"],
    "zoe": [],
    "ann": [],
    "eve": ["auditors"],
    "root": ["quants"],
    "nightly": ["quants"],
    "uma": ["quants", "unheard-of"],
}
FORM = (
    "<!doctype html><html lang=en><title>Sign in</title><form method=post>{% csrf_token %}{{ form }}"
    "<button>OK</button></form>"
)
CONFIRM = (
    "<!doctype html><html lang=en><title>Let in?</title><form method=post>{% csrf_token %}"
    "<button name=action value=accept>Let in</button><button name=action value=deny>No</button></form>"
)
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
settings.configure(
    SECRET_KEY="of tests",
    DEBUG=False,
    ALLOWED_HOSTS=["127.0.0.1", "localhost"],
    ROOT_URLCONF=__name__,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": FOLDER / "db.sqlite"}},
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "oauth2_provider",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {
                "loaders": [
                    (
                        "django.template.loaders.locmem.Loader",
                        {
                            "registration/login.html": FORM,
                            "oauth2_provider/device/user_code.html": FORM,
                            "oauth2_provider/device/accept_deny.html": CONFIRM,
                            "oauth2_provider/device/device_grant_status.html": "{{ object.status }}",
                        },
                    )
                ]
            },
        }
    ],
    LOGIN_URL="/login/",
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
    LOGGING={
        "version": 1,
        "disable_existing_loggers": False,
        "handlers": {"here": {"class": "logging.StreamHandler"}},
        "root": {"handlers": ["here"], "level": "ERROR"},
    },
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True,
        "OIDC_ISS_ENDPOINT": ISSUER,
        "OIDC_RSA_PRIVATE_KEY": (FOLDER / "key.pem").read_text(),
        "OIDC_RSA_PRIVATE_KEYS_INACTIVE": [path.read_text() for path in FOLDER.glob("old.pem")],
        "OAUTH2_VALIDATOR_CLASS": f"{__name__}.Validator",
        "OAUTH2_SERVER_CLASS": f"{__name__}.Server",
        "OAUTH_DEVICE_VERIFICATION_URI": f"{ISSUER}/device/",
        "OAUTH_DEVICE_VERIFICATION_URI_COMPLETE": lambda code: f"{ISSUER}/device/?user_code={code}",
        "DEVICE_FLOW_INTERVAL": 1,
        "ID_TOKEN_EXPIRE_SECONDS": int(os.environ.get("ID_TOKEN_SECONDS", "600")),
        "ROTATE_REFRESH_TOKEN": True,
        "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
        "SCOPES": {"openid": "", "profile": "", "email": "", "groups": ""},
    },
)
django.setup()

from django.contrib.auth.models import Group, User  # noqa: E402
from django.contrib.auth.views import LoginView  # noqa: E402
from django.core.handlers.wsgi import WSGIHandler  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.http import JsonResponse  # noqa: E402
from django.urls import include, path  # noqa: E402
from oauth2_provider.models import Application  # noqa: E402
from oauth2_provider.oauth2_validators import OAuth2Validator  # noqa: E402
from oauth2_provider.views.oidc import ConnectDiscoveryInfoView  # noqa: E402
from oauthlib.oauth2 import DeviceCodeGrant  # noqa: E402
from oauthlib.openid import Server as OpenIdServer  # noqa: E402


class Validator(OAuth2Validator):
    """What tokens say of somebody."""

    oidc_claim_scope = None

    def get_additional_claims(self, request: Any) -> dict[str, Any]:
        user = request.user
        return {
            "preferred_username": user.username,
            "email": f"{user.username}@example.com",
            "email_verified": user.username != "zoe",
            "groups": [group.name for group in user.groups.all()],
        }

    def validate_grant_type(self, *_: Any, **__: Any) -> bool:
        return True


class DeviceGrant(DeviceCodeGrant):
    """With an ID token, where `openid` was asked for."""

    def __init__(self, open_id: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._open_id = open_id

    def create_token_response(self, request: Any, token_handler: Any) -> tuple[Any, Any, Any]:
        headers, body, status = super().create_token_response(request, token_handler)
        if status == 200:
            body = json.dumps(self._open_id.add_id_token(json.loads(body), token_handler, request))
        return headers, body, status


class Server(OpenIdServer):
    """With the grant above."""

    def __init__(self, request_validator: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(request_validator, *args, **kwargs)
        grant = DeviceGrant(self.openid_connect_auth, request_validator, **kwargs)
        self._grant_types["urn:ietf:params:oauth:grant-type:device_code"] = grant


class Discovery(ConnectDiscoveryInfoView):
    """With the address for devices."""

    def get(self, request: Any, *args: Any, **kwargs: Any) -> JsonResponse:
        said = json.loads(super().get(request, *args, **kwargs).content)
        more = {"device_authorization_endpoint": f"{ISSUER}/device-authorization/"}
        return JsonResponse(said | more | {"revocation_endpoint": f"{ISSUER}/revoke_token/"})


urlpatterns = [
    path("login/", LoginView.as_view()),
    path("o/.well-known/openid-configuration", Discovery.as_view()),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
]


def fill() -> None:
    """People, their groups, and the clients, once."""
    call_command("migrate", verbosity=0)
    if User.objects.exists():
        return
    for name, groups in PEOPLE.items():
        user = User.objects.create_user(name, password=PASSWORD)
        user.groups.set([Group.objects.get_or_create(name=each)[0] for each in groups])
    for client, secret in (("fairhold", ""), ("other", ""), ("closed", "a secret of the client")):
        Application.objects.create(
            client_id=client,
            client_type=Application.CLIENT_CONFIDENTIAL if secret else Application.CLIENT_PUBLIC,
            client_secret=secret,
            authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
            redirect_uris="http://localhost:7878/console/sign-in/end http://127.0.0.1/console/sign-in/end",
            algorithm=Application.RS256_ALGORITHM,
            skip_authorization=True,
        )


class QuietHandler(WSGIRequestHandler):
    """Says nothing of requests."""

    def log_message(self, *args: object) -> None:
        """Nothing."""


class ThreadedServer(ThreadingMixIn, WSGIServer):
    """Answers several at once."""

    daemon_threads = True


if __name__ == "__main__":
    sys.modules["tests.provider.site"] = sys.modules["__main__"]
    fill()
    with make_server("127.0.0.1", PORT, WSGIHandler(), ThreadedServer, QuietHandler) as server:
        server.serve_forever()

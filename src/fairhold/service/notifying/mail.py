"""Sends a message by SMTP."""

from __future__ import annotations

import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate
from typing import TYPE_CHECKING

from fairhold.access.notifications import PLAIN, TLS
from fairhold.service.notifying.trying import NotSentError
from fairhold.service.notifying.wording import subject, text

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.access.notifications import MailServer
    from fairhold.runtime.live.outbox import Delivery

LONGEST = 10.0
"""Seconds for each step."""
_MOST_SUBJECT = 150
_MOST_PASSWORD = 4_096


def mail_of(server: MailServer, address: str, delivery: Delivery, cluster: str) -> EmailMessage:
    """A message as mail. The same message has the same id at each try, so that who gets it twice can tell."""
    mail = EmailMessage()
    mail["From"] = server.sender
    mail["To"] = address
    mail["Subject"] = subject(cluster, delivery.facts, delivery.more)[:_MOST_SUBJECT]
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<{delivery.id}@{server.sender.partition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(text(delivery.facts, delivery.more))
    return mail


def send(server: MailServer, password_file: Path | None, mail: EmailMessage) -> None:
    """Hand a mail in. Raises NotSentError; its words hold no password."""
    try:
        with _connected(server) as connection:
            if server.user:
                connection.login(server.user, _password(password_file))
            connection.send_message(mail)
    except smtplib.SMTPRecipientsRefused as error:
        codes = {code for code, _ in error.recipients.values()}
        raise NotSentError(
            "the mail server refuses the address", is_final=all(500 <= code < 600 for code in codes)
        ) from None
    except smtplib.SMTPResponseException as error:
        raise NotSentError(f"the mail server answers with {error.smtp_code}") from None
    except (smtplib.SMTPException, OSError) as error:
        raise NotSentError(f"the mail server cannot be used ({type(error).__name__})") from None


def _connected(server: MailServer) -> smtplib.SMTP:
    if server.security == TLS:
        return smtplib.SMTP_SSL(server.host, server.port, timeout=LONGEST, context=ssl.create_default_context())
    connection = smtplib.SMTP(server.host, server.port, timeout=LONGEST)
    if server.security != PLAIN:
        try:
            connection.starttls(context=ssl.create_default_context())
        except BaseException:
            connection.close()
            raise
    return connection


def _password(file: Path | None) -> str:
    """Read at every use, so that it can be changed. Raises NotSentError."""
    try:
        if file is not None:
            with file.open("rb") as opened:
                return opened.read(_MOST_PASSWORD).decode().strip()
    except (OSError, UnicodeError):
        pass
    raise NotSentError("there is no password for the mail server that can be read: `fairhold serve --smtp-secret FILE`")

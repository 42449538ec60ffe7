"""Watches the certificate that callers see, which may differ from the file: a renewal counts when it is served."""

import asyncio
import ssl
from urllib.parse import urlsplit

from cryptography import x509

from edge.storage.background import Background
from shared.telemetry import metrics
from shared.telemetry.log import Log

_CERTIFICATE_SECONDS = 3_600.0
_TIMEOUT_SECONDS = 5.0


class CertificateMonitor(Background):
    """Reads the served certificate once an hour; without TLS there is none."""

    def __init__(self, base_url: str, log: Log) -> None:
        super().__init__(self._read, log)
        self._url = urlsplit(base_url)

    def start(self) -> None:
        if self._url.scheme == "https":
            super().start()

    async def _read(self) -> None:
        host, port = str(self._url.hostname), self._url.port or 443
        context = ssl.create_default_context()
        # Whether callers trust it is theirs to say; its end is read of one that has expired, too.
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                _, writer = await asyncio.open_connection(host, port, ssl=context)
        except (OSError, TimeoutError) as error:
            self._log.warning("certificate-unread", host=host, error=str(error) or "no answer")
        else:
            der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
            writer.transport.abort()
            ends = x509.load_der_x509_certificate(der).not_valid_after_utc
            metrics.certificate_expires_seconds.labels(host).set(ends.timestamp())
        await asyncio.sleep(_CERTIFICATE_SECONDS)

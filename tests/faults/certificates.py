"""Certificates for servers of a test: good ones, and each kind of bad one."""

from __future__ import annotations

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Authority:
    """A certificate authority of a test's own."""

    home: Path

    @property
    def bundle(self) -> Path:
        return self.home / "ca.pem"

    def server(self, *, name: str = "IP:127.0.0.1", days: str = "2", wants_client: bool = False) -> ssl.SSLContext:
        """Return a server's context whose certificate has this name and lifetime (negative: expired)."""
        certificate, key = self.issue(f"server{abs(hash((name, days)))}", name=name, days=days)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        if wants_client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.bundle)
        return context

    def issue(self, stem: str, *, name: str, days: str = "2") -> tuple[Path, Path]:
        """Sign a certificate and return it with its key."""
        certificate, key, request = (self.home / f"{stem}.{end}" for end in ("pem", "key", "csr"))
        extensions = self.home / f"{stem}.ext"
        extensions.write_text(f"subjectAltName={name}\n")
        _openssl("req", "-new", *_NEW_KEY, "-keyout", str(key), "-out", str(request), "-subj", "/CN=server")
        _openssl(
            "x509", "-req", "-in", str(request), "-CA", str(self.bundle), "-CAkey", str(self.home / "ca.key"),
            "-CAcreateserial", "-days", days, "-extfile", str(extensions), "-out", str(certificate),
        )  # fmt: skip
        return certificate, key


_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def authority(home: Path) -> Authority:
    home.mkdir(exist_ok=True)
    _openssl(
        "req", "-x509", *_NEW_KEY, "-keyout", str(home / "ca.key"), "-out", str(home / "ca.pem"), "-days", "2",
        "-subj", "/CN=test authority", "-addext", "keyUsage=critical,keyCertSign",
    )  # fmt: skip
    return Authority(home)


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
